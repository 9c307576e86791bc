"""Parse CREATE TABLE.

CREATE [OR REPLACE] [TEMPORARY] TABLE [IF NOT EXISTS] name [(elements)] [COMMENT '..'] [DISTRIBUTED ..]
[PARTITIONED BY (names)] [WITH (options)] [LIKE base [(like options)]] [AS query]
"""

from __future__ import annotations

from typing import NamedTuple

from sqlext.dialect.ast.statements import CreateTable, LikeClause, LikeOption, Option
from sqlext.dialect.cursor import Cursor
from sqlext.dialect.keywords import at_query
from sqlext.dialect.queries.relations import parse_name, parse_names
from sqlext.dialect.queries.whole import parse_query
from sqlext.dialect.statements.clauses import TableElements, parse_comment, parse_elements, parse_options
from sqlext.dialect.tokens import Token, TokenKind, did_you_mean_word
from sqlext.source import Span

_CLAUSES = ("COMMENT", "DISTRIBUTED", "PARTITIONED", "WITH", "LIKE", "AS")
_FEATURES = ("ALL", "CONSTRAINTS", "DISTRIBUTION", "PARTITIONS", "GENERATED", "OPTIONS", "WATERMARKS", "METADATA")


class CreateFlags(NamedTuple):
    """The words between CREATE and the kind of object."""

    start: int
    or_replace: bool = False
    temporary: bool = False
    materialized: bool = False


class _Clauses(NamedTuple):
    comment: str | None
    distribution: Span | None
    partitioned_by: tuple[str, ...]
    options: tuple[Option, ...]


def is_spark_table(cursor: Cursor) -> bool:
    """Whether a CREATE TABLE, the cursor at its name, says USING or another clause that only Spark has."""
    depth, ahead = 0, 0
    while (token := cursor.peek(ahead)).kind is not TokenKind.END and token.text != ";":
        if token.kind is TokenKind.SYMBOL:
            # Inside of parentheses such a word is a column or an option.
            depth += (token.text == "(") - (token.text == ")")
        # Behind AS a USING is that of a join in the query.
        elif depth == 0 and token.upper == "AS":
            return False
        elif depth == 0 and token.upper == "STORED" and cursor.peek(ahead + 1).upper not in ("AS", "BY"):
            pass  # a table of that name behind LIKE
        elif depth == 0 and token.upper in ("USING", "TBLPROPERTIES", "STORED", "LOCATION", "CLUSTERED", "CLONE"):
            # The first word is the table's name, which may be `location`.
            return ahead > 0
        ahead += 1
    return False


def parse_create_table(cursor: Cursor, flags: CreateFlags) -> CreateTable:
    """Read a CREATE TABLE from its name on."""
    if_not_exists = cursor.accept_words("IF", "NOT", "EXISTS")
    name, name_span = parse_name(cursor)
    elements = parse_elements(cursor) if cursor.at_symbol("(") and not at_query(cursor, 1) else TableElements()
    if elements.names and elements.columns:
        raise cursor.unexpected("a type for every column, or names alone")
    clauses = _clauses(cursor)
    like = _like(cursor) if cursor.at_words("LIKE") else None
    query = parse_query(cursor) if cursor.accept_words("AS") else None
    if not cursor.at_statement_end:
        hint = did_you_mean_word(cursor.token.upper, *_CLAUSES)
        if cursor.at_symbol("(") and not clauses.options:
            hint = "WITH is missing before this"
        raise cursor.unexpected("the end of CREATE TABLE", hint=hint)
    if query is None and elements.names:
        raise cursor.unexpected("AS with a query, because the columns have no types")
    return CreateTable(
        cursor.span_from(flags.start),
        name,
        name_span,
        columns=tuple(elements.columns),
        column_names=tuple(elements.names),
        watermarks=tuple(elements.watermarks),
        primary_keys=tuple(elements.primary_keys),
        partitioned_by=clauses.partitioned_by,
        distribution=clauses.distribution,
        comment=clauses.comment,
        options=clauses.options,
        like=like,
        query=query,
        temporary=flags.temporary,
        if_not_exists=if_not_exists,
        or_replace=flags.or_replace,
    )


def _clauses(cursor: Cursor) -> _Clauses:
    comment = parse_comment(cursor)
    distribution = _distribution(cursor)
    partitioned_by: tuple[str, ...] = ()
    if cursor.accept_words("PARTITIONED", "BY"):
        partitioned_by = parse_names(cursor)
    options = parse_options(cursor) if cursor.accept_words("WITH") else ()
    return _Clauses(comment, distribution, partitioned_by, options)


def _distribution(cursor: Cursor) -> Span | None:
    """Read ``DISTRIBUTED [BY [HASH | RANGE] (names)] [INTO n BUCKETS]``."""
    if not cursor.at_words("DISTRIBUTED"):
        return None
    start = cursor.advance().start
    if cursor.accept_words("BY"):
        cursor.accept_any("HASH", "RANGE")
        parse_names(cursor)
    if cursor.accept_words("INTO"):
        if cursor.token.kind is not TokenKind.NUMBER:
            raise cursor.unexpected("a number of buckets")
        cursor.advance()
        cursor.expect_words("BUCKETS")
    return cursor.span_from(start)


def _like(cursor: Cursor) -> LikeClause:
    start = cursor.expect_words("LIKE").start
    table, name_span = parse_name(cursor)
    options: list[LikeOption] = []
    if cursor.accept_symbol("("):
        while not cursor.at_symbol(")"):
            options.append(_like_option(cursor))
        cursor.advance()
    return LikeClause(cursor.span_from(start), table, name_span, tuple(options))


def _like_option(cursor: Cursor) -> LikeOption:
    token: Token = cursor.token
    strategy = cursor.accept_any("INCLUDING", "EXCLUDING", "OVERWRITING")
    if not strategy:
        raise cursor.unexpected("INCLUDING, EXCLUDING or OVERWRITING")
    # Flink refuses OVERWRITING of the others when it checks the statement (SqlTableLike).
    features = _FEATURES[4:] if strategy == "OVERWRITING" else _FEATURES
    feature = cursor.accept_any(*features)
    if not feature:
        raise cursor.unexpected(" or ".join(features), hint=did_you_mean_word(cursor.token.upper, *features))
    return LikeOption(strategy, feature, cursor.span_from(token.start))
