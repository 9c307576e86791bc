"""Twelve mistakes of new users: each is told at its exact place, and a script that does what the hint says has none."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

from sqlext.errors import SqlExtError
from sqlext.session.offline.checking import found_in
from sqlext.session.offline.compilation import new_state
from sqlext.source import SourceText

SCRIPT = """CREATE TABLE orders (
  item STRING, amount DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '10' SECOND
) WITH ('connector' = 'filesystem', 'path' = '/in/orders', 'format' = 'json');
CREATE TABLE totals (item STRING, total DOUBLE) WITH ('connector' = 'delta', 'path' = '/out/totals');
CREATE VIEW upper_orders AS SELECT UPPER(item) AS item, amount, ts FROM orders;
INSERT INTO totals
SELECT item, SUM(amount) AS total
FROM TABLE(TUMBLE(TABLE upper_orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY item, window_start, window_end;
"""


@dataclass(frozen=True)
class Mistake:
    """What is written in place of what is right; the marks ``«`` and ``»`` are around the place that must be told.

    Attributes:
        hint: a regular expression of words of the hint.
    """

    right: str
    wrong: str
    code: str
    hint: str


MISTAKES = {
    "wrong format": Mistake("'format' = 'json'", "«'format' = 'jsn'»", "OPT-005", "did you mean `json`"),
    "wrong option": Mistake("'path' = '/in", "«'pth' = '/in/orders'», 'path' = '/in", "OPT-003", "did you mean `path`"),
    "missing watermark": Mistake(
        ",\n  WATERMARK FOR ts AS ts - INTERVAL '10' SECOND",
        "",
        "TIME-001",
        "declare WATERMARK FOR ts AS ts - INTERVAL",
    ),
    "misspelt column": Mistake("SUM(amount)", "SUM(«amuont»)", "NAME-003", "did you mean `amount`"),
    "misspelt table": Mistake("TABLE upper_orders", "TABLE «uper_orders»", "NAME-002", "did you mean `upper_orders`"),
    "misspelt function": Mistake("UPPER(item)", "«UPPR(item)»", "FUNC-001", "did you mean `UPPER`"),
    "wrong number of arguments": Mistake("UPPER(item)", "«UPPER(item, 1)»", "FUNC-002", "DESCRIBE FUNCTION UPPER"),
    "INSERT without INTO": Mistake("INSERT INTO totals", "INSERT «totals»", "PARSE-002", "INSERT INTO"),
    "missing semicolon": Mistake("FROM orders;", "FROM orders", "PARSE-002", "end the statement before this with `;`"),
    "half a window": Mistake(
        "item, window_start, window_end", "item, «window_start»", "SINK-004", "GROUP BY window_start, window_end"
    ),
    "column that is not grouped by": Mistake("SUM(amount) AS total", "«amount»", "NAME-010", "MAX\\(amount\\)"),
    "text into a number": Mistake(
        "SUM(amount) AS total", "«MAX(item)»", "SINK-002", "CAST\\(MAX\\(item\\) AS DOUBLE\\)"
    ),
}
#: Where what is missing shows: nothing wrong stands there.
_SHOWN = {"missing watermark": "«ts»), INTERVAL '1'", "missing semicolon": "«INSERT» INTO totals"}


def check(text: str) -> list[SqlExtError]:
    return found_in(SourceText.of(text), new_state(None).fork())


def test_the_right_script_has_no_mistake() -> None:
    assert check(SCRIPT) == []


@pytest.mark.parametrize("name", MISTAKES)
def test_told(name: str) -> None:
    mistake = MISTAKES[name]
    assert SCRIPT.count(mistake.right) == 1
    marked = SCRIPT.replace(mistake.right, mistake.wrong)
    if (shown := _SHOWN.get(name)) is not None:
        marked = marked.replace(re.sub("[«»]", "", shown), shown, 1)
    start, end = marked.index("«"), marked.index("»") - 1
    error = check(re.sub("[«»]", "", marked))[0]
    assert error.span is not None
    assert (error.code, error.span.start, error.span.end) == (mistake.code, start, end), error.render()
    assert re.search(mistake.hint, error.hint or ""), error.render()


def test_there_are_twelve() -> None:
    assert len(MISTAKES) == 12
