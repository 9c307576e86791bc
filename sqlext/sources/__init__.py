"""The Arrow path: sources that decode into Arrow where rows are read, and work on them there as far as they can.

Read in this order:

``contract.py``     what a source of rows is: named splits, integer positions
``stream.py``       offsets, held splits and the end of what is available: the same for all of them
``data_source.py``  the one Spark data source around it; the only module here that knows PySpark
``files.py``        files of a folder; ``file_log.py``, ``listing.py``: which; ``line_blocks.py``: lines of them
``csv_blocks.py``, ``json_blocks.py``, ``parquet_groups.py``  their formats; ``spark_casts.py``: text by text
``kafka.py``        topics
``tables.py``       which tables are read so
``program.py``      what is made of rows in the worker, of ``expressions.py``
``packed.py``       the first part of a bucket operator, above that; ``hashing.py``: Spark's buckets
"""
