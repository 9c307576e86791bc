"""What the logs of a query tell of its micro-batches: what each took, by which watermark, and at what time."""
