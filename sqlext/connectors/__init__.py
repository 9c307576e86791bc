"""Connectors: how tables are read and written.

A folder holds one connector. ``table.py`` describes its tables by their options, without Spark and without Arrow;
``reader`` reads them without Spark, ``sink`` writes them. A description names both by their import paths, so neither
is loaded before it is needed. ``registry.py`` finds a table's connector by name.
"""
