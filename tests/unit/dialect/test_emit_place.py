"""Where an EMIT clause begins and ends, and where EMIT is only a name."""

from __future__ import annotations

import pytest

from sqlext.dialect.ast.expressions import Node
from sqlext.dialect.ast.queries import Select
from sqlext.dialect.queries.whole import parse_query_text
from sqlext.errors import SqlExtError

EVERYWHERE = """
SELECT 'EMIT CHANGES' AS emit, t.emit, emit, emit + 1 FROM t AS emit WHERE emit > 1
GROUP BY emit, t.emit, emit /* EMIT FINAL */ ORDER BY emit EMIT EVERY ROW -- EMIT FINAL"""


def _emits(query: Node) -> list[str]:
    return [node.emit.span.text for node in query.walk() if isinstance(node, Select) and node.emit]


@pytest.mark.parametrize(
    ("text", "emits"),
    [
        ("SELECT k FROM t GROUP BY k EMIT CHANGES", ["EMIT CHANGES"]),
        ("SELECT k FROM t EMIT CHANGES LIMIT 5", ["EMIT CHANGES"]),
        ("SELECT 1 EMIT FINAL", ["EMIT FINAL"]),
        ("SELECT k FROM t AS x EMIT EVERY 3 ROWS", ["EMIT EVERY 3 ROWS"]),
        ("SELECT k FROM t JOIN u ON a = b EMIT ON WINDOW CLOSE", ["EMIT ON WINDOW CLOSE"]),
        ("SELECT k FROM t ORDER BY k EMIT EVERY ROW LIMIT 5", ["EMIT EVERY ROW"]),
        (
            "SELECT k FROM t EMIT AFTER DELAY 5s ALIGNED TO 1 MINUTE OFFSET 15 SECONDS OFFSET 3",
            ["EMIT AFTER DELAY 5s ALIGNED TO 1 MINUTE OFFSET 15 SECONDS"],
        ),
        ("SELECT k FROM t EMIT EVERY 1m ALIGNED TO 5m OFFSET INTERVAL '3' SECOND", None),
        ("SELECT k FROM t EMIT EVERY 1m ALIGNED TO 5m OFFSET 15s FETCH FIRST 1 ROW ONLY", None),
        ("SELECT k FROM t EMIT (AFTER 5 ROWS OR AFTER DELAY 5s)", ["EMIT (AFTER 5 ROWS OR AFTER DELAY 5s)"]),
        ("SELECT a FROM (SELECT k FROM t EMIT FINAL) EMIT CHANGES", ["EMIT CHANGES", "EMIT FINAL"]),
        ("WITH c AS (SELECT k FROM t EMIT FINAL) SELECT a FROM c", ["EMIT FINAL"]),
        ("(SELECT a FROM t EMIT FINAL) UNION ALL (SELECT a FROM t EMIT CHANGES)", ["EMIT FINAL", "EMIT CHANGES"]),
        ("SELECT emit.a FROM t emit JOIN u ON emit.id = u.id", []),
        ("SELECT a FROM t JOIN u emit ON emit.id = u.id", []),
        ("SELECT a FROM t JOIN u emit USING (id)", []),
        ("SELECT a emit, `EMIT` CHANGES FROM t", []),
        (EVERYWHERE, ["EMIT EVERY ROW"]),
    ],
)
def test_place(text: str, emits: list[str] | None) -> None:
    found = _emits(parse_query_text(text))
    expected = emits if emits is not None else [text[text.index("EMIT") :].split(" FETCH")[0]]
    assert found == expected


@pytest.mark.parametrize(
    ("text", "column", "code"),
    [
        ("SELECT k FROM t GROUP BY k EMIT SOMETIMES", 28, "EMIT-001"),
        ("SELECT k FROM t GROUP BY k EMIT", 28, "EMIT-001"),
        ("(SELECT k FROM t GROUP BY k EMIT)", 29, "EMIT-001"),
        ("SELECT k FROM t EMIT EARLY", 17, "EMIT-001"),
        ("SELECT k FROM t EMIT AFTR WATERMARK", 17, "EMIT-001"),
        ("SELECT k FROM t EMIT CHANGES GROUP BY k", 30, "EMIT-023"),
        ("SELECT k FROM t EMIT CHANGES ORDER BY k", 30, "EMIT-023"),
        ("SELECT k FROM t EMIT CHANGES HAVING k", 30, "EMIT-023"),
        ("SELECT k FROM a UNION ALL SELECT k FROM b EMIT CHANGES", 43, "EMIT-025"),
        ("SELECT k FROM a EMIT CHANGES UNION ALL SELECT k FROM b", 17, "EMIT-025"),
        ("SELECT k FROM a UNION SELECT 1 EMIT FINAL UNION SELECT 2", 32, "EMIT-025"),
        ("(SELECT 1) UNION (SELECT 2) EMIT CHANGES", 29, "EMIT-025"),
        ("VALUES (1) EMIT CHANGES", 12, "EMIT-025"),
    ],
)
def test_refusals(text: str, column: int, code: str) -> None:
    with pytest.raises(SqlExtError) as caught:
        parse_query_text(text)
    assert (caught.value.code, caught.value.column) == (code, column)
