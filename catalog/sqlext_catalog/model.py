"""Define the objects that the catalog holds, and their names: frozen records, compared by value."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

from sqlext.errors import SqlExtError
from sqlext.secrets import redact, redact_text
from sqlext.types import LogicalType, quote

DEFAULT_CATALOG = "default_catalog"
DEFAULT_DATABASE = "default_database"


class ObjectName(NamedTuple):
    """A full name, as Flink writes it: catalog, database, object."""

    catalog: str
    database: str
    name: str

    def __str__(self) -> str:
        return ".".join(quote(part) for part in self)

    @property
    def plain(self) -> str:
        """The parts joined with dots, unquoted, as messages show it."""
        return ".".join(self)


#: Longest part of a name, in characters; Flink has no limit of its own, the metastores behind it have about this one.
MAX_LENGTH = 255

#: The read-only views over the catalog live under this database name.
INFORMATION_SCHEMA = "information_schema"


def check_part(part: str, what: str) -> None:
    """Refuse a part of a name that cannot be stored; any other text is a legal quoted identifier.

    Args:
        part: a catalog, database, object or column name, without its quotes.
        what: what it names, for the message (``table``, ``database``, ...).
    """
    if not part.strip():
        raise SqlExtError("CAT-020", f"the name of a {what} is empty")
    if len(part) > MAX_LENGTH:
        raise SqlExtError(
            "CAT-020",
            f"the name of a {what} has {len(part)} characters, more than {MAX_LENGTH}: {part[:40]!r}...",
        )
    # Arrow keeps text as UTF-8, which has no lone surrogates; NUL ends a name for code in C.
    if "\0" in part or any("\ud800" <= c <= "\udfff" for c in part):
        raise SqlExtError("CAT-020", f"the name of a {what} has a character that no name can have: {part!r}")


Options = tuple[tuple[str, str], ...]
#: The option of a table that is a materialized view: the name of the query that keeps it.
KEPT_BY = "sqlext.kept-by"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    ``kind`` is ``physical``, ``computed`` (``expression`` is its text, verbatim) or ``metadata``
    (``metadata_key``; ``virtual``: not written to a sink). ``type`` of a computed column is derived when
    the table is created; None where it could not be.
    """

    name: str
    type: LogicalType | None
    kind: str = "physical"
    expression: str | None = None
    metadata_key: str | None = None
    virtual: bool = False
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class Watermark:
    """``WATERMARK FOR column AS expression``; the expression is the user's text."""

    column: str
    expression: str


@dataclass(frozen=True, slots=True)
class PrimaryKey:
    """A primary key, never enforced."""

    name: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table: a source, a sink or both, by its ``connector`` option."""

    name: ObjectName
    columns: tuple[Column, ...]
    watermark: Watermark | None = None
    primary_key: PrimaryKey | None = None
    partitioned_by: tuple[str, ...] = ()
    options: Options = ()
    comment: str | None = None
    temporary: bool = False
    expressions: str = "spark"  # sqlext.expressions when it was created: how its computed columns are read

    def option(self, key: str, default: str | None = None) -> str | None:
        """Return an option's value."""
        return dict(self.options).get(key, default)

    def __repr__(self) -> str:
        """Return the record with the values of secret options replaced by stars."""
        return _redacted_repr(self)

    @property
    def proctime_columns(self) -> tuple[str, ...]:
        """The names of the columns that are PROCTIME()."""
        return tuple(
            c.name
            for c in self.columns
            # By text, because the catalog parses no expressions.
            if c.kind == "computed" and (c.expression or "").replace(" ", "").upper() == "PROCTIME()"
        )


@dataclass(frozen=True, slots=True)
class View:
    """A view: its query as the user wrote it, and the settings that give the text its meaning."""

    name: ObjectName
    columns: tuple[str, ...]
    query: str
    comment: str | None = None
    temporary: bool = False
    expressions: str = "spark"
    catalog: str = ""  # current catalog and database when it was created: how its names are resolved
    database: str = ""

    def __repr__(self) -> str:
        """Return the record with the secrets of its hints replaced by stars."""
        return _redacted_repr(self)


#: The type of a catalog that Flink keeps itself, as ours are kept; all other types are connections to other systems.
CATALOG_TYPE = "generic_in_memory"


@dataclass(frozen=True, slots=True)
class Catalog:
    """A catalog: a name for a group of databases, and the database that USE CATALOG enters."""

    name: str
    default_database: str = DEFAULT_DATABASE
    comment: str | None = None
    options: Options = ()

    @property
    def stated_options(self) -> Options:
        """The options with the type, which need not be written: ``CATALOG_TYPE`` is the only one."""
        return tuple({"type": CATALOG_TYPE, **dict(self.options)}.items())

    def __repr__(self) -> str:
        """Return the record with the values of secret options replaced by stars."""
        return _redacted_repr(self)


@dataclass(frozen=True, slots=True)
class Database:
    """A database (schema); ``name.name`` is empty."""

    name: ObjectName
    comment: str | None = None
    options: Options = ()

    def __repr__(self) -> str:
        """Return the record with the values of secret options replaced by stars."""
        return _redacted_repr(self)


@dataclass(frozen=True, slots=True)
class QueryRecord:
    """A query that was started: what it reads and writes, its checkpoint, and where it stands.

    ``watermark`` is milliseconds since 1970 UTC, None before the first.
    """

    name: str
    statement: str
    reads: tuple[str, ...]
    writes: str | None
    checkpoint: str
    fingerprint: str
    status: str
    watermark: int | None = None
    started: int | None = None
    details: Options = field(default=())


Relation = Table | View
CatalogObject = Table | View | Database | Catalog | QueryRecord


def _redacted_repr(record: Table | View | Database | Catalog) -> str:
    values = ((f.name, getattr(record, f.name)) for f in fields(record))
    return f"{type(record).__name__}({', '.join(f'{name}={_redacted(name, value)!r}' for name, value in values)})"


def _redacted(name: str, value: Any) -> Any:
    if name == "query":
        return redact_text(value)
    return redact(value) if name == "options" else value


def query_name(view: ObjectName) -> str:
    """Return the name of the query that keeps a materialized view: the view's, as short as it is everywhere."""
    return view.name if view[:2] == (DEFAULT_CATALOG, DEFAULT_DATABASE) else view.plain


def keeping_query(relation: Table | View | None) -> str | None:
    """Return the name of the query that keeps a table, None if it is no materialized view (LIKE copies options)."""
    if not isinstance(relation, Table) or relation.option(KEPT_BY) != query_name(relation.name):
        return None
    return relation.option(KEPT_BY)
