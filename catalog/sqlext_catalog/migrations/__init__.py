"""Migrate the stored rows: one function per step from format n to format n + 1, applied in order.

A table of an older format is migrated in memory when it is read and rewritten by the next commit; nobody runs
anything. To change the format: raise ``FORMAT``, add ``v<n>_to_v<n+1>.py`` with one function over the rows, enter
it in ``STEPS``, and keep a table of the old format among the tests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlext_catalog.rows import Row

Migration = Callable[[list[Row]], list[Row]]

#: The format that this version of the library writes, and the newest that it understands.
FORMAT = 1

#: The step that leads away from each older format.
STEPS: Mapping[int, Migration] = {}


def migrate(rows: list[Row], version: int, steps: Mapping[int, Migration] = STEPS, to: int = FORMAT) -> list[Row]:
    """Return the rows of format ``version`` in format ``to``."""
    for step in range(version, to):
        rows = steps[step](rows)
    return rows
