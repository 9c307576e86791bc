"""Describe a join of two streams.

Both sides come as one table, their union: in each row the columns of the other side are NULL. Rows are equal where
``kernel.equality`` says so (NaN = NaN, -0.0 = 0.0). A comparison with NULL is not true.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from sqlext_udfs.expressions.cells import cells
from sqlext_udfs.expressions.trees import Cell, Expression

#: The values of the column ``side``.
LEFT_SIDE, RIGHT_SIDE = 0, 1
#: The other way round: ``a < b`` is ``b > a``.
FLIPPED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


class JoinKind(Enum):
    """Which rows a join gives."""

    INNER = "INNER"
    LEFT = "LEFT"
    RIGHT = "RIGHT"
    FULL = "FULL"
    SEMI = "SEMI"
    ANTI = "ANTI"

    @property
    def pairs(self) -> bool:
        """Whether each pair of matching rows comes out; else only left rows do."""
        return self not in (JoinKind.SEMI, JoinKind.ANTI)

    @property
    def pads_left(self) -> bool:
        """Whether left rows come out that match nothing."""
        return self in (JoinKind.LEFT, JoinKind.FULL, JoinKind.ANTI)

    @property
    def pads_right(self) -> bool:
        """Whether right rows come out that match nothing."""
        return self in (JoinKind.RIGHT, JoinKind.FULL)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison that pairs must fulfil: a left column, an operator, a right column of the same type.

    Attributes:
        left: position of a column that left rows fill (a key is one of both).
        operator: ``=``, ``<>``, ``<``, ``<=``, ``>`` or ``>=``. Numbers compare as in Spark: NaN is the largest.
        right: position of a column that right rows fill.
        null_aware: a comparison with NULL counts as true. ``a NOT IN (SELECT b ... WHERE c)`` is an ANTI join on
            ``a = b`` null-aware and on c as usual: a row does not come out if a row of the set may be equal. The keys
            are what c equates; without any (``keys=0``) all rows are in one bucket.
    """

    left: int
    operator: str
    right: int
    null_aware: bool = False


@dataclass(frozen=True, slots=True)
class Unbounded:
    """A regular join: rows may match whenever they come.

    Attributes:
        left_ttl, right_ttl: processing time (ms) after which a row of that side that was not written is forgotten;
            None: never. Flink: ``table.exec.state.ttl``, or the hint STATE_TTL for each side. A row is written when it
            comes, when its count changes, and, where its matches are counted, when their number changes. What had come
            out of a forgotten row stays out.
    """

    left_ttl: int | None = None
    right_ttl: int | None = None


@dataclass(frozen=True, slots=True)
class IntervalBound:
    """An interval join: each row says until when it can match. Takes and gives inserts alone.

    Attributes:
        expires: position of a BIGINT column of ms (UTC): the row matches nothing once the watermark is greater. As in
            Flink (``TimeIntervalJoin``) a late row still meets what is held of the other side.
    """

    expires: int


@dataclass(frozen=True, slots=True)
class ArrivalBound:
    """An interval join by processing time: rows match by when they came (ms of the batch clock).

    Takes and gives inserts alone, as Flink's ``ProcTimeIntervalJoin`` does.

    Attributes:
        lower, upper: how many ms after a left row its matches of the right side come, at least and at most.
    """

    lower: int
    upper: int


@dataclass(frozen=True, slots=True)
class WindowBound:
    """A window join: rows meet in windows, each of which gives its result once, when the watermark reaches its end.

    The window's bounds are among the keys. Gives inserts alone.

    Attributes:
        end: position of a BIGINT column of ms: the end of the row's window, exclusive.
    """

    end: int


@dataclass(frozen=True, slots=True)
class VersionBound:
    """A temporal join (FOR SYSTEM_TIME AS OF): the right side gives versions of a key, of which a left row meets one.

    INNER and LEFT alone. A left row comes out (or is taken back) when the watermark is greater than its time. An
    INSERT or UPDATE_AFTER of the right side is the key's version from its time on, a DELETE ends it; an UPDATE_BEFORE
    says nothing.

    Attributes:
        time: position of a BIGINT column of ms: the time of both sides' rows.
    """

    time: int


class Nearest(Enum):
    """Which right row a left row meets, by its time."""

    LAST = ">="
    LAST_BEFORE = ">"
    FIRST = "<="
    FIRST_AFTER = "<"
    #: On either side; of two that are as near the earlier one.
    EITHER = "NEAREST"

    @property
    def looks_back(self) -> bool:
        """Whether it may be an earlier row."""
        return self in (Nearest.LAST, Nearest.LAST_BEFORE, Nearest.EITHER)

    @property
    def looks_ahead(self) -> bool:
        """Whether it may be a later row."""
        return self in (Nearest.FIRST, Nearest.FIRST_AFTER, Nearest.EITHER)

    @property
    def at_once(self) -> bool:
        """Whether it may be a row of the same time."""
        return self not in (Nearest.LAST_BEFORE, Nearest.FIRST_AFTER)


@dataclass(frozen=True, slots=True)
class NearestBound:
    """An as-of join: a left row meets the one right row of its key that is nearest in time.

    INNER and LEFT alone. Takes inserts alone. A left row comes out when no nearer right row can come: when the
    watermark is greater than the time of what it has found, or than its own time where it looks back. Rows that are
    late by then are dropped. ``early`` and ``lateness`` make an updating result of it.

    Attributes:
        time: position of a BIGINT column of ms: the time of both sides' rows.
        nearest: the value of a ``Nearest``.
        tolerance: how far apart (ms) both may be at most; None: without limit.
        early: whether a left row comes out when it comes, with the best right row so far.
        lateness: how far (ms) behind the watermark a row may be and is taken all the same.
    """

    time: int
    nearest: str
    tolerance: int | None = None
    early: bool = False
    lateness: int = 0

    @property
    def updates(self) -> bool:
        """Whether a left row that has come out is replaced when a nearer right row comes."""
        return self.early or self.lateness > 0


Bound = Unbounded | IntervalBound | ArrivalBound | WindowBound | VersionBound | NearestBound


@dataclass(frozen=True, slots=True)
class JoinSpecification:
    """The operator's input columns by position, and how they are joined.

    Attributes:
        keys: how many of the first columns are the join keys, which both sides fill. 0 joins all with all. Rows with
            a NULL key match nothing.
        side: int8: 0 of a left row, 1 of a right one.
        left: columns of the left side that come out.
        right: columns of the right side that come out behind them; SEMI and ANTI have none.
        join: which rows come out.
        kind: int8 (row_kinds) of a changelog; None where both sides only insert.
        conditions: what pairs must fulfil besides; all of them. A temporal join asks them of the version that it
            has found: there is no other.
        null_safe: NULL keys are equal (IS NOT DISTINCT FROM).
        bound: when state ends.
        rest: what pairs must fulfil that is no comparison of two columns (``expressions.pairs``). A cell's value is
            the position of a column that the side ``group`` fills.
        wraps: whether integers in it wrap around (Flink), or fail.

    Raises:
        ValueError: for what the planner should have refused.
    """

    keys: int
    side: int
    left: tuple[int, ...]
    right: tuple[int, ...] = ()
    join: JoinKind = JoinKind.INNER
    kind: int | None = None
    conditions: tuple[Comparison, ...] = ()
    null_safe: bool = False
    bound: Bound = Unbounded()
    rest: tuple[Expression, ...] = ()
    wraps: bool = True

    def __post_init__(self) -> None:
        if self.right and not self.join.pairs:
            raise ValueError(f"{self.join.value} gives no columns of the right side")
        if self.kind is not None and isinstance(self.bound, IntervalBound | ArrivalBound | NearestBound):
            raise ValueError("an interval or as-of join does not take updates and deletes")
        if isinstance(self.bound, VersionBound | NearestBound) and self.join not in (JoinKind.INNER, JoinKind.LEFT):
            raise ValueError(f"a temporal join is INNER or LEFT, not {self.join.value}")
        if isinstance(self.bound, NearestBound) and (self.conditions or self.rest):
            raise ValueError("an as-of join asks nothing but keys and times")
        unknown = [c.operator for c in self.conditions if c.operator not in FLIPPED]
        if unknown:
            raise ValueError(f"no comparison is called {unknown[0]}")

    @property
    def time(self) -> int | None:
        """The position of the rows' time, where they have one: when their state ends, or a version begins."""
        match self.bound:
            case IntervalBound(expires=position) | WindowBound(end=position):
                return position
            case VersionBound(time=position) | NearestBound(time=position):
                return position
        return None

    @property
    def forgets_matched(self) -> bool:
        """Whether a left row is done with its first match: it is out, or never will be."""
        return not self.join.pairs and self.kind is None

    def is_joined_row_by_row(self, side: int, *, ordered: bool = False) -> bool:
        """Whether each row of a side gives its own part of the result, whatever else that side has.

        So it is where all is one step, and the other side is there as a whole.

        Args:
            side: 0 or 1.
            ordered: whether the parts one after the other must also be the result in its order.
        """
        if self.kind is not None or (isinstance(self.bound, NearestBound) and self.bound.updates):
            return False
        pads_other = self.join.pads_right if side == LEFT_SIDE else self.join.pads_left
        pairs = self.join.pairs and not isinstance(self.bound, VersionBound | NearestBound)
        if pads_other or (side == RIGHT_SIDE and not pairs):
            return False
        # Rows that match nothing come behind the pairs of their step; a range of values is found by sorting the rows.
        plain = isinstance(self.bound, Unbounded) and self.join is JoinKind.INNER
        return not ordered or (side == LEFT_SIDE and plain and not self.conditions)

    def looked_at(self, side: int) -> tuple[int, ...]:
        """Return the positions of the columns by which rows of a side are joined."""
        compared = [c.left if side == LEFT_SIDE else c.right for c in self.conditions]
        cells = [c.value for c in self.cells() if c.group == side]
        time = [self.time] if self.time is not None else []
        return (*range(self.keys), *compared, *cells, *time)

    def cells(self) -> Iterator[Cell]:
        """Yield the cells of ``rest``."""
        for expression in self.rest:
            yield from cells(expression)

    def kept(self, side: int) -> tuple[int, ...]:
        """Return the positions of the columns that are kept of a side: the keys first."""
        own = self.left if side == LEFT_SIDE else self.right
        compared = [c.left if side == LEFT_SIDE else c.right for c in self.conditions]
        looked_at = [c.value for c in self.cells() if c.group == side]
        others = {p for p in (*own, *compared, *looked_at) if p >= self.keys}
        # The order of the columns is a fact of the state.
        return (*range(self.keys), *sorted(others))
