"""Define statements as parsed. Names are tuples of unquoted parts; option keys and values are plain strings."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlext.dialect.ast.expressions import Expr, Node
from sqlext.dialect.ast.queries import Hint, Query
from sqlext.dialect.ast.row_changes import RowChange
from sqlext.errors import SqlExtError
from sqlext.source import Span
from sqlext.types import LogicalType

Name = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Option:
    """``'key' = 'value'`` with the places of both."""

    key: str
    value: str
    key_span: Span
    value_span: Span


@dataclass(frozen=True, slots=True)
class Statement(Node):
    """One statement of a script; the span excludes the semicolon."""


@dataclass(frozen=True, slots=True)
class ColumnDef(Node):
    """A column: physical (``type``), computed (``expression``) or metadata (``type`` and ``metadata``).

    ``metadata_key`` is the FROM key (the column's name where there is none), ``inline_primary_key`` is
    ``PRIMARY KEY NOT ENFORCED`` written at the column.
    """

    name: str
    type: LogicalType | None = None
    type_span: Span | None = None
    expression: Expr | None = None
    metadata: bool = False
    metadata_key: str | None = None
    virtual: bool = False
    comment: str | None = None
    inline_primary_key: bool = False


@dataclass(frozen=True, slots=True)
class WatermarkDef(Node):
    """``WATERMARK FOR column AS expression``; ``column`` has several parts when it names a nested field."""

    column: Name
    expression: Expr


@dataclass(frozen=True, slots=True)
class PrimaryKeyDef(Node):
    """``[CONSTRAINT name] PRIMARY KEY (columns) NOT ENFORCED``."""

    columns: Name
    name: str | None = None


@dataclass(frozen=True, slots=True)
class LikeOption:
    """``INCLUDING | EXCLUDING | OVERWRITING`` and a feature.

    ``ALL CONSTRAINTS DISTRIBUTION PARTITIONS GENERATED OPTIONS WATERMARKS METADATA``.
    """

    strategy: str
    feature: str
    span: Span


@dataclass(frozen=True, slots=True)
class LikeClause(Node):
    """``LIKE base [(options)]``."""

    table: Name
    name_span: Span
    options: tuple[LikeOption, ...] = ()


@dataclass(frozen=True, slots=True)
class CreateTable(Statement):
    """``CREATE [OR REPLACE] [TEMPORARY] TABLE [IF NOT EXISTS] t (...) ... WITH (...) [LIKE ...] [AS query]``.

    ``columns`` are definitions; in a CTAS that only reorders columns ``column_names`` has their names.
    ``distribution`` is the text from DISTRIBUTED on.
    """

    name: Name
    name_span: Span
    columns: tuple[ColumnDef, ...] = ()
    column_names: tuple[str, ...] = ()
    watermarks: tuple[WatermarkDef, ...] = ()
    primary_keys: tuple[PrimaryKeyDef, ...] = ()
    partitioned_by: tuple[str, ...] = ()
    distribution: Span | None = None
    comment: str | None = None
    options: tuple[Option, ...] = ()
    like: LikeClause | None = None
    query: Query | None = None
    temporary: bool = False
    if_not_exists: bool = False
    or_replace: bool = False


@dataclass(frozen=True, slots=True)
class CreateView(Statement):
    """``CREATE [OR REPLACE] [TEMPORARY | MATERIALIZED] VIEW [IF NOT EXISTS] v [(c [COMMENT '..'], ..)] AS query``.

    ``options`` are those of WITH before the AS of a materialized one. Flink's ``CREATE MATERIALIZED TABLE`` may say its
    key and its partitions too.
    """

    name: Name
    name_span: Span
    query: Query
    columns: tuple[str, ...] = ()
    comment: str | None = None
    temporary: bool = False
    if_not_exists: bool = False
    or_replace: bool = False
    materialized: bool = False
    options: tuple[Option, ...] = ()
    primary_keys: tuple[PrimaryKeyDef, ...] = ()
    partitioned_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AlterMaterialized(Statement):
    """``ALTER MATERIALIZED TABLE t SUSPEND | RESUME``; ``action`` says which."""

    name: Name
    name_span: Span
    action: str


@dataclass(frozen=True, slots=True)
class AlterTable(Statement):
    """One ALTER TABLE; ``action`` says which fields count.

    ADD and MODIFY: ``columns``, ``positions`` (per column: None, FIRST or the name it comes AFTER),
    ``watermarks``, ``primary_keys``. DROP: ``names`` (columns). DROP WATERMARK, DROP PRIMARY KEY,
    DROP CONSTRAINT (``names``).
    RENAME: ``new_name`` (table). RENAME COLUMN: ``names`` (old, new). SET: ``options``. RESET: ``names`` (keys).
    ``name_spans`` are the places of ``names``.
    """

    name: Name
    name_span: Span
    action: str
    if_exists: bool = False
    columns: tuple[ColumnDef, ...] = ()
    positions: tuple[str | None, ...] = ()
    watermarks: tuple[WatermarkDef, ...] = ()
    primary_keys: tuple[PrimaryKeyDef, ...] = ()
    names: tuple[str, ...] = ()
    new_name: Name = ()
    options: tuple[Option, ...] = ()
    name_spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class AlterView(Statement):
    """``ALTER VIEW v RENAME TO w`` (``new_name``) or ``ALTER VIEW v AS query``."""

    name: Name
    name_span: Span
    new_name: Name = ()
    query: Query | None = None


@dataclass(frozen=True, slots=True)
class Drop(Statement):
    """``DROP [TEMPORARY] kind [IF EXISTS] x [CASCADE | RESTRICT]``.

    ``kind`` is TABLE, VIEW, MATERIALIZED VIEW, DATABASE, CATALOG, QUERY or FUNCTION.
    """

    kind: str
    name: Name
    name_span: Span
    if_exists: bool = False
    temporary: bool = False
    cascade: bool = False


@dataclass(frozen=True, slots=True)
class CreateDatabase(Statement):
    """``CREATE DATABASE | SCHEMA [IF NOT EXISTS] d [COMMENT '..'] [WITH (...)]``."""

    name: Name
    name_span: Span
    if_not_exists: bool = False
    comment: str | None = None
    options: tuple[Option, ...] = ()


@dataclass(frozen=True, slots=True)
class CreateCatalog(Statement):
    """``CREATE CATALOG [IF NOT EXISTS] c [COMMENT '..'] WITH (...)``."""

    name: Name
    name_span: Span
    if_not_exists: bool = False
    comment: str | None = None
    options: tuple[Option, ...] = ()


@dataclass(frozen=True, slots=True)
class AlterDatabase(Statement):
    """``ALTER DATABASE | SCHEMA d SET (...)``."""

    name: Name
    name_span: Span
    options: tuple[Option, ...] = ()


@dataclass(frozen=True, slots=True)
class AlterCatalog(Statement):
    """``ALTER CATALOG c SET (...) | RESET ('key', ...) | COMMENT '..'``."""

    name: str
    name_span: Span
    options: tuple[Option, ...] = ()
    keys: tuple[str, ...] = ()
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class CreateFunction(Statement):
    """``CREATE [OR REPLACE] [TEMPORARY] [SYSTEM] FUNCTION [IF NOT EXISTS] f AS 'module.Class' [LANGUAGE l]``.

    ``ALTER FUNCTION [IF EXISTS] f AS ...`` is one that replaces what must be there (``altered``).

    ``language`` is PYTHON, JAVA, SCALA, or empty where none is said: the class is then one of Java.
    """

    name: Name
    name_span: Span
    path: str
    path_span: Span
    if_not_exists: bool = False
    or_replace: bool = False
    language: str = "PYTHON"
    altered: bool = False
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class Use(Statement):
    """``USE [catalog.]db`` or ``USE CATALOG c`` (``kind`` DATABASE or CATALOG)."""

    kind: str
    name: Name
    name_span: Span


@dataclass(frozen=True, slots=True)
class Show(Statement):
    """``SHOW what [FROM name] [LIKE 'pattern']``.

    ``what`` is TABLES VIEWS COLUMNS DATABASES CATALOGS FUNCTIONS JARS MODULES MODELS JOBS QUERIES WATERMARKS,
    MATERIALIZED TABLES, FULL MODULES, CREATE and what it makes, CURRENT CATALOG or CURRENT DATABASE.
    ``like_op`` is LIKE or ILIKE. ``name`` of WATERMARKS is a query's.
    """

    what: str
    name: Name = ()
    name_span: Span | None = None
    like: str | None = None
    like_op: str = "LIKE"
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Describe(Statement):
    """``DESCRIBE | DESC [EXTENDED] t``."""

    name: Name
    name_span: Span
    extended: bool = False


@dataclass(frozen=True, slots=True)
class DescribeCatalog(Statement):
    """``DESCRIBE | DESC CATALOG [EXTENDED] c``."""

    name: str
    name_span: Span
    extended: bool = False


@dataclass(frozen=True, slots=True)
class Explain(Statement):
    """``EXPLAIN [details] statement``; ``details`` in upper case: JSON, MERMAID, CHANGELOG_MODE, ..."""

    statement: Statement
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExplainWhy(Statement):
    """``EXPLAIN WHY q``: why nothing comes out of a query now."""

    name: Name
    name_span: Span


@dataclass(frozen=True, slots=True)
class ExplainRow(Statement):
    """``EXPLAIN ROW FROM sink WHERE condition``: which input rows made the rows of a result.

    Attributes:
        name: of the table that has the result.
        rows: the query of these rows.
        where: its condition.
    """

    name: Name
    name_span: Span
    rows: Query
    where: Expr | None = None


@dataclass(frozen=True, slots=True)
class AnalyzeWatermark(Statement):
    """``ANALYZE WATERMARK FOR t [BY column | FROM QUERIES] [WITH (options)]``: how late the rows of a table are.

    Attributes:
        seen_span: FROM QUERIES: asked is what queries have seen, not what the table holds.
    """

    name: Name
    name_span: Span
    by: str | None = None
    by_span: Span | None = None
    options: tuple[Option, ...] = ()
    seen_span: Span | None = None


@dataclass(frozen=True, slots=True)
class ReplaySet:
    """``column = value`` in the SET of a REPLAY."""

    column: str
    column_span: Span
    value: Expr


@dataclass(frozen=True, slots=True)
class Replay(Statement):
    """``REPLAY letters [WHERE condition] [SET column = value, ...]``: feed dead letters back into their queries.

    Attributes:
        name: of the table of dead letters.
        letters: the query of those that are meant.
        where: its condition.
        changes: what is another value in the rows that are fed back.
    """

    name: Name
    name_span: Span
    letters: Query
    where: Expr | None = None
    changes: tuple[ReplaySet, ...] = ()


@dataclass(frozen=True, slots=True)
class Deploy(Statement):
    """``DEPLOY [WITH (options)] statement``: make the new version of its queries the current one.

    Attributes:
        statement: an INSERT, a statement set or a CREATE MATERIALIZED VIEW.
    """

    statement: Statement
    options: tuple[Option, ...] = ()


@dataclass(frozen=True, slots=True)
class SetOption(Statement):
    """``SET 'k' = 'v'``; ``SET`` alone has no key and shows all, ``SET 'k'`` has no value and shows one."""

    key: str | None = None
    value: str | None = None
    key_span: Span | None = field(default=None, compare=False)
    value_span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class ResetOption(Statement):
    """``RESET ['k']``."""

    key: str | None = None
    key_span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Insert(Statement):
    """``[EXECUTE] INSERT INTO | OVERWRITE t [hints] [PARTITION (c = v)] [(columns)] query [ON CONFLICT DO x]``.

    ``on_conflict`` is NOTHING, ERROR, DEDUPLICATE or None. ``column_spans`` are the places of ``columns``.
    """

    name: Name
    name_span: Span
    query: Query
    overwrite: bool = False
    hints: tuple[Hint, ...] = ()
    partition: tuple[tuple[str, Expr], ...] = ()
    columns: tuple[str, ...] = ()
    on_conflict: str | None = None
    column_spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class StatementSet(Statement):
    """``EXECUTE STATEMENT SET BEGIN ... END``: INSERTs that are one job."""

    inserts: tuple[Insert, ...]


@dataclass(frozen=True, slots=True)
class StopJob(Statement):
    """``STOP JOB 'name' [WITH SAVEPOINT]``."""

    job: str
    job_span: Span
    savepoint: bool = False


@dataclass(frozen=True, slots=True)
class SelectStatement(Statement):
    """A query at top level: its rows are shown."""

    query: Query


@dataclass(frozen=True, slots=True)
class NamedTable:
    """A relation that a statement of Spark's names, at ``span``.

    ``by_path`` says whether Spark also takes it as ``delta.`/folder```, and ``takes_alias`` whether a name for it could
    stand behind it.
    """

    span: Span
    name: Name
    by_path: bool = False
    takes_alias: bool = False


@dataclass(frozen=True, slots=True)
class SparkStatement(Statement):
    """None of ours: goes to Spark byte for byte.

    ``tables`` are the relations that must be there. ``made`` are relations and functions that it may make. ``text`` is
    what Spark gets, where that is not the statement as written. ``change`` is what an UPDATE, DELETE or MERGE does.
    """

    tables: tuple[NamedTable, ...] = ()
    made: tuple[Name, ...] = ()
    text: str = ""
    change: RowChange | None = None


@dataclass(frozen=True, slots=True)
class UnparsedQuery(Statement):
    """A query or INSERT that this dialect cannot read (LATERAL VIEW, PIVOT, ...): Spark's, if it names nothing of ours.

    ``names`` are its words and quoted names, ``error`` says why it cannot be read.
    """

    names: frozenset[str]
    error: SqlExtError
