"""Join two streams: one operator over the union of both sides.

Joins differ in how long rows live (``life``): for ever (``regular``), for a time (``interval``), until their window
ends (``window``), as the valid version (``temporal``), or until nothing nearer can come
(``nearest``). ``conditions`` and ``pairs`` find matches, ``output`` makes
the rows that come out.
"""
