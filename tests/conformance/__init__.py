"""Cases recorded from real Flink, run through ``sqlext.connect().run(...)``."""
