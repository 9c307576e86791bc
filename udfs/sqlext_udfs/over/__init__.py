"""Compute functions over frames of rows: OVER.

``operator`` takes the rows, ``timeline`` orders them, ``step`` computes results, ``state`` keeps rows.
``functions`` lists what may stand before OVER.
"""
