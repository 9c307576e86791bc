"""Evaluate expressions over columns, and row by row, by one set of number rules.

``trees`` is an expression as it is stored. ``typed`` makes it one over ``columns``, ``row_by_row`` a function of a row.
``numbers`` has the policies of Spark and Flink, and the words for an overflow and a division by zero.
"""
