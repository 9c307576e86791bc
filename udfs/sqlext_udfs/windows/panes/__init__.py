"""Share what all window engines need: rows as elements, slices, segments, and the rows that come out.

``rows`` is what goes into an engine and what it decides. ``element_maker`` makes elements, whose times are in
``elements``. ``pieces``, ``slices`` and ``session_windows`` cut windows. ``columns`` and ``segments`` hold partial
results. ``table`` and ``written_rows`` make the output.
"""
