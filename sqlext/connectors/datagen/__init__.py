"""Made-up rows: ``'connector' = 'datagen'``, with Flink's option names."""
