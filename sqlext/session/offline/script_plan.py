"""Hold what running a script would do to what is there; as text, and as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from sqlext.errors import SqlExtError
from sqlext_catalog.model import DEFAULT_CATALOG, DEFAULT_DATABASE

#: Of a query whose job does not start, and of one behind a statement that fails.
HELD_BACK, NOT_REACHED = "held back", "not reached"
#: Of a query that reads no stream: it keeps no place.
AT_ONCE = "runs at once"
#: Before the name of a table of the default database; text leaves it out.
_DEFAULT = f"{DEFAULT_CATALOG}.{DEFAULT_DATABASE}."
_SPANS = ((86_400, "days"), (3600, "h"), (60, "min"), (1, "s"))
_UNITS = ("bytes", "kB", "MB", "GB", "TB")


@dataclass(frozen=True, slots=True)
class TablePlan:
    """What becomes of a table or view.

    Attributes:
        name: of three parts, joined by dots.
        action: ``created``, ``altered``, ``dropped`` or ``the same``.
        differences: what is altered.
        stored: what becomes of the rows behind it.
    """

    name: str
    kind: str
    action: str
    differences: tuple[str, ...] = ()
    stored: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadPlan:
    """What a query reads of a table before it has caught up.

    Attributes:
        begins: where it begins, in words.
        files, bytes, rows: None where that cannot be known.
    """

    table: str
    begins: str
    files: int | None = None
    bytes: int | None = None
    rows: int | None = None

    def __str__(self) -> str:
        """Return it in one line."""
        if self.files is None or self.bytes is None:
            return f"reads {_short(self.table)}: {self.begins}"
        found = [_counted(self.files, "file"), _size(self.bytes)]
        if self.rows is not None:
            found.insert(0, _counted(self.rows, "row"))
        return f"reads {_short(self.table)}: {self.begins}: {', '.join(found)}"


@dataclass(frozen=True, slots=True)
class Way:
    """A way to deploy the new version of a query that cannot go on.

    Attributes:
        name: ``deploy`` or ``deploy --keep-rows``.
        reads: what it reads.
        takes_ms: how long that takes at the pace of the old version; None where it is not known.
        refusal: why it is none.
        readers: what becomes of queries that read the table as a stream, where its rows differ.
    """

    name: str
    reads: tuple[ReadPlan, ...] = ()
    takes_ms: int | None = None
    refusal: str | None = None
    readers: tuple[str, ...] = ()

    def lines(self) -> Iterator[str]:
        """Yield it for people."""
        if self.refusal is not None:
            yield f"sqlext {self.name} is refused: {self.refusal}"
            return
        reads = "; ".join(map(str, self.reads))
        yield f"sqlext {self.name} is possible{f': {reads}' if reads else ''}"
        if self.takes_ms is not None:
            yield f"  {_duration(self.takes_ms)}"
        yield from (f"  where rows differ: {reader}" for reader in self.readers)


@dataclass(frozen=True, slots=True)
class SinkPlan:
    """What becomes of what a query writes to.

    Attributes:
        action: ``created``, ``columns added``, ``rewritten``, ``the same`` or ``not known``.
        columns: those that are added.
    """

    table: str
    action: str
    columns: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return it in one line."""
        return f"writes {_short(self.table)}: {self.action}{''.join(f' {c}' for c in self.columns)}"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a query cannot start."""

    code: str
    message: str
    hint: str | None

    @classmethod
    def of(cls, error: SqlExtError) -> Refusal:
        """Return an error as what is shown of it."""
        return cls(error.code, error.message, error.hint)


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """What becomes of a query.

    Attributes:
        line: where its statement begins in the script.
        outcome: the value of one of ``jobs.decisions.Verdict``, or one of the words above.
        loses: whether its state is left behind, or rows are written a second time.
        ends: ``finish``, ``catch-up`` or ``none``: how its input ends.
        notes: what is said of it, a line each.
        ways: to deploy it, where it cannot go on.
        takes_ms: how long it reads what is there at the pace of before; None where it is not known.
    """

    name: str
    line: int
    outcome: str
    loses: bool
    ends: str
    sink: SinkPlan
    reads: tuple[ReadPlan, ...] = ()
    notes: tuple[str, ...] = ()
    refusal: Refusal | None = None
    ways: tuple[Way, ...] = ()
    takes_ms: int | None = None


@dataclass(frozen=True, slots=True)
class TouchedQuery:
    """A query of another script that reads what is changed."""

    name: str
    table: str
    because: str


@dataclass(frozen=True)
class ScriptPlan:
    """What running a script would do, statement by statement.

    Attributes:
        touched: queries of other scripts that read what is changed.
        passed_on: statements of Spark's own, of which nothing is known here.
        deploys: DEPLOY statements: what differs is known when the versions are compared.
    """

    tables: tuple[TablePlan, ...]
    queries: tuple[QueryPlan, ...]
    touched: tuple[TouchedQuery, ...]
    passed_on: tuple[str, ...]
    deploys: tuple[str, ...] = ()

    @property
    def refused(self) -> bool:
        """Whether a query of it cannot start."""
        return any(query.refusal is not None for query in self.queries)

    @property
    def loses(self) -> bool:
        """Whether a query leaves its state behind, or writes rows a second time."""
        return any(query.loses for query in self.queries)

    def to_json(self) -> str:
        """Return it for programs."""
        return json.dumps({"refused": self.refused, "loses": self.loses, **asdict(self)}, indent=2, ensure_ascii=False)

    def __str__(self) -> str:
        """Return it for people."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        width = max((len(_short(table.name)) for table in self.tables), default=0)
        for table in self.tables:
            yield f"{table.kind} {_short(table.name):<{width}}  {table.action}"
            yield from (f"  {text}" for text in (*table.differences, *table.stored))
        for query in self.queries:
            yield from _query_lines(query)
        for touched in self.touched:
            yield f"query {touched.name}  is touched: it reads {_short(touched.table)}, {touched.because}"
        for text in self.passed_on:
            yield f"Spark runs, unseen here: {text}"
        for text in self.deploys:
            yield f"compares the rows of two versions first: {text}"
        yield self._summary()

    def _summary(self) -> str:
        counts = Counter(query.outcome for query in self.queries)
        return "; ".join(f"{_counted(n, 'query')} {what}" for what, n in counts.items()) or "no query"


def _query_lines(query: QueryPlan) -> Iterator[str]:
    yield f"query {query.name}  {query.outcome}"
    if query.refusal is not None:
        yield f"  {query.refusal.code}: {query.refusal.message}"
        if query.refusal.hint:
            yield f"  hint: {query.refusal.hint}"
    yield from (f"  {text}" for way in query.ways for text in way.lines())
    yield from (f"  {text}" for text in (*query.notes, *query.reads))
    if query.takes_ms is not None:
        yield f"  {_duration(query.takes_ms)}"
    yield f"  {query.sink}"


def _duration(ms: int) -> str:
    """Return how long something takes, in words."""
    seconds = -(-ms // 1000)
    number, unit = next((seconds // size, unit) for size, unit in _SPANS if seconds >= 2 * size or size == 1)
    return f"takes about {max(number, 1)} {unit} at the pace of before"


def _short(name: str) -> str:
    return name.removeprefix(_DEFAULT)


def _counted(number: int, what: str) -> str:
    plural = f"{what[:-1]}ies" if what.endswith("y") else f"{what}s"
    return f"{number} {what if number == 1 else plural}"


def _size(found: int) -> str:
    size, unit = float(found), 0
    while size >= 1000 and unit + 1 < len(_UNITS):
        size, unit = size / 1000, unit + 1
    return f"{size:.1f} {_UNITS[unit]}" if unit else f"{found} bytes"
