"""What a row that comes out of a window operator does to the result: a number in its column ``row_kind``."""

from __future__ import annotations

#: A late row is none of the result: it goes to the late table.
INSERT, UPDATE_BEFORE, UPDATE_AFTER, DELETE, LATE_ROW = range(5)
#: As Flink shows them, by their numbers; a late row has none.
SHOWN = ("+I", "-U", "+U", "-D")
