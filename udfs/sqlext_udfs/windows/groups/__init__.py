"""Decide on one group after the other: sessions, single-row triggers, evictors.

``engine`` decides and ``pane_engine`` aggregates. ``run`` has the order of a step, ``firing`` says when a pane comes,
``writing`` what is in it. ``state`` keeps open groups, ``sessions`` merges them.
"""
