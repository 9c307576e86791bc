"""Read tables of databases: a part of a table is a split, which is read once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from sqlext.connectors.base import physical_fields
from sqlext.connectors.jdbc.database import Conversion, quoted
from sqlext.connectors.jdbc.options import PARTITIONS, Cache, at_once, cache_of, ranges, retries
from sqlext.connectors.jdbc.place import Address, place_of
from sqlext.connectors.jdbc.statements import there
from sqlext.connectors.options import OptionError
from sqlext.connectors.readers import OwnSource, Unread
from sqlext.connectors.splits import Limit, Offset, Passes, Slice, SplitReader
from sqlext.errors import SqlExtError
from sqlext.sources.arrow_types import arrow_type
from sqlext.stores.location import Location
from sqlext.types import LogicalType
from sqlext_catalog.model import Column, Table


@dataclass(frozen=True, slots=True)
class ReadPart(Slice):
    """A part of a table, and the query that gives its rows."""

    statement: str


@dataclass(frozen=True)
class Kept:
    """Rows of a part.

    Attributes:
        at: when they were read, in milliseconds.
    """

    at: float
    rows: Sequence[pa.RecordBatch]


def _now() -> float:
    return time.monotonic() * 1000


#: What this worker keeps of tables that are looked up: place and query -> rows.
_KEPT: dict[tuple[Address, str], Kept] = {}


@dataclass(frozen=True)
class JdbcReader:
    """Reads a table.

    Attributes:
        place: where it is.
        schema: the columns.
        types: of the columns, as they are declared.
        parts: the query of each part.
        size: rows that are asked for at once.
        retries: how often connecting is tried again.
        cache: how long a worker keeps the rows; None: not at all.
        clock: tells the time in milliseconds.
    """

    place: Address
    schema: pa.Schema
    types: tuple[LogicalType, ...]
    parts: tuple[str, ...]
    size: int
    retries: int = 0
    cache: Cache | None = None
    clock: Callable[[], float] = _now

    def initial(self) -> Offset:
        """Return that nothing has been read."""
        return {}

    def latest(self, start: Offset, limit: Limit | None) -> Offset:
        """Return that all parts have been read."""
        return {**start, **{f"part-{n}": 1 for n in range(len(self.parts))}}

    def slices(self, start: Offset, end: Offset) -> Sequence[Slice]:
        """Return the parts that are not read yet."""
        every = ((f"part-{n}", statement) for n, statement in enumerate(self.parts))
        return [ReadPart(split, 1, 0, text) for split, text in every if start.get(split, 0) < end.get(split, 0)]

    def read(self, piece: Slice, passes: Passes | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a part; see ``SplitReader.read``.

        Raises:
            SqlExtError: RUN-070 if the database refuses, RUN-071 for a value that is not of its column's type.
        """
        assert isinstance(piece, ReadPart)
        if self.cache is None:
            yield from self._read(piece.statement)
        else:
            yield from self._looked_up(piece.statement, self.cache)

    def commit(self, end: Offset) -> None:
        """Do nothing: a database forgets nothing for a reader."""

    def close(self) -> None:
        """Do nothing: connections end with what they are for."""

    def _looked_up(self, statement: str, cache: Cache) -> Sequence[pa.RecordBatch]:
        key = (self.place, statement)
        kept = _KEPT.get(key)
        if kept is not None and self.clock() - kept.at < cache.milliseconds:
            return kept.rows
        at, rows = self.clock(), list(self._read(statement))
        _KEPT.pop(key, None)
        if sum(batch.num_rows for batch in rows) <= cache.rows:
            _KEPT[key] = Kept(at, rows)
        return rows

    def _read(self, statement: str) -> Iterator[pa.RecordBatch]:
        conversions = [self.place.database.read(declared) for declared in self.types]
        with self.place.connected(self.retries) as connection:
            for rows in self.place.database.fetch(connection, statement, self.size):
                yield self._batch(rows, conversions)

    def _batch(self, rows: Sequence[tuple[object, ...]], conversions: Sequence[Conversion | None]) -> pa.RecordBatch:
        columns = zip(*rows, strict=True)
        made = zip(self.schema, conversions, columns, strict=True)
        return pa.record_batch([self._array(*each) for each in made], schema=self.schema)

    def _array(self, field: pa.Field, conversion: Conversion | None, values: Sequence[object]) -> pa.Array:
        try:
            if conversion is not None:
                values = [None if value is None else conversion(value) for value in values]
            return pa.array(values, field.type)
        except (ValueError, TypeError, ArithmeticError, OverflowError) as error:  # Arrow's are ValueErrors
            message = f"{self.place}: column `{field.name}` has a value that is no {field.type}: {error}"
            raise SqlExtError("RUN-071", message, hint="declare the type that is there") from error


class JdbcTables:
    """The ``TableReader`` of databases."""

    def why_not(self, table: Table) -> str:
        """Return nothing: any table is read."""
        return ""

    def source(self, table: Table, state: Location | None, tasks: int) -> OwnSource:
        """Return the table's rows; see ``TableReader.source``.

        Raises:
            OptionError: OPT-009 if it is not there, OPT-012 if it has other columns.
        """
        options = dict(table.options)
        place = place_of(options)
        names = _names(place, table)
        fields = physical_fields(table)
        schema = pa.schema([(f.name, _raw_type(f.type)) for f in fields])
        columns = ", ".join(place.database.selected(quoted(names[f.name]), f.type) for f in fields)
        query = f"SELECT {columns} FROM {names['']}"
        looked_up = options.get("scan.mode") == "snapshot"
        reader = JdbcReader(
            place,
            schema,
            tuple(f.type for f in fields),
            tuple(query + condition for condition in _conditions(table, names)),
            at_once(options.get("scan.fetch-size")),
            retries(options.get("lookup.max-retries")),
            cache_of(table) if looked_up else None,
        )
        return OwnSource(reader, schema)

    def require(self, table: Table) -> None:
        """Refuse: operators take no rows of a database as they are read; see ``TableReader.require``."""
        raise Unread("a database gives no rows that Arrow decodes")

    def column(self, table: Table, column: Column) -> pa.DataType:
        """Refuse; see ``require``."""
        raise Unread("a database gives no rows that Arrow decodes")

    def reader(self, table: Table, needed: Sequence[str], state: Location, tasks: int) -> SplitReader:
        """Refuse; see ``require``."""
        raise Unread("a database gives no rows that Arrow decodes")

    def limit(self, table: Table) -> Limit | None:
        """Return that a micro-batch takes what there is."""
        return None


def _names(place: Address, table: Table) -> Mapping[str, str]:
    """Return the names of columns as they are there; and of the table, under ``""``, quoted."""
    with place.connected() as connection:
        found = place.database.place(connection, place.table)
        if found is None:
            raise OptionError("OPT-009", f"{place} does not exist", option="table-name")
        columns = place.database.columns(connection, found)
    names = {"": found}
    for field in physical_fields(table):
        name = there(field.name, columns)
        if name is None:
            what = f"{place} has no column `{field.name}`; it has {', '.join(columns)}"
            raise OptionError("OPT-012", what, hint="declare the columns that are there")
        if not place.database.fits(field.type, columns[name]):
            what = f"column `{field.name}` of {place} has type {columns[name]}, declared is {field.type}"
            raise OptionError("OPT-012", what, hint="declare the type that is there, or convert it in a query")
        names[field.name] = name
    return names


def _conditions(table: Table, names: Mapping[str, str]) -> Iterator[str]:
    parts = ranges(table)
    if not parts:
        yield ""
        return
    column = quoted(names[table.option(PARTITIONS[0]) or ""])
    for begin, end, last in parts:
        yield f" WHERE {column} >= {begin} AND {column} {'<=' if last else '<'} {end}"


def _raw_type(declared: LogicalType) -> pa.DataType:
    """Return the Arrow type that a column is read as: times of day as text, and wall clocks as they are."""
    if declared.root == "ARRAY":
        return pa.list_(_raw_type(declared.children[0]))
    if declared.root == "TIME":
        return pa.string()
    if declared.root in ("BINARY", "VARBINARY"):
        return pa.binary()
    found = arrow_type(declared)
    assert found is not None, "Connector.validate has refused it"
    return found


READER = JdbcTables()
