"""Provide what all operators are built on.

``operator`` defines a bucket operator, ``clock`` what time it has. ``table_codec`` and ``packing`` turn tables into
bytes. ``groups``, ``equality``, ``order`` and ``arrow_numpy`` compare and number rows. ``zset`` nets changes.
"""
