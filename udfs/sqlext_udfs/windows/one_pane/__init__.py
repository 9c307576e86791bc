"""Give exactly one pane for each key and window, on whole columns.

``engine`` has the steps of a micro-batch. ``pieces`` is for fixed windows, ``sessions`` for sessions. ``state`` is what
a bucket keeps.
"""
