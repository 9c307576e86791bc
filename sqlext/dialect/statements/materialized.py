"""Parse Flink's materialized tables. Each is a materialized view with a key, partitions and words about refreshing.

CREATE [OR ALTER | OR REPLACE] MATERIALIZED TABLE [IF NOT EXISTS] t [(PRIMARY KEY ...)] [COMMENT '..']
[PARTITIONED BY (names)] [WITH (options)] [FRESHNESS = INTERVAL 'n' unit] [REFRESH_MODE = CONTINUOUS]
[START_MODE = FROM_BEGINNING | RESUME_OR_FROM_BEGINNING] AS query
ALTER MATERIALIZED TABLE t SUSPEND | RESUME
"""

from __future__ import annotations

from sqlext.dialect.ast.expressions import Interval
from sqlext.dialect.ast.statements import AlterMaterialized, CreateView
from sqlext.dialect.cursor import Cursor
from sqlext.dialect.expressions.literals import parse_interval
from sqlext.dialect.keywords import unsupported
from sqlext.dialect.queries.relations import parse_name, parse_names
from sqlext.dialect.queries.whole import parse_query
from sqlext.dialect.statements.clauses import TableElements, parse_comment, parse_elements, parse_options
from sqlext.dialect.statements.create_table import CreateFlags
from sqlext.dialect.tokens import did_you_mean_word
from sqlext.errors import SqlExtError

_REFRESHING = ("FRESHNESS", "REFRESH_MODE", "START_MODE")
_FRESHNESS_UNITS = ("SECOND", "MINUTE", "HOUR", "DAY")
_FROM_BEGINNING = ("FROM_BEGINNING", "RESUME_OR_FROM_BEGINNING")
_OTHER_STARTS = ("FROM_NOW", "FROM_TIMESTAMP", "RESUME_OR_FROM_NOW", "RESUME_OR_FROM_TIMESTAMP")
_ACTIONS = ("SUSPEND", "RESUME", "REFRESH", "AS")


def parse_create_materialized(cursor: Cursor, flags: CreateFlags) -> CreateView:
    """Read a CREATE MATERIALIZED TABLE from its name on."""
    if_not_exists = cursor.accept_words("IF", "NOT", "EXISTS")
    name, name_span = parse_name(cursor, "a materialized table's name")
    elements = parse_elements(cursor) if cursor.at_symbol("(") else TableElements()
    if elements.columns or elements.names or elements.watermarks:
        hint = "its query gives the columns; between the parentheses stands PRIMARY KEY (a) NOT ENFORCED alone"
        raise SqlExtError("PARSE-004", "a materialized table names no columns of its own", span=name_span, hint=hint)
    comment = parse_comment(cursor)
    partitioned_by = parse_names(cursor) if cursor.accept_words("PARTITIONED", "BY") else ()
    options = parse_options(cursor) if cursor.accept_words("WITH") else ()
    _refreshing(cursor)
    cursor.expect_words("AS")
    query = parse_query(cursor)
    return CreateView(
        cursor.span_from(flags.start),
        name,
        name_span,
        query,
        comment=comment,
        temporary=flags.temporary,
        if_not_exists=if_not_exists,
        or_replace=flags.or_replace,
        materialized=True,
        options=options,
        primary_keys=tuple(elements.primary_keys),
        partitioned_by=partitioned_by,
    )


def _refreshing(cursor: Cursor) -> None:
    """Read how fresh the table is to be. Its query runs on and is as fresh as it can be, so nothing of it is kept."""
    seen: set[str] = set()
    while (word := cursor.token.upper) in _REFRESHING and word not in seen:
        seen.add(word)
        cursor.advance()
        cursor.expect_symbol("=")
        if word == "FRESHNESS":
            _freshness(cursor)
        elif word == "REFRESH_MODE":
            _refresh_mode(cursor)
        else:
            _start_mode(cursor)


def _freshness(cursor: Cursor) -> None:
    if not cursor.at_words("INTERVAL"):
        raise cursor.unexpected("INTERVAL '3' MINUTE")
    interval = parse_interval(cursor)
    if not isinstance(interval, Interval) or not _is_freshness(interval):
        message = f"FRESHNESS is a whole number of {', '.join(_FRESHNESS_UNITS)}"
        raise SqlExtError("PARSE-006", message, span=interval.span, hint="FRESHNESS = INTERVAL '3' MINUTE")


def _is_freshness(interval: Interval) -> bool:
    whole = interval.to_unit is None and interval.value.isdigit() and int(interval.value) > 0
    return whole and interval.unit in _FRESHNESS_UNITS


def _refresh_mode(cursor: Cursor) -> None:
    if cursor.at_words("FULL"):
        hint = (
            "CONTINUOUS; or fill a table by INSERT OVERWRITE, SET 'execution.runtime-mode' = 'batch', from a scheduler"
        )
        raise unsupported(cursor, "REFRESH_MODE = FULL", hint)
    if not cursor.accept_words("CONTINUOUS"):
        raise cursor.unexpected("CONTINUOUS")


def _start_mode(cursor: Cursor) -> None:
    if cursor.at_any(*_OTHER_STARTS):
        hint = "say it of the source: 'scan.startup.mode', as the table's option or by the hint OPTIONS"
        raise unsupported(cursor, f"START_MODE = {cursor.token.upper}", hint)
    if not cursor.accept_any(*_FROM_BEGINNING):
        raise cursor.unexpected(" or ".join(_FROM_BEGINNING))


def parse_alter_materialized(cursor: Cursor, start: int) -> AlterMaterialized:
    """Read an ALTER MATERIALIZED TABLE from its name on."""
    name, name_span = parse_name(cursor, "a materialized table's name")
    if cursor.at_words("REFRESH"):
        raise unsupported(cursor, "REFRESH", "leave it out: the table's query runs on, or has read all there is")
    if cursor.at_words("AS"):
        raise unsupported(
            cursor, "ALTER MATERIALIZED TABLE ... AS", "CREATE OR REPLACE MATERIALIZED TABLE fills it anew"
        )
    action = cursor.accept_any("SUSPEND", "RESUME")
    if not action:
        raise cursor.unexpected("SUSPEND or RESUME", hint=did_you_mean_word(cursor.token.upper, *_ACTIONS))
    return AlterMaterialized(cursor.span_from(start), name, name_span, action)
