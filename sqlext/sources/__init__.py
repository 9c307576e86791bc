"""Readers of our own: they decode rows into Arrow in the workers, and work on them there as far as they can.

What a reader is, says ``connectors/splits.py``; each connector's lies in its folder (``connectors/*/reader``). Here is
what they share:

``tables.py``          finds the reader of a table
``stream.py``          offsets, held splits, the end of what is available
``file_tables.py``     tables whose rows lie in files; ``file_log.py``: which were read; ``file_slices.py``: for tasks
``table_decoders.py``  the decoder of a table's format; ``arrow_types.py``: the types of its columns
``decoding``           the decoders
``program.py``         what is made of rows in the worker: computed columns, checks, filters
``packed.py``          the first part of an operator above that; ``hashing.py``: Spark's buckets
"""
