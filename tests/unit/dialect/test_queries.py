"""Queries: clauses, set operations, VALUES, grouping."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sqlext.dialect.queries.whole import parse_query_text
from sqlext.errors import SqlExtError

A_QUERY = "expected a query (SELECT, VALUES, WITH or TABLE)"
END = "the end of the statement"
NOT_OURS = "is not part of this dialect"
ONE = "Select([SelectItem(1)])"
TWO = "Select([SelectItem(2)])"

QUERIES = {
    "SELECT 1": f"Query({ONE})",
    "((SELECT 1))": f"Query({ONE})",
    "SELECT a b, c AS d, t.*, * FROM t": (
        "Query(Select([SelectItem(a, alias=b), SelectItem(c, alias=d), SelectItem(t.*), SelectItem(*)], "
        "from_=TableRef([t])))"
    ),
    "SELECT DISTINCT a FROM t WHERE b GROUP BY c HAVING d ORDER BY e DESC, f NULLS FIRST LIMIT 1 OFFSET 2 ROWS": (
        "Query(Select([SelectItem(a)], distinct=True, from_=TableRef([t]), where=b, group_by=GroupBy([c]), having=d), "
        "order_by=[OrderItem(e, descending=True), OrderItem(f, nulls=FIRST)], limit=1, offset=2)"
    ),
    "SELECT 1 OFFSET 2 ROWS FETCH NEXT 1 ROWS ONLY": f"Query({ONE}, limit=1, offset=2)",
    "SELECT 1 LIMIT 2, 3": f"Query({ONE}, limit=3, offset=2)",
    "SELECT 1 LIMIT ALL": f"Query({ONE})",
    "SELECT 1 WINDOW w AS (PARTITION BY a), x AS (w) QUALIFY r = 1": (
        "Query(Select([SelectItem(1)], windows=[NamedWindow(w, OverSpec(partition_by=[a])), "
        "NamedWindow(x, OverSpec(name=w))], qualify=Binary(=, r, 1)))"
    ),
    "SELECT /*+ BROADCAST(a, b), STATE_TTL('t' = '1d') */ 1": (
        "Query(Select([SelectItem(1)], hints=[Hint(BROADCAST, arguments=[a, b]), Hint(STATE_TTL, options=[[t, 1d]])]))"
    ),
    # grouping
    "SELECT 1 GROUP BY a, ROLLUP (b, (c, d)), CUBE (e)": (
        "Query(Select([SelectItem(1)], group_by=GroupBy([a, GroupingSets(ROLLUP, [[b], [c, d]]), "
        "GroupingSets(CUBE, [[e]])])))"
    ),
    "SELECT 1 GROUP BY GROUPING SETS ((a, b), a, (), ROLLUP (c))": (
        "Query(Select([SelectItem(1)], group_by=GroupBy([GroupingSets(GROUPING SETS, "
        "[[a, b], [a], [], [GroupingSets(ROLLUP, [[c]])]])])))"
    ),
    "SELECT 1 GROUP BY ()": "Query(Select([SelectItem(1)], group_by=GroupBy([GroupingSets(GROUPING SETS, [[]])])))",
    "SELECT 1 GROUP BY ALL": "Query(Select([SelectItem(1)], group_by=GroupBy([Keyword(ALL)])))",
    # set operations
    "SELECT 1 UNION SELECT 2 INTERSECT SELECT 1": (
        f"Query(SetOperation(UNION, False, {ONE}, SetOperation(INTERSECT, False, {TWO}, {ONE})))"
    ),
    "SELECT 1 EXCEPT ALL SELECT 2 UNION ALL SELECT 1": (
        f"Query(SetOperation(UNION, True, SetOperation(EXCEPT, True, {ONE}, {TWO}), {ONE}))"
    ),
    "SELECT 1 EXCEPT SELECT 2 MINUS SELECT 1": (
        f"Query(SetOperation(EXCEPT, False, SetOperation(EXCEPT, False, {ONE}, {TWO}), {ONE}))"
    ),
    "(SELECT 1 LIMIT 1) UNION DISTINCT (SELECT 2) ORDER BY 1": (
        f"Query(SetOperation(UNION, False, Query({ONE}, limit=1), Query({TWO})), order_by=[OrderItem(1)])"
    ),
    "(SELECT 1) LIMIT 1": f"Query(Query({ONE}), limit=1)",
    # VALUES, TABLE, WITH
    "VALUES 1, (2), (1, 'a'), ROW(3)": "Query(Values([[1], [2], [1, 'a'], [3]]))",
    "TABLE db.t": "Query(TableBody(TableRef([db, t])))",
    "WITH a AS (SELECT 1), b (x, y) AS (TABLE t) SELECT 2": (
        f"Query({TWO}, ctes=[Cte(a, Query({ONE})), Cte(b, Query(TableBody(TableRef([t]))), columns=[x, y])])"
    ),
    # words that are names here
    "SELECT window.start, window, offset, values FROM limits limits": (
        "Query(Select([SelectItem(window.start), SelectItem(window), SelectItem(offset), SelectItem(values)], "
        "from_=TableRef([limits], alias=Alias(limits))))"
    ),
    "SELECT 1 first, 2 fetch, 3 sort, 4 window, 5 version": (
        "Query(Select([SelectItem(1, alias=first), SelectItem(2, alias=fetch), SelectItem(3, alias=sort), "
        "SelectItem(4, alias=window), SelectItem(5, alias=version)]))"
    ),
}


@pytest.mark.parametrize("text", QUERIES)
def test_construct(text: str, shape: Callable[[Any], str]) -> None:
    assert shape(parse_query_text(text)) == QUERIES[text]


@pytest.mark.parametrize(
    ("text", "column", "code", "message", "hint"),
    [
        ("SELECT a, FROM t", 11, "PARSE-002", "expected an expression, found `FROM`", "remove the comma before FROM"),
        ("SELECT a FROM", 14, "PARSE-002", f"expected a table, found {END}", None),
        ("SELECT a FORM t", 10, "PARSE-002", "`FORM` begins no clause", "did you mean FROM?"),
        ("SELECT a FROM t WHRE a > 1", 17, "PARSE-002", "`WHRE` begins no clause", "did you mean WHERE?"),
        ("SELECT a FROM t ODER BY a", 17, "PARSE-002", "`ODER` begins no clause", "did you mean ORDER?"),
        ("SELEC 1", 1, "PARSE-002", f"{A_QUERY}, found `SELEC`", "did you mean SELECT?"),
        ("SELECT (a FROM t", 11, "PARSE-002", "expected ), found `FROM`", None),
        ("SELECT 1 UNION", 15, "PARSE-002", f"{A_QUERY}, found {END}", None),
        ("SELECT 1 UNION ALL BY NAME SELECT 2", 20, "PARSE-004", f"BY NAME {NOT_OURS}", None),
        ("WITH RECURSIVE a AS (SELECT 1) SELECT 2", 6, "PARSE-004", f"WITH RECURSIVE {NOT_OURS}", None),
        ("SELECT a FROM t TABLESAMPLE (1 ROWS)", 17, "PARSE-004", f"Spark's TABLESAMPLE {NOT_OURS}", None),
        ("SELECT a FROM t DISTRIBUTE BY a", 17, "PARSE-004", f"Spark's DISTRIBUTE BY {NOT_OURS}", None),
        (
            "SELECT 1 GROUP BY a WITH CUBE",
            21,
            "PARSE-004",
            f"WITH CUBE {NOT_OURS}",
            "write GROUP BY CUBE (a, b)",
        ),
    ],
)
def test_refusals(text: str, column: int, code: str, message: str, hint: str | None) -> None:
    with pytest.raises(SqlExtError) as caught:
        parse_query_text(text)
    assert (caught.value.code, caught.value.column, caught.value.message) == (code, column, message)
    assert hint is None or caught.value.hint == hint


def test_spans() -> None:
    query = parse_query_text("( SELECT a  x , 1 FROM t u WHERE b ) -- end")
    assert query.span.text == "SELECT a  x , 1 FROM t u WHERE b"
    assert [node.span.text for node in query.body.children()] == ["a  x", "1", "t u", "b"]
