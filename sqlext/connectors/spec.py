"""Describe what is read and what is written as plain values: without Spark, printable, comparable."""

from __future__ import annotations

from dataclasses import dataclass

from sqlext.plan.nodes import KIND, POSITION
from sqlext.quoting import identifier, named
from sqlext.secrets import redact
from sqlext.types import LogicalType
from sqlext_catalog.model import Options


@dataclass(frozen=True, slots=True)
class ReadColumn:
    """A column as it comes out: a Spark SQL expression over the raw columns, and its Spark type."""

    name: str
    expression: str
    type: str


def kind_column(expression: str) -> ReadColumn:
    """Return the column, behind all others, that says what a row of a changelog does to the table."""
    return ReadColumn(KIND, expression, "TINYINT")


def position_column(expression: str) -> ReadColumn:
    """Return the column, behind that of kinds, that says which of the rows of a key is the last."""
    return ReadColumn(POSITION, expression, "BIGINT")


@dataclass(frozen=True, slots=True)
class Faults:
    """How a source knows rows that it cannot decode; SQL over the raw and the derived columns.

    Attributes:
        reason: why a row cannot be decoded, NULL if it can.
        text: the row as it is.
        place: where it stands.
        rest: what stands behind a row that can be decoded and is not read, NULL if nothing does.
    """

    reason: str
    text: str
    place: str
    rest: str = "CAST(NULL AS STRING)"


@dataclass(frozen=True, slots=True)
class SparkCatalog:
    """A catalog of Spark's beside its own one, which a session opens by settings.

    Attributes:
        name: as SQL calls it.
        kind: the kind of lake.
        settings: of Spark's; values may be references to secrets, resolved when it is opened.
        files: with settings of Hadoop's that it gets too, as XML.
    """

    name: str
    kind: str
    settings: Options = ()
    files: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Return it with the values of secret settings replaced by stars."""
        return f"SparkCatalog({self.name!r}, {self.kind!r}, {redact(self.settings)!r}, {self.files!r})"


@dataclass(frozen=True, slots=True)
class ReadSpec:
    """A source, declaratively.

    The raw relation (``format``, ``schema``, options, ``path`` or ``table``) gets the ``derived`` columns added,
    becomes a row for each element of ``exploded``, is filtered by ``filters`` and projected to ``columns``, in this
    order.

    Attributes:
        format: name of a Spark data source.
        columns: what comes out. A TIMESTAMP(p) rowtime is a Spark TIMESTAMP: its wall clock taken as UTC.
        schema: raw columns as (name, Spark type); what a format with a schema of its own is held against.
        fixed_schema: whether ``schema`` is what the format finds for itself instead of what it is told.
        options: of the reader; values may be references to secrets, resolved when it is opened.
        stream_options, batch_options: further ones that only one of the two readers takes.
        guards: further ones of both, by which Spark refuses and takes what our readers do; an export leaves them out.
        path, table: where it lies: a path, or a name in Spark's catalog.
        derived: (name, expression) over the raw columns, computed once and used by ``columns`` and ``filters``.
        exploded: name and expression of an array over these: a row becomes one for each element, none for NULL.
        filters: predicates that a row of the raw relation must meet.
        bounded: whether it has an end.
        file_metadata: whether expressions use Spark's ``_metadata`` column, which no view hands on.
        batch_relation: SQL relation that stands for the raw one when read as batch, where the format is stream-only.
        frame: key of a registered DataFrame that is the raw relation, in place of a format.
        faults: where rows that cannot be decoded are taken out and counted, then filtered; None: they fail, if there
            are some.
        avro: whether it needs Spark's package spark-avro.
        may_be_missing: whether a path at which nothing lies has no rows yet.
        catalog: the one that ``table`` lies in, where that is to be opened first.
    """

    format: str
    columns: tuple[ReadColumn, ...]
    schema: tuple[tuple[str, str], ...] = ()
    fixed_schema: bool = False
    options: Options = ()
    stream_options: Options = ()
    batch_options: Options = ()
    guards: Options = ()
    path: str | None = None
    table: str | None = None
    derived: tuple[tuple[str, str], ...] = ()
    exploded: tuple[str, str] | None = None
    filters: tuple[str, ...] = ()
    bounded: bool = True
    file_metadata: bool = False
    batch_relation: str | None = None
    frame: str | None = None
    faults: Faults | None = None
    avro: bool = False
    may_be_missing: bool = False
    catalog: SparkCatalog | None = None

    @property
    def is_projection_only(self) -> bool:
        """Whether the raw relation is what comes out, as it is."""
        return (
            not self.derived
            and self.exploded is None
            and not self.filters
            and tuple((c.name, c.type) for c in self.columns) == self.schema
            and all(c.expression == identifier(c.name) for c in self.columns)
        )

    def select(self, relation: str) -> str:
        """Return the query over ``relation`` (SQL text: the raw relation) that gives the columns."""
        # Nested: WHERE cannot use a column of its own SELECT, and a derived column is to be computed once.
        source = relation
        if self.derived:
            added = ", ".join(f"{e} AS {identifier(n)}" for n, e in self.derived)
            source = f"(SELECT *, {added} FROM {relation})"
        if self.exploded is not None:
            # An ordinary ``explode``, so no row for NULL: messages that change nothing vanish here.
            name, elements = self.exploded
            source = f"(SELECT *, explode({elements}) AS {identifier(name)} FROM {source})"
        columns = ", ".join(named(c.expression, c.name) for c in self.columns)
        where = " WHERE " + " AND ".join(f"({f})" for f in self.filters) if self.filters else ""
        return f"SELECT {columns} FROM {source}{where}"


@dataclass(frozen=True, slots=True)
class WriteColumn:
    """A column of a sink; ``metadata_key`` is set for a metadata column that is written."""

    name: str
    type: LogicalType
    metadata_key: str | None = None


@dataclass(frozen=True, slots=True)
class WriteSpec:
    """A sink, declaratively: ``connector`` says which one, the rest what it needs.

    ``options`` are those of the table without ``connector``; values may be references to secrets. ``catalog`` is the
    one that ``table`` lies in, where that is to be opened first.
    """

    connector: str
    columns: tuple[WriteColumn, ...]
    name: str = ""
    format: str | None = None
    path: str | None = None
    table: str | None = None
    partitioned_by: tuple[str, ...] = ()
    primary_key: tuple[str, ...] = ()
    options: Options = ()
    catalog: SparkCatalog | None = None

    def option(self, key: str, default: str = "") -> str:
        """Return an option's value."""
        return dict(self.options).get(key, default)

    def flag(self, key: str, default: bool = False) -> bool:
        """Return a boolean option's value."""
        return self.option(key, str(default)).strip().lower() == "true"


@dataclass(frozen=True)
class Alteration:
    """What ALTER TABLE makes of the columns of a sink.

    Attributes:
        before: the sink as it was.
        after: as it is declared then.
        renamed: old and new names of columns.
    """

    before: WriteSpec
    after: WriteSpec
    renamed: tuple[tuple[str, str], ...] = ()
