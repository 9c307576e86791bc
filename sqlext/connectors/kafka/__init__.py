"""Topics of Kafka: ``kafka`` and ``upsert-kafka``."""
