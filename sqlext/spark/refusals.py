"""Say in our words, and at its place, what Spark refuses in a statement that it alone runs.

Spark names a condition, and the line and the position within the text that it got.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

from pyspark.errors import PySparkException

from sqlext.errors import SqlExtError
from sqlext.source import Span
from sqlext.spark.quiet import quiet

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: How EXPLAIN begins to say that a query has no plan.
_NO_PLAN = "Error occurred during query planning"
_CONDITION = re.compile(r"\[([A-Z][A-Z0-9_]+)(?:\.[A-Z0-9_]+)*\] (.*?)(?= SQLSTATE|\n|$)")
#: ``(line 1, pos 7)`` of the parser, ``; line 1 pos 7`` of the analyser; lines begin with 1, positions with 0.
_PLACE = re.compile(r"\(?;?\s*\bline (\d+),? pos (\d+)\)?")
_QUOTED = r"((?:`[^`]*`\.?)+)"
_STREAM = "writeStream.start()"
_SPARKS = "Spark alone runs this statement; its SQL reference says what it takes"


@dataclass(frozen=True, slots=True)
class _Meaning:
    """What a condition of Spark is called here.

    Attributes:
        said: finds the name in Spark's message.
        message: what is told of it.
    """

    code: str
    said: re.Pattern[str]
    message: str
    hint: str = _SPARKS


_TABLES = "Spark runs this statement, and it knows no tables of this catalog: they are for SELECT and INSERT"
_MEANINGS = {
    "PARSE_SYNTAX_ERROR": _Meaning(
        "PARSE-002", re.compile(r"at or near '?([^'.]+|.)'?"), "Spark cannot read this statement at `{}`"
    ),
    "UNRESOLVED_COLUMN": _Meaning("NAME-003", re.compile(f"name {_QUOTED}"), "there is no column {}"),
    "TABLE_OR_VIEW_NOT_FOUND": _Meaning("NAME-002", re.compile(f"view {_QUOTED}"), "there is no table {}", _TABLES),
    "UNRESOLVED_ROUTINE": _Meaning("FUNC-001", re.compile(f"routine {_QUOTED}"), "there is no function {}"),
    "FIELD_NOT_FOUND": _Meaning("NAME-005", re.compile(f"field {_QUOTED}"), "there is no field {}"),
    "SCHEMA_NOT_FOUND": _Meaning("CAT-002", re.compile(f"schema {_QUOTED}"), "there is no database {}"),
}
_SUGGESTED = re.compile(r"Did you mean one of the following\? \[([^\]]+)\]")


def refusal(spark: SparkSession, span: Span, *, names: bool) -> SqlExtError | None:
    """Return why Spark refuses a query of its own, without running it; None if it takes it.

    Args:
        span: the query.
        names: whether its tables, columns, functions and types count too; otherwise its syntax alone does.
    """
    asked = f"EXPLAIN\n{span.text}"  # on a line of its own: Spark's columns are then those of the query
    try:
        with quiet():
            rows = spark.sql(asked).collect()
    except PySparkException as error:
        return refused_as_written(str(error), span, asked)
    said = "\n".join(str(row[0]) for row in rows)
    if not names or not said.startswith(_NO_PLAN):
        return None
    return refused_as_written(said.partition("\n")[2], span, asked)


def refused_as_written(message: str, span: Span, sent: str) -> SqlExtError:
    """Return what Spark's parser or analyser says against a statement of its own.

    The codes are those of our own statements where they say the same; all else is RUN-102.

    Args:
        message: Spark's.
        span: the statement as it was written.
        sent: what Spark got of it.
    """
    text = message.split("\n\nJVM stacktrace")[0]
    at = _place(text, span, sent)
    if _STREAM in text:
        hint = "session.register(df, 'name') makes the stream a table, which SELECT and INSERT read"
        return SqlExtError("RUN-102", "this statement is Spark's own, and it cannot read a stream", span=at, hint=hint)
    found = _CONDITION.search(text)
    meaning = _MEANINGS.get(found.group(1)) if found else None
    named = meaning.said.search(text) if meaning is not None else None
    if meaning is not None and named is not None:
        suggested = _SUGGESTED.search(text)
        names = [name.strip() for name in suggested.group(1).split(",")[:3]] if suggested else []
        hint = f"did you mean {' or '.join(names)}?" if names else meaning.hint
        return SqlExtError(meaning.code, meaning.message.format(named.group(1).rstrip(".")), span=at, hint=hint)
    said = found.group(2) if found else next(iter(text.strip().splitlines()), "no reason given")
    return SqlExtError("RUN-102", f"Spark refuses the statement: {_PLACE.sub('', said).strip()}", span=at, hint=_SPARKS)


def _place(message: str, span: Span, sent: str) -> Span:
    """Return the word at the place that Spark names, the last character at the end; the statement for no place."""
    found = _PLACE.search(message)
    offset = _offset(sent, int(found.group(1)), int(found.group(2))) if found else None
    written = None if offset is None else _written(offset, sent, span.text)
    if written is None:
        return span
    written = min(written, len(span.text) - 1)
    word = re.match(r"`[^`]*`|\w+|.", span.text[written:], re.DOTALL)
    return span.source.span(span.start + written, span.start + written + (len(word.group()) if word else 1))


def _offset(text: str, line: int, units: int) -> int | None:
    """Return where a place of Spark's is in a text; it counts in units of UTF-16, as the JVM does."""
    lines = text.split("\n")
    if not 1 <= line <= len(lines):
        return None
    before = lines[line - 1].encode("utf-16-le")[: 2 * units].decode("utf-16-le", "ignore")
    return sum(len(one) + 1 for one in lines[: line - 1]) + len(before)


def _written(offset: int, sent: str, written: str) -> int | None:
    """Return where a place of the text that Spark got is in the text as written, None for a part that is not there.

    They differ by words before the statement, or by names of tables.
    """
    from_end = len(sent) - offset
    if from_end <= _shared(sent[::-1], written[::-1]):
        return len(written) - from_end
    return offset if offset < _shared(sent, written) else None


def _shared(one: str, other: str) -> int:
    """Return how many characters two texts begin with that are the same."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
