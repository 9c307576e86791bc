"""Run queries in this process, without Spark, by the readers, programs and operators that run within Spark."""
