"""Number what a row does to the result: the values of the column ``row_kind``."""

from __future__ import annotations

#: The first four are Flink's RowKind. A late row is no part of the result: it goes to the late table.
INSERT, UPDATE_BEFORE, UPDATE_AFTER, DELETE, LATE_ROW = range(5)
#: As Flink shows them, by their numbers; a late row has none.
SHOWN = ("+I", "-U", "+U", "-D")
