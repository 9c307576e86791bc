"""Find patterns in rows: MATCH_RECOGNIZE.

``specification`` says what is looked for, ``pattern`` is the tree of PATTERN, ``program`` its states and edges.
``operator`` orders ``rows``, searches partitions (``search``, ``run``, ``links``) and gives out matches (``output``).
``conditions`` evaluates DEFINE.
"""
