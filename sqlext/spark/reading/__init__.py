"""Open what a script reads as DataFrames: sources, the views over them, operators, ticks.

``views`` opens a whole script. ``described`` opens Spark's own sources, ``own_readers`` and ``arrow_sources`` ours.
"""
