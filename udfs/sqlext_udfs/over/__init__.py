"""Compute functions over frames of rows: OVER.

``operator`` takes the rows, ``timeline`` orders them, ``bounds`` finds the frames. ``step`` computes results, ``state``
keeps rows. ``functions`` has all that may stand before OVER, and ``function`` what each of them is.
"""
