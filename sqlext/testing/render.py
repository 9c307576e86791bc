"""Print results as the text of an example's ``.out`` file.

It imports nothing of Spark, since the check against Flink uses it too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import Any

FINAL_ORDER = re.compile(r"\bORDER\s+BY\b[^()]*$", re.IGNORECASE)


def section(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], *, ordered: bool = False) -> str:
    """Return a result under a title, its rows sorted unless their order is part of the answer."""
    texts = [[cell(value) for value in row] for row in rows]
    # A single text of several lines is a document (EXPLAIN, SHOW CREATE TABLE), not a table.
    if len(texts) == 1 and len(texts[0]) == 1 and "\n" in texts[0][0]:
        return f"=== {title}\n{texts[0][0].rstrip()}\n"
    lines = texts if ordered else sorted(texts)
    widths = [max(map(len, column)) for column in zip(columns, *lines, strict=True)]
    padded = [" | ".join(v.ljust(w) for v, w in zip(line, widths, strict=True)) for line in (columns, *lines)]
    return "\n".join([f"=== {title}", *(line.rstrip() for line in padded)]) + "\n"


def result_title(number: int, statement: str) -> str:
    """Return the title of a shown result: its number in the file and the statement's first words."""
    words = re.sub(r"\s+", " ", statement).strip()
    return f"{number}. {words if len(words) <= 70 else words[:67] + '...'}"


def is_ordered(statement: str) -> bool:
    """Return whether a statement says in what order its rows come."""
    return not statement.upper().startswith("SELECT") or bool(FINAL_ORDER.search(statement))


def cell(value: Any) -> str:
    """Return a value as SQL users expect to read it."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat(" ", "milliseconds" if value.microsecond else "seconds")
    if isinstance(value, date):
        return value.isoformat()
    return str(value)
