"""UNNEST, LATERAL sub-queries and table functions: names, types, plans, refusals."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sqlext import SqlExtError
from sqlext.plan.base import walk
from sqlext.plan.explain import as_text
from sqlext.plan.joins import StreamJoin
from sqlext.plan.ranking import Rank
from sqlext.plan.unnest import Unnested
from sqlext.user_functions import UserFunctions, kind_of

from .conftest import Analysis

TABLE = """
CREATE TABLE baskets (
  id INT NOT NULL, names ARRAY<STRING NOT NULL>, items ARRAY<ROW<sku STRING, n INT NOT NULL>>, props MAP<STRING, INT>,
  many MULTISET<STRING>, ts TIMESTAMP(3), WATERMARK FOR ts AS ts
) WITH ('connector' = 'filesystem', 'path' = '/in/baskets', 'format' = 'json');
"""


PAGES = "SELECT user_name AS u, COUNT(*) AS n FROM visits GROUP BY user_name"
JOINED = "visits AS v JOIN visits AS w ON v.page = w.page"


class Words:
    """A table function."""

    def eval(self, text: str, most: int = 10) -> Iterator[tuple[str, int]]:
        yield text, most


class Ends(Words):
    def terminate(self) -> Iterator[tuple[str, int]]:
        yield "", 0


@pytest.fixture
def baskets(flink: Analysis) -> Analysis:
    flink.run(TABLE)
    flink.handler.state.functions.register("table", "words", Words, "word STRING, size INT")
    return flink


@pytest.mark.parametrize(
    ("relation", "columns"),
    [
        ("UNNEST(names)", {"EXPR$0": "STRING"}),
        ("UNNEST(names) WITH ORDINALITY AS t", {"t": "STRING", "ORDINALITY": "INT"}),
        ("UNNEST(names) AS t (x)", {"x": "STRING"}),
        ("UNNEST(items)", {"sku": "STRING", "n": "INT"}),
        ("UNNEST(b.items) WITH ORDINALITY AS t (s, n, i)", {"s": "STRING", "n": "INT", "i": "INT"}),
        ("UNNEST(props) AS t (k, v)", {"k": "STRING", "v": "INT"}),
        ("UNNEST(props)", {"KEY": "STRING", "VALUE": "INT"}),
        ("UNNEST(many) AS t (x)", {"x": "STRING"}),
        ("UNNEST(ARRAY[1, id]) AS t (x)", {"x": "INT"}),
        ("LATERAL TABLE(words(b.names[1]))", {"word": "STRING", "size": "INT"}),
        ("LATERAL TABLE(WORDS('a', 3)) AS t (x, y)", {"x": "STRING", "y": "INT"}),
        ("LATERAL (SELECT id + 1, b.ts AS t, PROCTIME() AS p)", {"EXPR$0": "INT", "t": "TIMESTAMP(3) *ROWTIME*"}),
        ("LATERAL (SELECT * FROM UNNEST(items) AS i) AS l", {"sku": "STRING", "n": "INT"}),
        ("LATERAL (SELECT country FROM users WHERE since > ts) AS l (c)", {"c": "STRING"}),
        ("LATERAL (SELECT COUNT(*) AS n FROM UNNEST(ARRAY[1])) AS l", {"n": "BIGINT"}),
    ],
)
def test_columns(baskets: Analysis, relation: str, columns: dict[str, str]) -> None:
    found = baskets.columns(f"SELECT * FROM baskets AS b, {relation}")
    assert list(found)[:6] == ["id", "names", "items", "props", "many", "ts"]
    assert found["ts"] == "TIMESTAMP(3) *ROWTIME*"
    assert {n: t for n, t in found.items() if n in columns} == columns


def test_nullability(baskets: Analysis) -> None:
    query = "SELECT n, x, o FROM baskets {0} JOIN UNNEST(names) WITH ORDINALITY AS t (x, o) ON TRUE, UNNEST(items)"
    inner = [c.type.nullable for c in baskets.plan(query.format("INNER")).columns if c.type]
    left = [c.type.nullable for c in baskets.plan(query.format("LEFT")).columns if c.type]
    assert inner == [False, False, False]
    assert left == [False, True, True]


def test_names_of_the_inner_query_come_first(baskets: Analysis) -> None:
    inner = "SELECT id FROM UNNEST(ARRAY[1]) AS t (id) WHERE id > b.id"
    compiled = baskets.run(f"SELECT b.id, l.id FROM baskets AS b, LATERAL ({inner}) AS l")
    assert compiled is not None
    assert "WHERE t.id > b.id" in compiled.script.query


def test_a_name_of_both_sides_is_qualified_in_the_text(flink: Analysis) -> None:
    inner = "SELECT country FROM users AS u WHERE user_name = c.user_name"
    query = f"SELECT c.user_name FROM clicks AS c, LATERAL ({inner}) AS l"
    compiled = flink.run(query)
    assert compiled is not None
    assert "u.user_name = c.user_name" in compiled.script.query


def test_a_window_above(baskets: Analysis) -> None:
    query = """SELECT x, window_start, COUNT(*) AS n
    FROM TABLE(TUMBLE(TABLE baskets, DESCRIPTOR(ts), INTERVAL '1' MINUTE)), UNNEST(names) AS t (x)
    GROUP BY x, window_start, window_end"""
    plan = baskets.plan(query)
    assert not plan.updating
    assert "Unnested(UNNEST(names))" in as_text(plan)


def test_changes_go_through(flink: Analysis) -> None:
    query = "SELECT x FROM (SELECT user_name, COUNT(*) AS n FROM clicks GROUP BY user_name), UNNEST(ARRAY[n]) AS t (x)"
    plan = flink.plan(query)
    assert plan.changelog
    (unnested,) = (n for n in walk(plan) if isinstance(n, Unnested))
    assert unnested.changelog


@pytest.mark.parametrize(
    ("query", "first", "last"),
    [
        ("SELECT page FROM visits v WHERE v.user_name = c.user_name ORDER BY vt DESC LIMIT 1", 1, 1),
        ("SELECT page FROM visits v WHERE c.user_name = v.user_name AND page <> 'x' LIMIT 3", 1, 3),
        ("SELECT page AS p, c.amount + 1 FROM visits WHERE user_name = c.user_name ORDER BY p LIMIT 2 OFFSET 4", 5, 6),
        (f"SELECT n FROM ({PAGES}) WHERE u = c.user_name ORDER BY n DESC LIMIT 2", 1, 2),
        (f"SELECT v.page FROM {JOINED} WHERE v.user_name = c.user_name ORDER BY w.user_name LIMIT 2", 1, 2),
    ],
)
def test_first_rows_of_each_row(flink: Analysis, query: str, first: int, last: int) -> None:
    plan = flink.plan(f"SELECT c.amount, l.* FROM clicks AS c, LATERAL ({query}) AS l")
    (rank,) = (n for n in walk(plan) if isinstance(n, Rank))
    assert (rank.first, rank.last, [e.span.text.rpartition(".")[2] for e in rank.partition]) == (
        first,
        last,
        ["u" if PAGES in query else "user_name"],
    )
    # Only the first rows of a key are joined.
    (*_, join) = (n for n in walk(plan) if isinstance(n, StreamJoin) and any(m is rank for m in walk(n)))
    assert len(join.equal) == 1


@pytest.mark.parametrize(
    ("query", "columns"),
    [
        ("SELECT COUNT(*) AS n FROM visits v WHERE v.user_name = c.user_name", {"n": "BIGINT NOT NULL"}),
        (
            "SELECT page, MAX(vt), 'x' AS l FROM visits WHERE user_name = c.user_name AND page <> 'x' GROUP BY page",
            {"page": "STRING", "EXPR$1": "TIMESTAMP(3)", "l": "CHAR(1) NOT NULL"},
        ),
        ("SELECT 1 AS uno FROM visits v WHERE v.user_name = c.user_name HAVING COUNT(*) > 1", {"uno": "INT NOT NULL"}),
        ("SELECT country AS x FROM users WHERE user_name = c.user_name GROUP BY country", {"x": "STRING"}),
    ],
)
def test_groups_of_each_row(flink: Analysis, query: str, columns: dict[str, str]) -> None:
    plan = flink.plan(f"SELECT l.* FROM clicks AS c, LATERAL ({query}) AS l")
    assert {c.name: str(c.type) for c in plan.columns} == columns
    assert all(len(join.equal) == 1 for join in walk(plan) if isinstance(join, StreamJoin))
    # What nobody reads need not come out.
    assert list(flink.columns(f"SELECT c.amount FROM clicks AS c, LATERAL ({query}) AS l")) == ["amount"]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT COUNT(*) FROM visits v WHERE v.user_name > c.user_name",
        "SELECT COUNT(*) FROM visits v WHERE v.user_name = c.user_name AND v.vt < c.ts",
        "SELECT MAX(c.amount) FROM visits v WHERE v.user_name = c.user_name",
        "SELECT page FROM visits v WHERE v.user_name = c.user_name GROUP BY page HAVING MAX(vt) > c.ts",
        "SELECT page FROM visits v WHERE v.user_name = c.user_name GROUP BY page LIMIT 3",
    ],
)
def test_groups_of_more_than_a_key(flink: Analysis, query: str) -> None:
    flink.refuse(f"SELECT 1 FROM clicks AS c, LATERAL ({query}) AS l", "LATERAL-003")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT page FROM visits v WHERE v.user_name > c.user_name ORDER BY vt LIMIT 1",
        "SELECT page FROM visits v WHERE v.user_name = c.user_name OR page = 'x' ORDER BY vt LIMIT 1",
        "SELECT page FROM visits v WHERE v.user_name = c.user_name AND v.vt > c.ts ORDER BY vt LIMIT 1",
        "SELECT page FROM visits v WHERE v.user_name = c.user_name ORDER BY c.amount LIMIT 1",
        "SELECT page FROM visits v WHERE v.user_name = c.user_name ORDER BY vt",
        "SELECT page FROM visits v WHERE v.user_name = c.user_name AND page IN (SELECT country FROM users) LIMIT 1",
        "SELECT country FROM users v WHERE v.user_name = c.user_name ORDER BY since LIMIT 1",
        "SELECT c.amount AS a ORDER BY a LIMIT 1",
    ],
)
def test_first_rows_of_more_than_a_key(flink: Analysis, query: str) -> None:
    flink.refuse(f"SELECT 1 FROM clicks AS c, LATERAL ({query}) AS l", "LATERAL-002")


@pytest.mark.parametrize(
    ("from_", "code", "at"),
    [
        ("baskets, UNNEST(id) AS t (x)", "UNNEST-001", "id)"),
        ("baskets, UNNEST(names, names) AS t (x, y)", "UNNEST-003", "UNNEST"),
        ("baskets, UNNEST(names) AS t (x, y)", "NAME-007", "UNNEST"),
        ("baskets, UNNEST(items) AS t (x)", "NAME-007", "UNNEST"),
        ("baskets AS t, UNNEST(names) AS t (x)", "NAME-006", "UNNEST"),
        ("UNNEST(names) AS t (x), baskets", "NAME-003", "names"),
        ("baskets RIGHT JOIN UNNEST(names) AS t (x) ON TRUE", "LATERAL-001", "baskets"),
        ("baskets LEFT JOIN UNNEST(names) AS t (x) ON x = 'a'", "LATERAL-001", "baskets"),
        (
            "baskets AS b, LATERAL (SELECT country FROM users WHERE since > b.ts LIMIT 1) AS l",
            "LATERAL-002",
            "SELECT country",
        ),
        ("baskets AS b, LATERAL (SELECT MAX(b.id)) AS l", "LATERAL-003", "SELECT MAX"),
        ("baskets AS b, LATERAL (SELECT DISTINCT b.id) AS l", "LATERAL-003", "SELECT DISTINCT"),
        (
            "baskets AS b, LATERAL (SELECT v.country FROM users NATURAL JOIN users AS v WHERE v.since > b.ts) AS l",
            "LATERAL-004",
            "users NATURAL",
        ),
        (
            "baskets AS b LEFT JOIN LATERAL (SELECT country FROM users WHERE since > b.ts) AS l ON TRUE",
            "LATERAL-005",
            "LATERAL",
        ),
        ("baskets, LATERAL TABLE(word(names[1]))", "FUNC-004", "LATERAL"),
        ("baskets, TABLE(words(names[1]))", "NAME-003", "names"),
        ("baskets, LATERAL TABLE(words())", "FUNC-002", "LATERAL"),
        ("baskets, LATERAL TABLE(words(text => 'a'))", "FUNC-002", "LATERAL"),
    ],
)
def test_refusals(baskets: Analysis, from_: str, code: str, at: str) -> None:
    baskets.refuse(f"SELECT 1 FROM {from_}", code, at)


def test_an_unknown_type(spark_mode: Analysis) -> None:
    spark_mode.refuse("SELECT x FROM clicks, UNNEST(shuffle(map_values(tags))) AS t (x)", "UNNEST-002", "shuffle")


def test_registration() -> None:
    assert kind_of(Words) == "table"
    functions = UserFunctions()
    for returns, code in ((None, "FUNC-032"), ("a NOTYPE", "FUNC-032")):
        with pytest.raises(SqlExtError) as refused:
            functions.register("table", "words", Words, returns)
        assert refused.value.code == code
    with pytest.raises(SqlExtError) as refused:
        functions.register("table", "words", Ends, "a STRING, b INT")
    assert refused.value.code == "FUNC-030"
    functions.register("table", "words", Words, "struct<a:string,b:int>")
    found = functions.require("table", "WORDS", "FUNC-004")
    assert found.returns is not None
    assert [f.name for f in found.returns.fields] == ["a", "b"]
