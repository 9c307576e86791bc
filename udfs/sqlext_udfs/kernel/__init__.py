"""Provide what all operators are built on.

``operator`` defines a bucket operator. ``table_codec``, ``packing`` and ``bucket_state`` turn tables into bytes.
``groups``, ``equality``, ``order`` and ``arrow_numpy`` compare and number rows. ``zset`` nets changes.
"""
