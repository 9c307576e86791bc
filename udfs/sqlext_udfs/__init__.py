"""Hold the stateful operators, one room for each.

No room imports Spark, but ``spark``: it puts the operators on Spark.

======================================== ==============================================================
``kernel``                               what all operators are built on
``aggregates``, ``expressions``          accumulators; expressions over columns and over rows of a match
``windows``                              windows under any policy, with triggers and panes
``grouping``, ``distinct``               GROUP BY without a window; SELECT DISTINCT
``joins``, ``ranking``, ``over``         joins of two streams; Top-N and deduplication; OVER
``matching``                             MATCH_RECOGNIZE
``current_rows``, ``watermark_column``   the current rows of upserts; CURRENT_WATERMARK
``making``                               operators by the names of their functions, without Spark
``spark``                                adapters on transformWithState, and the registry of names
======================================== ==============================================================

A room but ``making`` imports ``kernel``, ``aggregates`` and ``expressions``, and no other room.
``grouping`` also imports ``windows``: its specification and its output columns are the same.
"""
