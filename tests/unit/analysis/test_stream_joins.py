"""Joins of two streams: which operator is planned for them, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from sqlext.plan.base import walk
from sqlext.plan.joins import JoinBound, StreamJoin
from sqlext.plan.nodes import Join
from sqlext.rewrite.script.model import OperatorView
from sqlext_udfs.expressions import cells
from sqlext_udfs.expressions import trees as core
from sqlext_udfs.joins.specification import JoinKind

from .conftest import Analysis

TABLES = """
CREATE TABLE rates (user_name STRING, rate DOUBLE, rt TIMESTAMP(3), WATERMARK FOR rt AS rt,
  PRIMARY KEY (user_name) NOT ENFORCED) WITH ('connector' = 'datagen');
CREATE TABLE log (user_name STRING, rate DOUBLE, rt TIMESTAMP(3), WATERMARK FOR rt AS rt)
WITH ('connector' = 'datagen');
CREATE TABLE keyed (user_name STRING, rate DOUBLE, PRIMARY KEY (user_name) NOT ENFORCED)
WITH ('connector' = 'datagen');
CREATE TABLE dims (user_name STRING, country STRING) WITH ('connector' = 'delta', 'path' = '/in/dims');
CREATE VIEW newest AS SELECT user_name, rate, rt FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY user_name ORDER BY rt DESC) AS n FROM log) WHERE n = 1;
"""
ON = "c.user_name = v.user_name"
#: As-of joins that are refused.
AS_OF = [
    (f"ASOF JOIN visits v ON {ON}", "PARSE-002"),
    (f"RIGHT ASOF JOIN visits v MATCH_CONDITION (c.ts >= v.vt) ON {ON}", "JOIN-009"),
    (f"ASOF JOIN visits v MATCH_CONDITION (c.ts = v.vt) ON {ON}", "JOIN-019"),
    (f"ASOF JOIN visits v MATCH_CONDITION (c.ts >= v.vt AND c.ts < v.vt) ON {ON}", "JOIN-019"),
    (f"ASOF JOIN visits v MATCH_CONDITION (c.ts >= c.ts) ON {ON}", "JOIN-019"),
    (f"ASOF JOIN visits v MATCH_CONDITION (c.amount >= v.vt) ON {ON}", "JOIN-019"),
    (f"ASOF JOIN visits v MATCH_CONDITION (c.ts >= v.nothing) ON {ON}", "NAME-003"),
    (f"ASOF JOIN visits v MATCH_CONDITION (c.ts >= v.vt) ON {ON} AND c.amount > CHAR_LENGTH(v.page)", "JOIN-020"),
    (f"ASOF JOIN newest v MATCH_CONDITION (c.ts >= v.rt) ON {ON}", "JOIN-021"),
    (f"ASOF JOIN dims v MATCH_CONDITION (c.ts >= v.country) ON {ON}", "JOIN-019"),
    (f"ASOF JOIN visits v MATCH_CONDITION (c.ts <= v.vt) ON {ON}", "JOIN-022"),
    (f"ASOF JOIN visits v MATCH_CONDITION (NEAREST(c.ts, v.vt)) ON {ON}", "JOIN-022"),
    (f"ASOF JOIN visits v MATCH_CONDITION (c.ts < v.vt) TOLERANCE INTERVAL '1' MONTH ON {ON}", "WINDOW-002"),
    (f"ASOF JOIN visits v MATCH_CONDITION (c.ts < v.vt) TOLERANCE 5 ON {ON}", "JOIN-022"),
]
WINDOWS = """TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) c {} JOIN
  TABLE(TUMBLE(TABLE visits, DESCRIPTOR(vt), INTERVAL '{}' MINUTE)) v
  ON c.window_start = v.window_start AND c.window_end = v.window_end"""


@pytest.fixture
def tables(flink: Analysis) -> Analysis:
    flink.run(TABLES)
    return flink


def _join(analysis: Analysis, query: str) -> StreamJoin:
    return next(n for n in walk(analysis.plan(query)) if isinstance(n, StreamJoin))


def _specification(analysis: Analysis, query: str) -> dict[str, Any]:
    compiled = analysis.run(query)
    assert compiled is not None
    operators = [s for s in compiled.script.steps if isinstance(s, OperatorView) and s.function == "join"]
    specification: Any = dict(operators[-1].arguments)["specification"]
    return dict(specification)


@pytest.mark.parametrize(
    ("from_", "kind", "retracts"),
    [
        (f"clicks c JOIN visits v ON {ON}", JoinKind.INNER, False),
        (f"clicks c LEFT JOIN visits v ON {ON}", JoinKind.LEFT, True),
        (f"clicks c RIGHT JOIN visits v ON {ON}", JoinKind.RIGHT, True),
        (f"clicks c FULL JOIN visits v ON {ON}", JoinKind.FULL, True),
        ("clicks c CROSS JOIN visits v", JoinKind.INNER, False),
        ("clicks c, visits v", JoinKind.INNER, False),
        ("clicks c WHERE user_name IN (SELECT user_name FROM visits)", JoinKind.SEMI, False),
        ("clicks c WHERE user_name NOT IN (SELECT user_name FROM visits)", JoinKind.ANTI, True),
        (f"clicks c WHERE EXISTS (SELECT 1 FROM visits v WHERE {ON})", JoinKind.SEMI, False),
        (f"clicks c WHERE NOT EXISTS (SELECT 1 FROM visits v WHERE {ON})", JoinKind.ANTI, True),
        (f"(SELECT user_name, COUNT(*) FROM clicks GROUP BY user_name) c JOIN visits v ON {ON}", JoinKind.INNER, True),
    ],
)
def test_regular_joins(tables: Analysis, from_: str, kind: JoinKind, retracts: bool) -> None:
    join = _join(tables, f"SELECT c.user_name FROM {from_}")
    assert (join.join, join.bounded, join.changelog, join.bound) == (kind, JoinBound.NONE, retracts, "")


@pytest.mark.parametrize(
    ("condition", "left", "right", "hold"),
    [
        ("v.vt BETWEEN c.ts AND c.ts + INTERVAL '1' HOUR", 3_600_000, 0, 3_600_000),
        ("v.vt >= c.ts - INTERVAL '2' SECOND AND v.vt < c.ts + INTERVAL '1' SECOND", 1000, 2000, 2000),
        ("c.ts = v.vt", 0, 0, 0),
        ("c.ts + INTERVAL '1' SECOND > v.vt - INTERVAL '1' SECOND AND c.ts <= v.vt", 2000, 0, 2000),
        ("v.vt BETWEEN c.ts - INTERVAL '9' SECOND AND c.ts - INTERVAL '5' SECOND", -5000, 9000, 9000),
    ],
)
def test_interval_joins(tables: Analysis, condition: str, left: int, right: int, hold: int) -> None:
    join = _join(tables, f"SELECT c.ts FROM clicks c LEFT JOIN visits v ON {ON} AND {condition}")
    assert join.bounded is JoinBound.INTERVAL
    assert join.left.time is not None
    assert join.right.time is not None
    assert (join.left.time.later, join.right.time.later, join.lag) == (left, right, hold)
    assert not join.changelog


@pytest.mark.parametrize(
    "condition",
    [
        "v.vt >= c.ts",
        "v.vt BETWEEN c.ts AND c.ts + INTERVAL '1' MONTH",
        "v.vt BETWEEN c.ts AND CAST(c.ts AS TIMESTAMP(3))",
        "v.vt > c.ts OR v.vt < c.ts",
    ],
)
def test_without_both_bounds_of_time_it_is_a_regular_join(tables: Analysis, condition: str) -> None:
    query = f"SELECT c.ts FROM clicks c JOIN visits v ON {ON} AND ({condition})"
    assert _join(tables, query).bounded is JoinBound.NONE
    assert tables.times(query) == {}


def test_rowtimes_stay_in_an_interval_join(tables: Analysis) -> None:
    query = f"SELECT c.ts, v.vt FROM clicks c, visits v WHERE {ON} AND v.vt BETWEEN c.ts AND c.ts + INTERVAL '1' DAY"
    assert tables.times(query) == {"ts": "ROWTIME", "vt": "ROWTIME"}


def test_a_window_after_a_regular_join_says_where_the_time_was_lost(tables: Analysis) -> None:
    query = f"""SELECT COUNT(*) FROM TABLE(TUMBLE((SELECT c.ts FROM clicks c JOIN visits v ON {ON}),
      DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end"""
    tables.run(f"CREATE VIEW j AS SELECT c.ts FROM clicks c JOIN visits v ON {ON}")
    query = "SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE j, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start"
    error = tables.refuse(query, "TIME-001", "ts")
    assert "a join without bounds of time" in str(error.hint)


@pytest.mark.parametrize(
    ("kind", "grouped"), [("", "c"), ("", "v"), ("LEFT", "c"), ("RIGHT", "v")], ids=lambda x: x or "INNER"
)
def test_window_joins_give_windows_to_group_by(tables: Analysis, kind: str, grouped: str) -> None:
    query = f"""SELECT {grouped}.window_start, COUNT(*) FROM {WINDOWS.format(kind, 1)} AND {ON}
      GROUP BY {grouped}.window_start, {grouped}.window_end"""
    join = _join(tables, query)
    assert (join.bounded, join.changelog, join.bound) == (JoinBound.WINDOW, False, "until the window ends")
    assert tables.plan(query).changelog is False


def test_windows_of_other_sizes_are_no_window_join(tables: Analysis) -> None:
    assert _join(tables, f"SELECT c.amount FROM {WINDOWS.format('', 2)}").bounded is JoinBound.NONE


def test_conditions_are_taken_apart(tables: Analysis) -> None:
    query = f"""SELECT c.amount, v.page FROM clicks c JOIN visits v ON {ON} AND CHAR_LENGTH(v.page) > c.amount
      AND c.amount > 3 AND v.page <> 'x' AND (c.amount = 4 OR v.page = 'y')"""
    join = _join(tables, query)
    assert [len(x) for x in (join.equal, join.conditions, join.left.filters, join.right.filters, join.rest)] == [1] * 5


def test_where_keeps_rows_from_the_state_of_inner_joins(tables: Analysis) -> None:
    join = _join(tables, f"SELECT v.page FROM clicks c, visits v WHERE {ON} AND c.amount > 3 AND v.page <> 'x'")
    assert [len(x) for x in (join.equal, join.left.filters, join.right.filters)] == [1, 1, 1]
    join = _join(tables, "SELECT amount FROM clicks WHERE user_name IN (SELECT page FROM visits) AND amount > 3")
    assert len(join.left.filters) == 1


def test_where_may_be_true_of_rows_that_an_outer_join_fills_with_null(tables: Analysis) -> None:
    query = f"""SELECT v.page FROM rates r LEFT JOIN (clicks c JOIN visits v ON {ON}) ON r.user_name = c.user_name
      WHERE COALESCE(c.amount, 0) = COALESCE(CHAR_LENGTH(v.page), 0) AND c.amount IS NULL"""
    outer, inner = [n for n in walk(tables.plan(query)) if isinstance(n, StreamJoin)]
    assert (outer.join, inner.join) == (JoinKind.LEFT, JoinKind.INNER)
    assert (len(inner.equal), inner.left.filters) == (1, ())


def test_a_condition_on_the_kept_side_alone_is_a_key(tables: Analysis) -> None:
    query = f"SELECT c.amount, v.page FROM clicks c LEFT JOIN visits v ON {ON} AND c.amount > 3 AND v.page <> 'x'"
    join = _join(tables, query)
    assert (len(join.left.needs), len(join.left.filters), len(join.right.filters)) == (1, 0, 1)
    assert _specification(tables, query)["keys"] == 2


def test_numbers_are_compared_as_one_type(tables: Analysis) -> None:
    join = _join(tables, "SELECT c.amount FROM clicks c JOIN rates r ON c.amount = r.rate AND c.amount < r.rate")
    assert [p.type.flink() for p in (*join.equal, *join.conditions) if p.type is not None] == ["DOUBLE", "DOUBLE"]


def test_only_what_is_looked_at_is_kept(tables: Analysis) -> None:
    specification = _specification(tables, f"SELECT v.page FROM clicks c JOIN visits v ON {ON} WHERE c.amount > 1")
    assert (len(specification["left"]), len(specification["right"])) == (1, 1)


def test_names_are_those_of_both_sides(tables: Analysis) -> None:
    query = f"SELECT c.user_name, v.user_name AS other FROM clicks c JOIN visits v ON {ON}"
    assert tables.columns(query) == {"user_name": "STRING", "other": "STRING"}
    tables.refuse(f"SELECT user_name FROM clicks c JOIN visits v ON {ON}", "NAME-004")
    assert tables.columns("SELECT user_name, page FROM clicks NATURAL JOIN visits") == {
        "user_name": "STRING",
        "page": "STRING",
    }
    tables.refuse(f"SELECT c.page FROM clicks c JOIN visits v ON {ON} JOIN log c ON {ON}", "NAME-006")


def test_time_to_live(tables: Analysis) -> None:
    query = f"SELECT {{}} c.amount FROM clicks c JOIN visits v ON {ON}"
    tables.run("SET 'table.exec.state.ttl' = '1 h'")
    assert _specification(tables, query.format(""))["bound"] == ("none", 3_600_000, 3_600_000)
    hint = "/*+ STATE_TTL('c' = '1 d', 'v' = '0 s') */"
    assert _specification(tables, query.format(hint))["bound"] == ("none", 86_400_000, None)
    tables.refuse(query.format("/*+ STATE_TTL('c' = 'soon') */"), "JOIN-006")


def test_not_in_takes_null_for_a_match(tables: Analysis) -> None:
    query = "SELECT amount FROM clicks c WHERE user_name NOT IN (SELECT page FROM visits v WHERE v.vt = c.ts)"
    join = _join(tables, query)
    assert (join.join, join.bounded, len(join.equal)) == (JoinKind.ANTI, JoinBound.INTERVAL, 1)
    assert [c.null_aware for c in join.conditions] == [True]


@pytest.mark.parametrize("right", ["rates", "newest"])
def test_temporal_joins(tables: Analysis, right: str) -> None:
    query = f"""SELECT c.ts, r.rate, r.rt FROM clicks c LEFT JOIN {right} FOR SYSTEM_TIME AS OF c.ts AS r
      ON c.user_name = r.user_name AND c.amount > 1 AND r.rate > 2"""
    join = _join(tables, query)
    assert (join.bounded, join.changelog, len(join.equal), len(join.conditions)) == (JoinBound.VERSION, False, 1, 1)
    assert tables.times(query) == {"ts": "ROWTIME"}


@pytest.mark.parametrize(
    ("condition", "nearest", "tolerance", "hold"),
    [
        ("c.ts >= v.vt", ">=", None, 0),
        ("v.vt < c.ts", ">", None, 0),
        ("(c.ts) <= v.vt", "<=", 5000, 5000),
        ("NEAREST(v.vt, c.ts)", "NEAREST", 5000, 5000),
        ("c.ts > v.vt", ">", 5000, 0),
    ],
)
@pytest.mark.parametrize("words", ["LEFT ASOF JOIN", "ASOF LEFT OUTER JOIN"])
def test_as_of_joins(
    tables: Analysis, words: str, condition: str, nearest: str, tolerance: int | None, hold: int
) -> None:
    within = " TOLERANCE INTERVAL '5' SECOND" if tolerance is not None else ""
    query = f"""SELECT c.ts, v.vt, v.page FROM clicks c {words} visits v MATCH_CONDITION ({condition}){within}
      ON {ON} AND c.amount > 1 AND v.page <> 'x'"""
    join = _join(tables, query)
    assert (join.bounded, join.join, join.changelog) == (JoinBound.NEAREST, JoinKind.LEFT, False)
    assert join.match is not None
    assert (join.match.nearest.value, join.match.tolerance, join.hold) == (nearest, tolerance, hold)
    # A condition on the left side decides what a row meets, one on the right side what there is to meet.
    assert [len(of) for of in (join.equal, join.left.needs, join.right.filters)] == [1, 1, 1]
    assert tables.times(query) == {"ts": "ROWTIME"}


def test_an_as_of_join_takes_using_or_no_key(tables: Analysis) -> None:
    of = "SELECT c.amount, v.page FROM clicks c ASOF JOIN visits v MATCH_CONDITION (c.ts >= v.vt)"
    assert len(_join(tables, f"{of} USING (user_name)").equal) == 1
    assert _join(tables, of).equal == ()


def test_where_does_not_choose_what_an_as_of_join_meets(tables: Analysis) -> None:
    query = f"""SELECT c.amount FROM clicks c ASOF JOIN visits v MATCH_CONDITION (c.ts >= v.vt) ON {ON}
      WHERE v.page = 'x' AND c.amount = CHAR_LENGTH(v.page)"""
    join = _join(tables, query)
    assert (len(join.equal), join.right.filters) == (1, ())


def test_asof_is_a_name_too(tables: Analysis) -> None:
    tables.plan("SELECT asof.amount FROM clicks asof WHERE asof.amount > 1")
    tables.plan("SELECT match_condition.amount FROM clicks AS match_condition")


def test_a_table_is_looked_up_by_processing_time(tables: Analysis) -> None:
    lookup = "SELECT c.amount, d.country FROM clicks c JOIN dims FOR SYSTEM_TIME AS OF c.pt AS d ON c.user_name = {}"
    (join,) = [n for n in walk(tables.plan(lookup.format("d.user_name"))) if isinstance(n, Join)]
    assert not join.right.streaming
    tables.refuse(lookup.replace("dims", "visits").format("d.user_name"), "JOIN-008")


def test_a_changing_result_is_joined_with_a_static_table_by_spark(tables: Analysis) -> None:
    query = """SELECT c.n, u.country FROM (SELECT user_name, COUNT(*) AS n FROM clicks GROUP BY user_name) c
      LEFT JOIN users u ON c.user_name = u.user_name"""
    plan = tables.plan(query)
    assert (plan.changelog, [type(n).__name__ for n in walk(plan) if isinstance(n, (Join, StreamJoin))]) == (
        True,
        ["Join"],
    )


def test_group_windows_over_an_interval_join(tables: Analysis) -> None:
    query = f"""SELECT TUMBLE_END(v.vt, INTERVAL '1' HOUR) AS e, COUNT(*) AS n FROM clicks c JOIN visits v
      ON {ON} AND v.vt BETWEEN c.ts AND c.ts + INTERVAL '1' HOUR GROUP BY TUMBLE(v.vt, INTERVAL '1' HOUR)"""
    assert tables.columns(query) == {"e": "TIMESTAMP(3)", "n": "BIGINT"}


def test_what_is_left_of_where_is_asked_alone(tables: Analysis) -> None:
    compiled = tables.run("""SELECT amount FROM clicks
      WHERE amount > 1 AND user_name IN (SELECT user_name FROM visits) AND (amount < 5 OR amount = 9)""")
    assert compiled is not None
    assert compiled.script.query.endswith("WHERE (amount > 1) AND (amount < 5 OR amount = 9))")


def test_what_is_left_of_where_beside_a_rank_is_asked_alone(flink: Analysis) -> None:
    compiled = flink.run("""SELECT amount
      FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY user_name ORDER BY amount) AS n
        FROM clicks)
      WHERE amount > 1 AND n <= 3 AND amount < 5""")
    assert compiled is not None
    assert compiled.script.query.endswith("WHERE (amount > 1) AND (amount < 5))")


@pytest.mark.parametrize(
    ("query", "code"),
    [
        (f"SELECT 1 FROM clicks c LEFT JOIN visits v ON {ON} AND CONCAT(c.user_name, v.page) = 'x'", "JOIN-001"),
        (f"SELECT 1 FROM clicks c LEFT JOIN visits v ON {ON} AND (c.ts = v.page OR v.page = 'x')", "JOIN-001"),
        ("SELECT 1 FROM clicks JOIN visits USING (nothing)", "NAME-003"),
        ("SELECT 1 FROM clicks c JOIN newest r ON r.rt BETWEEN c.ts AND c.ts + INTERVAL '1' HOUR", "JOIN-002"),
        ("SELECT 1 FROM clicks c WHERE user_name IN (SELECT user_name, page FROM visits)", "NAME-007"),
        ("SELECT 1 FROM clicks c WHERE tags IN (SELECT user_name FROM visits)", "JOIN-005"),
        ("SELECT 1 FROM clicks c WHERE EXISTS (SELECT 1 FROM visits v WHERE v.nothing = c.amount)", "NAME-003"),
        ("SELECT 1 FROM clicks c JOIN rates FOR SYSTEM_TIME AS OF c.amount AS r ON c.user_name = r.rate", "JOIN-007"),
        ("SELECT 1 FROM rates FOR SYSTEM_TIME AS OF TIMESTAMP '2024-01-01 00:00:00'", "JOIN-013"),
        (
            "SELECT 1 FROM clicks c RIGHT JOIN rates FOR SYSTEM_TIME AS OF c.ts AS r ON c.user_name = r.user_name",
            "JOIN-009",
        ),
        ("SELECT 1 FROM clicks c JOIN log FOR SYSTEM_TIME AS OF c.ts AS r ON c.user_name = r.user_name", "JOIN-010"),
        ("SELECT 1 FROM clicks c JOIN keyed FOR SYSTEM_TIME AS OF c.ts AS r ON c.user_name = r.user_name", "JOIN-011"),
        ("SELECT 1 FROM clicks c JOIN rates FOR SYSTEM_TIME AS OF c.ts AS r ON c.amount > r.rate", "JOIN-012"),
        *((f"SELECT 1 FROM clicks c {query}", code) for query, code in AS_OF),
    ],
)
def test_refused(tables: Analysis, query: str, code: str) -> None:
    tables.refuse(query, code)


def test_conditions_that_compare_no_side_with_the_other(tables: Analysis) -> None:
    """What looks at one side alone is SQL's; the operator combines it."""
    asked = "(c.amount + CHAR_LENGTH(v.page) > 3 OR UPPER(v.page) = 'X' AND NOT c.amount IN (1, 2))"
    compiled = tables.run(f"SELECT c.amount, v.page FROM clicks c LEFT JOIN visits v ON {ON} AND {asked}")
    assert compiled is not None
    (join,) = (n for n in walk(compiled.plan) if isinstance(n, StreamJoin))
    assert join.rest == ()
    assert [e.span.text for e in join.left.values] == ["c.amount", "NOT c.amount IN (1, 2)"]
    assert [e.span.text for e in join.right.values] == ["CHAR_LENGTH(v.page)", "UPPER(v.page) = 'X'"]
    amount, length = core.Cell(0, 0), core.Cell(0, 1)
    total = core.Arithmetic("+", amount, length, core.Number("INT"))
    more = core.And((core.Cell(1, 1), core.Cell(1, 0)))
    assert join.asked == (core.Or((core.Compare(">", total, core.Constant(3)), more)),)


@pytest.mark.parametrize(
    ("asked", "count"),
    [
        ("CASE WHEN c.amount > CHAR_LENGTH(v.page) THEN c.amount ELSE 0 END > 3", 3),
        ("CASE c.amount WHEN CHAR_LENGTH(v.page) THEN 1 END IS NULL", 2),
        ("COALESCE(v.page, c.user_name) = 'x'", 2),
        ("NULLIF(c.amount, CHAR_LENGTH(v.page)) IS NOT NULL", 3),
        ("ABS(c.amount - CHAR_LENGTH(v.page)) BETWEEN 1 AND 5", 12),
        ("GREATEST(c.amount, CHAR_LENGTH(v.page), 3) = LEAST(c.amount, CHAR_LENGTH(v.page))", 4),
        ("TIMESTAMPDIFF(MINUTE, c.ts, v.vt) > 5", 2),
        ("c.user_name LIKE CONCAT(v.page, '%')", 2),
        ("c.amount / CHAR_LENGTH(v.page) > 2", 2),
    ],
)
def test_functions_of_both_sides_of_an_outer_join(flink: Analysis, asked: str, count: int) -> None:
    compiled = flink.run(f"SELECT c.amount, v.page FROM clicks c LEFT JOIN visits v ON {ON} AND {asked}")
    assert compiled is not None
    (join,) = (n for n in walk(compiled.plan) if isinstance(n, StreamJoin))
    assert join.rest == ()
    (tree,) = join.asked
    found = list(cells.cells(tree))
    assert {c.group for c in found} == {0, 1}
    assert len(found) == count
    assert cells.with_cells(tree, lambda cell: cell.value) == tree


@pytest.mark.parametrize(
    "asked",
    [
        "TIMESTAMPDIFF(MONTH, c.ts, v.vt) > 5",
        "c.user_name SIMILAR TO CONCAT(v.page, '%')",
        "c.user_name LIKE v.page ESCAPE c.user_name",
        "c.user_name || v.page = 'x'",
    ],
)
def test_what_no_outer_join_computes(tables: Analysis, asked: str) -> None:
    tables.refuse(f"SELECT 1 FROM clicks c LEFT JOIN visits v ON {ON} AND {asked}", "JOIN-001")


def test_full_join_using(tables: Analysis) -> None:
    """The common column comes first, and is that of the side that has the row."""
    using = "clicks c FULL JOIN visits v USING (user_name)"
    assert next(iter(tables.columns(f"SELECT * FROM {using}"))) == "user_name"
    compiled = tables.run(f"SELECT user_name, c.user_name AS mine, v.user_name AS theirs FROM {using}")
    assert compiled is not None
    assert "COALESCE" in compiled.script.query.upper()
    assert [c.name for c in compiled.plan.columns] == ["user_name", "mine", "theirs"]


def test_full_join_using_of_static_tables(tables: Analysis) -> None:
    tables.run("SET 'execution.runtime-mode' = 'batch'")
    compiled = tables.run("SELECT user_name FROM clicks c FULL JOIN visits v USING (user_name)")
    assert compiled is not None
    assert "COALESCE" in compiled.script.query.upper()


ARRIVALS = "CREATE TABLE pages (page STRING, n INT, pt AS PROCTIME()) WITH ('connector' = 'datagen')"


@pytest.mark.parametrize("kind", ["", "LEFT ", "FULL "])
def test_interval_joins_by_processing_time(tables: Analysis, kind: str) -> None:
    tables.run(ARRIVALS)
    bounds = "v.pt BETWEEN c.pt - INTERVAL '5' SECOND AND c.pt + INTERVAL '1' MINUTE"
    query = f"SELECT c.amount, v.n, c.pt FROM clicks c {kind}JOIN pages v ON c.user_name = v.page AND {bounds}"
    plan = tables.plan(query)
    (join,) = (n for n in walk(plan) if isinstance(n, StreamJoin))
    assert join.bounded is JoinBound.ARRIVAL
    assert (join.event_time, join.uses_clock, join.ends) == (False, True, bool(kind))
    assert join.bound == "left rows for 60000 ms of processing time, right rows for 5000 ms of processing time"
    assert join.conditions == ()
    assert not plan.changelog
    assert tables.times(query) == {"pt": "PROCTIME"}


def test_processing_time_is_no_rowtime(tables: Analysis) -> None:
    """A rowtime and a processing time bound nothing."""
    tables.run(ARRIVALS)
    query = "SELECT 1 FROM instants i JOIN pages v ON v.pt BETWEEN i.rt AND i.rt + INTERVAL '1' MINUTE"
    (join,) = (n for n in walk(tables.plan(query)) if isinstance(n, StreamJoin))
    assert join.bounded is JoinBound.NONE
