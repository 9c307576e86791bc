"""The Arrow path: sources that decode into Arrow where rows are read, and work on them there as far as they can.

Read in this order:

``contract.py``     what a source of rows is: named splits, integer positions
``stream.py``       offsets, held splits and the end of what is available: the same for all of them
``data_source.py``  the one Spark data source around it; the only module here that knows PySpark
``files.py``        files of a folder; ``file_log.py``, ``listing.py``: which; ``line_blocks.py``: lines of them
``csv_blocks.py``, ``json_blocks.py``, ``parquet_groups.py``  their formats; ``spark_casts.py``: text by text
``json_layout.py``  lines of few layouts, which need no parser; ``json_texts.py``, ``block_texts.py``: their values
``json_objects.py`` JSON object by object, where blocks cannot be trusted
``kafka.py``        topics; ``kafka/rows.py``: messages; ``kafka/values.py``, ``avro_values.py``: their values
``tables.py``       which tables are read so: ``file_tables.py``, ``kafka/reader.py``
``program.py``      what is made of rows in the worker, of ``expressions.py``, ``date_format.py``
``bounds.py``       which rows need not be read for that
``packed.py``       the first part of a bucket operator, above that; ``hashing.py``: Spark's buckets
"""
