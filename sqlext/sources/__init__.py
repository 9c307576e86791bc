"""The Arrow path: sources that decode into Arrow where rows are read, and work on them there as far as they can.

Read in this order:

``contract.py``   what a source of rows is: named splits, integer positions
``stream.py``     offsets, limits, held splits and the end of what is available: the same for all of them
``data_source.py``  the one Spark data source around it; the only module here that knows PySpark
"""
