"""Ask Spark whether it takes a query of its own, without running it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyspark.errors import PySparkException

from sqlext.errors import SqlExtError
from sqlext.source import Span
from sqlext.spark.failures import sentence
from sqlext.spark.quiet import quiet

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: How EXPLAIN begins to say that a query has no plan.
_NO_PLAN = "Error occurred during query planning"
#: Where Spark says that it is; lines count from 1, and columns from 0.
_PLACE = re.compile(r"\(?;?\s*\bline (\d+),? pos (\d+)\)?")


def refusal(spark: SparkSession, span: Span, *, names: bool) -> SqlExtError | None:
    """Return why Spark refuses a query, RUN-101 at the place that it names, or None.

    Args:
        span: the query.
        names: whether its tables, columns, functions and types count too; otherwise its syntax alone does.
    """
    try:
        with quiet():
            # On a line of its own: Spark's columns are then those of the query.
            rows = spark.sql(f"EXPLAIN\n{span.text}").collect()
    except PySparkException as error:
        return _refused(str(error), span)
    said = "\n".join(str(row[0]) for row in rows)
    return _refused(said.partition("\n")[2], span) if names and said.startswith(_NO_PLAN) else None


def _refused(text: str, span: Span) -> SqlExtError:
    place = _PLACE.search(text)
    message = _PLACE.sub("", sentence(text)).strip()
    return SqlExtError(
        "RUN-101",
        f"Spark refuses the query: {message}",
        span=_span(span, int(place.group(1)) - 1, int(place.group(2))) if place else span,
        hint="this query reads no table of this catalog, so it is Spark's as it stands",
    )


def _span(span: Span, line: int, column: int) -> Span:
    """Return the word at a place of the query, its last character where that is past the end."""
    lines = span.text.split("\n")
    if not 1 <= line <= len(lines):
        return span
    offset = min(sum(len(one) + 1 for one in lines[: line - 1]) + column, len(span.text) - 1)
    word = re.match(r"\w+|.", span.text[offset:], re.DOTALL)
    return span.source.span(span.start + offset, span.start + offset + (len(word.group()) if word else 1))
