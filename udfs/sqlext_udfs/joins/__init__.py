"""Join two streams: one operator over the union of both sides.

Joins differ in how long rows live (``life``): for ever (``regular``), for a time (``interval``), until their window
ends (``window``), or as the valid version (``temporal``). ``conditions`` and ``pairs`` find matches, ``output`` makes
the rows that come out.
"""
