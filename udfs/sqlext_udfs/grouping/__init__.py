"""Group without a window, over rows that may be taken back: a result takes back the one before.

``operator`` keeps groups; ``results`` computes them from ``retractable`` numbers or from ``kept_rows``.
"""
