"""Follow the rows of a SELECT: what each micro-batch changes, and what stands then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlext.plan.nodes import EXISTS
from sqlext.sinks.base import SinkContext
from sqlext_udfs.kernel.row_kinds import INSERT, SHOWN, UPDATE_AFTER

if TYPE_CHECKING:
    from pyspark.sql import Row as SparkRow

Row = tuple[Any, ...]
#: What a row does to a result, ``+I``, ``-U``, ``+U`` or ``-D``, and the row.
Change = tuple[str, Row]


@dataclass
class StandingRows:
    """The rows that stand after the batches that were taken.

    Of an updating result it is the current row of every key, in the order in which they first came; of a changelog
    the rows that were not taken back.

    Attributes:
        width: columns that the user asked for; hidden ones come behind them.
        folds: False to keep every row that an updating result has given.
    """

    context: SinkContext
    width: int
    folds: bool = True
    _by_key: dict[str, list[Row]] = field(default_factory=dict)
    _count: int = 0

    def take(self, batch: Iterable[SparkRow]) -> list[Change]:
        """Take a batch, and return what it changes: ``+I``, ``-U``, ``+U`` or ``-D``, and the row."""
        return [change for row in batch for change in self._changes(row)]

    @property
    def rows(self) -> list[Row]:
        """The rows that stand, without hidden columns."""
        return [row for rows in self._by_key.values() for row in rows]

    def _changes(self, row: SparkRow) -> Iterator[Change]:
        shown = tuple(row)[: self.width]
        if self.context.kind is not None:
            yield self._changed(shown, row[self.context.kind])
        elif self.context.exists is None:
            yield self._added(shown)
        elif self.folds:
            yield from self._replaced(shown, row, exists=row[self.context.exists or EXISTS])
        elif row[self.context.exists]:
            yield self._added(shown)

    def _added(self, row: Row) -> Change:
        self._count += 1  # appended rows have no key, and equal ones all stand
        self._by_key[str(self._count)] = [row]
        return "+I", row

    def _changed(self, row: Row, kind: int) -> Change:
        same = self._by_key.setdefault(repr(row), [])  # as text: rows may hold lists and dicts, which have no hash
        if kind in (INSERT, UPDATE_AFTER):
            same.append(row)
        elif same:
            # Equal rows cannot be told apart, so any of them may go.
            same.pop()
        return SHOWN[kind], row

    def _replaced(self, shown: Row, row: SparkRow, *, exists: bool) -> Iterator[Change]:
        key = repr([row[k] for k in self.context.keys])
        before = self._by_key[key][0] if key in self._by_key else None
        if not exists:
            self._by_key.pop(key, None)
            if before is not None:
                yield "-D", before
        elif before is None:
            self._by_key[key] = [shown]
            yield "+I", shown
        # An update that leaves the shown columns alone changes hidden ones, which nobody sees.
        elif before != shown:
            self._by_key[key] = [shown]
            yield "-U", before
            yield "+U", shown


class LiveRows:
    """Follows a running SELECT.

    Args:
        batches: its micro-batches so far, by number; they may grow meanwhile.
    """

    def __init__(self, batches: Mapping[int, Iterable[Any]], standing: StandingRows) -> None:
        self._batches = batches
        self._standing = standing
        self._taken: set[int] = set()

    def take(self) -> list[Change]:
        """Return the changes since the last call, in order."""
        # Copied first: the job's thread adds batches meanwhile.
        new = sorted(set(self._batches) - self._taken)
        self._taken.update(new)
        return [change for number in new for change in self._standing.take(self._batches[number])]

    @property
    def rows(self) -> list[Row]:
        """The rows that stand after the changes that were taken."""
        return self._standing.rows
