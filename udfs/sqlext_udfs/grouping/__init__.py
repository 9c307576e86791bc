"""Group rows that may be taken back: without a window a new result takes back the one before.

``operator`` keeps groups, and ``windows`` gives those of a window once. ``results`` computes them from ``retractable``
numbers or from ``kept_rows``.
"""
