"""What stands in FROM."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sqlext.dialect.ast.queries import MatchRecognize, Select, TableRef
from sqlext.dialect.queries.whole import parse_query_text
from sqlext.errors import SqlExtError

MINUTE = "Interval(1, MINUTE)"
TUMBLE = f"TableFunction(TUMBLE, [TableArgument(TableRef([t])), Descriptor([ts]), {MINUTE}]"

RELATIONS = {
    "c.d.t AS x": "TableRef([c, d, t], alias=Alias(x))",
    "t x (a, b)": "TableRef([t], alias=Alias(x, columns=[a, b]))",
    "t /*+ OPTIONS('scan.mode'='x', 'y' = '1') */ AS u": (
        "TableRef([t], alias=Alias(u), hints=[Hint(OPTIONS, options=[[scan.mode, x], [y, 1]])])"
    ),
    # joins
    "a JOIN b ON a.x = b.x": "Join(TableRef([a]), TableRef([b]), INNER, condition=Binary(=, a.x, b.x))",
    "a LEFT OUTER JOIN b USING (x, y)": "Join(TableRef([a]), TableRef([b]), LEFT, using=[x, y])",
    "a NATURAL FULL JOIN b": "Join(TableRef([a]), TableRef([b]), FULL, natural=True)",
    "a CROSS JOIN b RIGHT JOIN c ON d": (
        "Join(Join(TableRef([a]), TableRef([b]), CROSS), TableRef([c]), RIGHT, condition=d)"
    ),
    "a LEFT SEMI JOIN b ON c ANTI JOIN d ON e": (
        "Join(Join(TableRef([a]), TableRef([b]), LEFT SEMI, condition=c), TableRef([d]), LEFT ANTI, condition=e)"
    ),
    "a, b JOIN c ON d": (
        "Join(TableRef([a]), Join(TableRef([b]), TableRef([c]), INNER, condition=d), CROSS, comma=True)"
    ),
    "(a JOIN b ON c) x": "ParenRelation(Join(TableRef([a]), TableRef([b]), INNER, condition=c), alias=Alias(x))",
    # queries
    "(SELECT 1) x": "SubqueryRef(Query(Select([SelectItem(1)])), alias=Alias(x))",
    "((SELECT 1) UNION ALL (SELECT 2))": (
        "SubqueryRef(Query(SetOperation(UNION, True, Query(Select([SelectItem(1)])), Query(Select([SelectItem(2)])))))"
    ),
    "((SELECT 1) JOIN t ON a)": (
        "ParenRelation(Join(SubqueryRef(Query(Select([SelectItem(1)]))), TableRef([t]), INNER, condition=a))"
    ),
    "(VALUES (1, 'a')) AS t (a, b)": "SubqueryRef(Query(Values([[1, 'a']])), alias=Alias(t, columns=[a, b]))",
    "VALUES (1), (2) AS t": "SubqueryRef(Query(Values([[1], [2]])), alias=Alias(t))",
    "a, LATERAL (SELECT 1) x": (
        "Join(TableRef([a]), SubqueryRef(Query(Select([SelectItem(1)])), alias=Alias(x), lateral=True), "
        "CROSS, comma=True)"
    ),
    # functions
    "TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE))": f"{TUMBLE})",
    "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE) AS w": f"{TUMBLE}, alias=Alias(w))",
    "TABLE(TUMBLE(DATA => TABLE t, TIMECOL => DESCRIPTOR(ts), `OFFSET` => INTERVAL '1' MINUTE))": (
        "TableFunction(TUMBLE, [NamedArgument(DATA, TableArgument(TableRef([t]))), "
        f"NamedArgument(TIMECOL, Descriptor([ts])), NamedArgument(OFFSET, {MINUTE})])"
    ),
    "TABLE(SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '1' MINUTE))": (
        f"TableFunction(SESSION, [TableArgument(TableRef([t]), partition_by=[k]), Descriptor([ts]), {MINUTE}])"
    ),
    "f(TABLE t PARTITION BY (k, l) ORDER BY ts DESC, 1)": (
        "TableFunction(f, [TableArgument(TableRef([t]), partition_by=[k, l], "
        "order_by=[OrderItem(ts, descending=True)]), 1])"
    ),
    "f(TABLE t ORDER BY (a, b), 1)": (
        "TableFunction(f, [TableArgument(TableRef([t]), order_by=[OrderItem(a), OrderItem(b)]), 1])"
    ),
    "f((SELECT 1), x => (SELECT 1))": (
        "TableFunction(f, [TableArgument(SubqueryRef(Query(Select([SelectItem(1)])))), "
        "NamedArgument(x, TableArgument(SubqueryRef(Query(Select([SelectItem(1)])))))])"
    ),
    "f(TABLE (SELECT 1))": "TableFunction(f, [TableArgument(SubqueryRef(Query(Select([SelectItem(1)]))))])",
    "f(TABLE g(1))": "TableFunction(f, [TableArgument(TableFunction(g, [1]))])",
    "g(input => TABLE t)": "TableFunction(g, [NamedArgument(input, TableArgument(TableRef([t])))])",
    "a, LATERAL TABLE(f(a.x)) AS t (y)": (
        "Join(TableRef([a]), TableFunction(f, [a.x], alias=Alias(t, columns=[y]), lateral=True), CROSS, comma=True)"
    ),
    "a CROSS JOIN UNNEST(a.b) WITH ORDINALITY AS t (x, n)": (
        "Join(TableRef([a]), Unnest([a.b], ordinality=True, alias=Alias(t, columns=[x, n])), CROSS)"
    ),
    # time travel and streams
    "o JOIN r FOR SYSTEM_TIME AS OF o.t AS s ON a": (
        "Join(TableRef([o]), TableRef([r], alias=Alias(s), system_time=o.t), INNER, condition=a)"
    ),
    "t VERSION AS OF 3": "TableRef([t], version=3)",
    "t FOR TIMESTAMP AS OF '2024-01-01' u": "TableRef([t], alias=Alias(u), version='2024-01-01')",
    "STREAM t AS x": "TableRef([t], alias=Alias(x), stream=True)",
    "STREAM(db.t) x": "TableRef([db, t], alias=Alias(x), stream=True)",
    "stream": "TableRef([stream])",
    "stream AS s": "TableRef([stream], alias=Alias(s))",
    # patterns
    "t MATCH_RECOGNIZE (PATTERN (A) DEFINE A AS (x > ')')) AS m": (
        "MatchRecognize(TableRef([t]), PatternVariable(A), "
        "definitions=[VariableDefinition(A, Paren(Binary(>, x, ')')))], alias=Alias(m))"
    ),
    "(SELECT 1) x MATCH_RECOGNIZE (PATTERN (A))": (
        "MatchRecognize(SubqueryRef(Query(Select([SelectItem(1)])), alias=Alias(x)), PatternVariable(A))"
    ),
}


@pytest.mark.parametrize("mode", ["spark", "flink"])
@pytest.mark.parametrize("text", RELATIONS)
def test_construct(text: str, mode: str, shape: Callable[[Any], str]) -> None:
    body = parse_query_text(f"SELECT * FROM {text}", mode).body
    assert isinstance(body, Select)
    assert shape(body.from_) == RELATIONS[text]
    assert body.from_ is not None
    assert body.from_.span.text == text


def test_places_of_a_table_and_of_a_pattern() -> None:
    body = parse_query_text("SELECT * FROM a.`b c` x MATCH_RECOGNIZE ( PATTERN (A) )").body
    assert isinstance(body, Select)
    match = body.from_
    assert isinstance(match, MatchRecognize)
    assert match.pattern.span.text == "A"
    assert isinstance(match.input, TableRef)
    assert (match.input.name_span.text, match.input.span.text) == ("a.`b c`", "a.`b c` x")


@pytest.mark.parametrize(
    ("text", "column", "code"),
    [
        ("SELECT * FROM a LEFT b", 22, "PARSE-002"),
        ("SELECT * FROM a JOIN", 21, "PARSE-002"),
        ("SELECT * FROM SELECT 1", 15, "PARSE-002"),
        ("SELECT * FROM t LATERAL VIEW explode(a) x AS y", 17, "PARSE-004"),
        ("SELECT * FROM a, LATERAL VIEW explode(a) x AS y", 26, "PARSE-004"),
        ("SELECT * FROM STREAM t WATERMARK ts DELAY OF INTERVAL 5 SECONDS", 24, "PARSE-004"),
        ("SELECT * FROM t MATCH_RECOGNIZE (PATTERN (A)", 45, "PARSE-002"),
        ("SELECT * FROM t /*+ OPTIONS('a' = ) */", 35, "PARSE-002"),
        ("SELECT * FROM t /*+ OPTIONS('a' */", 33, "PARSE-002"),
    ],
)
def test_refusals(text: str, column: int, code: str) -> None:
    with pytest.raises(SqlExtError) as caught:
        parse_query_text(text)
    assert (caught.value.code, caught.value.column) == (code, column)
