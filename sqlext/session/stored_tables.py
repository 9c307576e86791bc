"""Give statements of Spark's the rows behind tables of our catalog, which Spark does not know by name."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

from sqlext.analysis import functions
from sqlext.analysis.inserts.row_changes import check_row_change
from sqlext.analysis.names.environment import Environment
from sqlext.analysis.selects.from_clause import require_spark_table
from sqlext.connectors.registry import known
from sqlext.dialect.ast.queries import TableRef
from sqlext.dialect.ast.statements import NamedTable, SparkStatement
from sqlext.errors import SqlExtError, did_you_mean
from sqlext.quoting import identifier
from sqlext_catalog.model import Table, View

#: What a MERGE does to rows that are there; one that only inserts is no change.
_MERGED = re.compile(r"\bTHEN\s+(UPDATE|DELETE)\b", re.IGNORECASE)


def on_stored_tables(statement: SparkStatement, env: Environment) -> SparkStatement:
    """Return a statement in which tables of ours are named as Spark knows them.

    Raises:
        SqlExtError: CAT-040 for a table of ours that Spark cannot reach, or a statement that it has not for such ones;
            CAT-044 for a change of rows in a table that only grows.
    """
    ours = [(t, found) for t in statement.tables if (found := _lookup(t, env)) is not None]
    if not ours:
        return statement
    text, start = statement.span.text, statement.span.start
    # From the end on: what stands before a place keeps its offset.
    for named, relation in sorted(ours, key=lambda one: one[0].span.start, reverse=True):
        name = _stored_name(statement, named, relation)
        text = text[: named.span.start - start] + name + text[named.span.end - start :]
    return replace(statement, text=text)


#: Statements of Spark's about a table that must be there.
_ABOUT_TABLES = re.compile(r"(TRUNCATE|ANALYZE|SHOW)\b", re.IGNORECASE)


def check_named(statement: SparkStatement, env: Environment) -> None:
    """Check that the tables of a statement about tables are there.

    Raises:
        SqlExtError: NAME-002 for a table that nobody knows.
    """
    for named in statement.tables if _ABOUT_TABLES.match(statement.span.text) else ():
        if _lookup(named, env) is None:
            require_spark_table(TableRef(named.span, named.name, named.span), env)


def check_change(statement: SparkStatement, env: Environment, made: Collection[str]) -> None:
    """Check an UPDATE, DELETE or MERGE: that its tables are there, and what it says of the columns of one of ours.

    Args:
        made: tables and functions that Spark has been told to make, in lower case.

    Raises:
        SqlExtError: NAME-002 for a table that nobody knows; as ``check_row_change``.
    """
    for named in statement.tables:
        if _lookup(named, env) is None:
            require_spark_table(TableRef(named.span, named.name, named.span), env)
    table = env.catalog.lookup(statement.change.target) if statement.change and statement.tables else None
    if isinstance(table, Table) and statement.change is not None:
        check_row_change(statement.change, table, env, made)


def _hint(stored: str | None) -> str:
    if stored is None:
        return "Spark reaches the rows of tables with 'connector' = 'delta' alone; read others by SELECT and INSERT"
    return f"Spark knows its rows as {stored}, if it has this statement for a folder; SELECT and INSERT know its name"


def _lookup(named: NamedTable, env: Environment) -> Table | View | None:
    return env.catalog.lookup(named.name) if len(named.name) <= 3 else None


def _stored_name(statement: SparkStatement, named: NamedTable, relation: Table | View) -> str:
    connector = known(relation) if isinstance(relation, Table) else None
    stored = connector.name_in_spark(relation) if connector is not None and isinstance(relation, Table) else None
    if stored is None or not named.by_path:
        verb = statement.span.text.split()[0].upper()
        message = f"{verb} is a statement of Spark's, and Spark does not know `{'.'.join(named.name)}` of this catalog"
        raise SqlExtError("CAT-040", message, span=named.span, hint=_hint(stored))
    if _takes_rows_away(statement, named) and _appends_only(relation):
        message = f"`{'.'.join(named.name)}` takes no rows away: its option 'delta.appendOnly' is 'true'"
        hint = "leave the option out where the table is created"
        raise SqlExtError("CAT-044", message, span=named.span, hint=hint)
    # The statement's other words may name it, as in `WHERE t.a = 1`.
    return f"{stored} AS {identifier(named.name[-1])}" if named.takes_alias else stored


def _takes_rows_away(statement: SparkStatement, named: NamedTable) -> bool:
    """Whether a statement changes or deletes rows of the table that it names first."""
    words = statement.span.text.upper().split()
    if named is not statement.tables[0]:
        return False
    return words[0] in ("DELETE", "UPDATE", "TRUNCATE") or (
        words[0] == "MERGE" and _MERGED.search(statement.span.text) is not None
    )


def _appends_only(relation: Table | View) -> bool:
    return isinstance(relation, Table) and (relation.option("delta.appendOnly") or "").lower() == "true"


#: The function that a statement describes, without a catalog or a database.
_DESCRIBED = re.compile(r"DESC(?:RIBE)?\s+FUNCTION\s+(?:EXTENDED\s+)?`?(\w+)`?\s*", re.IGNORECASE)
#: What Spark describes beside functions.
_PREDICATES = frozenset({"between", "case"})


def check_described(statement: SparkStatement, made: Collection[str]) -> None:
    """Check that a function that is described is there, where Spark cannot be asked.

    Args:
        made: functions that Spark has been told to make, in lower case.

    Raises:
        SqlExtError: FUNC-001 with close matches.
    """
    named = _DESCRIBED.fullmatch(statement.span.text)
    name = named.group(1) if named else ""
    if named is None or name.lower() in _PREDICATES or name.lower() in made or functions.is_known_to_spark(name):
        return
    start = statement.span.start
    place = statement.span.source.span(start + named.start(1), start + named.end(1))
    hint = did_you_mean(name, functions.all_names()) or "a session with Spark knows its functions too"
    raise SqlExtError("FUNC-001", f"Spark has no function `{name}`", span=place, hint=hint)
