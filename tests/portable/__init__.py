"""The batch form of a script, run by the spark-sql that comes with pyspark, without anything of ours."""
