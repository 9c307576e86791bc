"""Open what queries read and write on Spark, up to where a job of ``sqlext.jobs`` takes them."""
