"""Write tables of databases: a micro-batch is one transaction, which also notes that the batch is in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from sqlext.connectors.jdbc.database import Connection, Conversion, Row, name_parts, quoted, transaction
from sqlext.connectors.jdbc.options import at_once, is_exactly_once, retries
from sqlext.connectors.jdbc.place import Address, place_of
from sqlext.connectors.jdbc.refused import DeniedRow, Parameters, keep, kept, run_for_each
from sqlext.connectors.jdbc.statements import BATCHES, Target, batches_table, creation, refused_table, there
from sqlext.connectors.spec import WriteColumn, WriteSpec
from sqlext.errors import SqlExtError
from sqlext.quoting import identifier
from sqlext.secrets import redact_text
from sqlext.sinks.base import RefusedRow, Sink, SinkContext, refuse_mode, row_text
from sqlext.sinks.commit_notes import Commit
from sqlext.sinks.last_rows import existence, one_row_per_key
from sqlext.sinks.letter_limit import LetterLimit
from sqlext.spark.workers.ready import require_python

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql import Row as SparkRow

#: Behind the columns of a row: the row as JSON, if refused ones are told of, and whether it is there.
_TEXT, _THERE = "__text", "__there"


def at_step(name: str) -> None:
    """Mark a place where a crash may come; tests replace it."""


class Written(NamedTuple):
    """What has become of a batch: how many rows were written now, and which were refused, now or before."""

    rows: int
    refused: tuple[DeniedRow, ...]


@dataclass(frozen=True)
class Writing:
    """How rows reach a table; it can be pickled, with the login in it.

    Attributes:
        place: the table.
        spec: its columns and its PRIMARY KEY.
        keyed: whether a row replaces the one of its key, and can delete it.
        query: notes its batches under this name; None: it notes none.
        limit: where rows are left out that the database refuses: what it is asked before a batch is committed.
        named: how messages call the query.
        expected: a batch that the database must have, None if nothing is known of any; ``note`` is where that stands.
    """

    place: Address
    spec: WriteSpec
    keyed: bool
    query: str | None
    limit: LetterLimit | None = None
    named: str = ""
    expected: Commit | None = None
    note: str = ""

    def prepare(self) -> None:
        """Create what is missing, and check what is there; see ``JdbcSink.open``."""
        database = self.place.database
        database.make_room(dict(self.place.settings))
        with self.place.connected() as connection:
            with transaction(connection, *database.define):
                if database.place(connection, self.place.table) is None:
                    connection.execute(self._creation())
                if self.query is not None:
                    connection.execute(batches_table(database))
                if self.limit is not None:
                    connection.execute(refused_table(database))
            self._hold(connection)
            self._require_there(connection)

    def check(self) -> None:
        """Check what is there, and create nothing; see ``JdbcSink.require``."""
        if not self.place.database.has_room(dict(self.place.settings)):
            return
        with self.place.connected() as connection:
            if self.place.database.place(connection, self.place.table) is not None:
                self._hold(connection)
                self._require_there(connection)

    def _require_there(self, connection: Connection) -> None:
        """Refuse a database that has gone back: it says of itself that it has fewer batches than it had.

        One that knows nothing of the query was made anew, or the query wrote at least once before.
        """
        if self.expected is None or self.place.database.place(connection, BATCHES) is None:
            return
        found = connection.execute(self.target(connection).last_batch, (self.query,)).fetchall()
        if found and found[0][0] < self.expected.batch:
            raise SqlExtError(
                "RUN-096",
                f"{self.place} has gone back: query `{self.named}` has written micro-batch {self.expected.batch}, and "
                f"the table `{BATCHES}` there says {found[0][0]}. The rows of the micro-batches behind that are gone",
                hint=f"put the database back as it was. To go on without these rows, remove `{self.note}`. DROP QUERY "
                "starts it anew, with an empty table or one by key",
            )

    def _hold(self, connection: Connection) -> None:
        """Hold the table against the declaration."""
        target = self.target(connection)
        if self.keyed:
            self._require_unique(connection, target)

    def write(self, batches: Iterable[pa.RecordBatch], batch_id: int) -> Written:
        """Write the rows of a batch, unless the table has them.

        Args:
            batches: the columns of the table, with a limit the row as JSON, and whether the row is there.

        Raises:
            SqlExtError: RUN-070 for what the database raises, RUN-081 for more refused rows than the limit allows.
        """
        database, size = self.place.database, at_once(self.spec.option("sink.buffer-flush.max-rows"))
        conversions = [database.written(column.type) for column in self.spec.columns]
        written, refused = 0, list[DeniedRow]()
        with self.place.connected(retries(dict(self.spec.options).get("sink.max-retries"))) as connection:
            target = self.target(connection)
            places = [target.columns.index(key) for key in target.keys]
            with transaction(connection, database.begin):
                at_step("begun")
                if self.query is not None and not self._claimed(connection, target, batch_id):
                    known = kept(connection, target, self.query, batch_id) if self.limit is not None else []
                    return Written(0, tuple(known))
                at_step("claimed")
                for rows in _chunks(batches, conversions, size):
                    failed = self._take(connection, target, places, rows)
                    written, refused = written + len(rows) - len(failed), refused + failed
                    at_step("rows")
                if self.limit is not None and self.query is not None:
                    # A copy: the query counts them when the batch is in.
                    replace(self.limit).refuse(len(refused), self.named)
                    keep(connection, target, self.query, batch_id, refused)
            at_step("committed")
        return Written(written, tuple(refused))

    def target(self, connection: Connection) -> Target:
        """Return the table as it is there; raises SqlExtError SINK-091 if its columns are not those declared."""
        database, columns = self.place.database, self.spec.columns
        found = database.place(connection, self.place.table) or ""
        types = database.columns(connection, found)
        names: dict[str, str] = {}
        for column in columns:
            name = there(column.name, types)
            if name is None:
                raise self._mismatch(f"has no column `{column.name}`; it has {', '.join(types)}")
            if not database.fits(column.type, types[name]):
                raise self._mismatch(f"has column `{column.name}` of type {types[name]}, declared is {column.type}")
            names[column.name] = name
        keys = tuple(names[key] for key in self.spec.primary_key) if self.keyed else ()
        return Target(database, found, tuple(names.values()), keys)

    def _creation(self) -> str:
        database, columns = self.place.database, {}
        for column in self.spec.columns:
            kind = (database.key_type if column.name in self.spec.primary_key else database.column_type)(column.type)
            columns[column.name] = f"{kind}{'' if column.type.nullable else ' NOT NULL'}"
        place = ".".join(quoted(part) for part in name_parts(self.place.table))
        return creation(place, columns, self.spec.primary_key)

    def _claimed(self, connection: Connection, target: Target, batch_id: int) -> bool:
        return bool(connection.execute(target.claim, (self.query, batch_id)).rowcount > 0)

    def _take(self, connection: Connection, target: Target, places: list[int], rows: list[Row]) -> list[DeniedRow]:
        """Write rows; return those that are refused, where there is a limit of them."""
        width, text = len(self.spec.columns), -2
        gone = [Parameters(tuple(row[n] for n in places), row[text]) for row in rows if not row[-1]]
        here = [Parameters(row[:width], row[text]) for row in rows if row[-1]]
        refused = []
        for statement, given in ((target.delete, gone), (target.insert, here)):
            if self.limit is not None:
                refused += run_for_each(connection, self.place.database, statement, given)
            elif given:
                connection.cursor().executemany(statement, [row.values for row in given])
        return refused

    def _require_unique(self, connection: Connection, target: Target) -> None:
        """Check that the database can find the row of a key."""
        names = [quoted(key) for key in target.keys]
        database = self.place.database
        why = database.why_no_key(connection, target.place, names, target.insert, len(target.columns))
        if why is not None:
            keys = ", ".join(names)
            hint = f"ALTER TABLE {target.place} ADD PRIMARY KEY ({keys}), or CREATE UNIQUE INDEX ... ({keys})"
            message = f"{self.place} cannot replace rows by its PRIMARY KEY: {why}"
            raise SqlExtError("SINK-094", message, hint=hint)

    def _mismatch(self, what: str) -> SqlExtError:
        message = f"{self.place}, declared as `{self.spec.name}`, {what}"
        return SqlExtError("SINK-091", message, hint="declare the columns that are there")


@dataclass(frozen=True)
class JdbcSink(Sink):
    """A table of a database; one task writes the rows of a batch, so that they are one transaction."""

    spec: WriteSpec
    context: SinkContext

    @property
    def single_pass(self) -> bool:
        """One job writes all rows."""
        return True

    def require(self, spark: SparkSession) -> None:
        """Hold the table against the declaration, if it is there.

        Raises:
            SqlExtError: as ``open``.
        """
        self._refuse(spark)
        self._writing(None).check()

    def open(self, spark: SparkSession) -> None:
        """Create the table as declared, or hold the one that is there against the declaration.

        Raises:
            SqlExtError: SINK-090 for INSERT OVERWRITE, SINK-091 for other columns, SINK-094 where the table has no
                unique key, RUN-070 where the database refuses, ENV-015 to ENV-018 where workers cannot run it.
        """
        self._refuse(spark)
        self._writing(LetterLimit() if self.context.refusals else None).prepare()

    def _refuse(self, spark: SparkSession) -> None:
        refuse_mode(self.spec, self.context, "append", "upsert")
        require_python(spark)

    def write(self, df: DataFrame, batch_id: int) -> None:
        """Write a batch, unless the table has it already."""
        self._written(df, batch_id, None)

    def take(self, df: DataFrame, batch_id: int, limit: LetterLimit, *, new: bool) -> Sequence[RefusedRow]:
        """Write a batch but for the rows that the database refuses; see ``Sink.take``."""
        found = self._written(df, batch_id, limit if self.context.refusals else None)
        return tuple(RefusedRow(row["text"], "RUN-070", row["why"]) for row in found)

    def _written(self, df: DataFrame, batch_id: int, limit: LetterLimit | None) -> list[SparkRow]:
        writing = self._writing(limit)
        work = _Work(writing, batch_id)
        # All rows go to one task, but are not computed there: what is below a shuffle keeps its tasks.
        refused = self._rows(df).repartition(1).mapInArrow(work, "text STRING, why STRING").collect()
        if self.context.notes is not None and writing.query is not None:
            done = Commit(noted_place(writing.place), self.context.identity, batch_id, 0)
            self.context.notes.add(self.context.query, done)
        return refused

    def _writing(self, limit: LetterLimit | None) -> Writing:
        query = self.context.identity if is_exactly_once(self.spec.options) else None
        keyed = self.context.mode == "upsert"
        # Secrets are resolved here, where the query runs: workers may have none of them.
        place = place_of(dict(self.spec.options))
        made = Writing(place, self.spec, keyed, query, limit, self.context.query)
        notes = self.context.notes
        expected = notes.expected(self.context.query, self.context.identity) if notes is not None else None
        if notes is None or expected is None or (expected.table, expected.writer) != (noted_place(place), query):
            return made
        return replace(made, expected=expected, note=notes.file(self.context.query))

    def _rows(self, df: DataFrame) -> DataFrame:
        columns = [f"{_exactly(c)} AS {identifier(c.name)}" for c in self.spec.columns]
        flags = [identifier(c) for c in (self.context.exists, self.context.kind) if c is not None]
        rows = df.selectExpr(*columns, *flags)
        there_is = existence(self.context)
        if self.context.mode == "upsert":
            rows = one_row_per_key(rows, self.spec.primary_key, self.context)
        elif there_is is not None:
            rows = rows.where(identifier(there_is))
        names = [identifier(c.name) for c in self.spec.columns]
        text = [f"{row_text(self.spec, self.context.zone)} AS {_TEXT}"] if self.context.refusals else []
        there = f"{identifier(there_is) if there_is is not None else 'true'} AS {_THERE}"
        return rows.selectExpr(*names, *text, there)


@dataclass(frozen=True)
class _Work:
    """Writes a batch in a worker of Spark's."""

    writing: Writing
    batch_id: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        refused = self.writing.write(batches, self.batch_id).refused
        columns = [pa.array([getattr(row, name) for row in refused], pa.string()) for name in DeniedRow._fields]
        yield pa.record_batch(columns, list(DeniedRow._fields))


def _chunks(batches: Iterable[pa.RecordBatch], conversions: list[Conversion | None], size: int) -> Iterator[list[Row]]:
    """Yield rows as parameters, some at a time; the last value says whether the row is there."""
    for batch in batches:
        columns = [column.to_pylist() for column in batch.columns]
        width = len(conversions)
        made = [_converted(values, by) for values, by in zip(columns[:width], conversions, strict=True)]
        rows = zip(*made, *columns[width:], strict=True)
        while chunk := list(islice(rows, size)):
            yield chunk


def _converted(values: list[Any], by: Callable[[Any], Any] | None) -> list[Any]:
    return values if by is None else [None if value is None else by(value) for value in values]


def noted_place(place: Address) -> str:
    """Return the name of a table as it may be kept: a URL may have a login in it."""
    return redact_text(str(place))


def _exactly(column: WriteColumn) -> str:
    """Return a column as it is declared; TIME as text, which drivers and Arrow agree on."""
    # The rows may have a type that the declared one takes, such as an instant in place of a wall clock.
    kind = "STRING" if column.type.root == "TIME" else column.type.spark()
    return f"CAST({identifier(column.name)} AS {kind})"
