"""Which numbers of rows are a Top-N, and of what range."""

from __future__ import annotations

import pytest

from sqlext.errors import SqlExtError
from sqlext.plan.base import walk
from sqlext.plan.nodes import PlanNode
from sqlext.plan.over import Over
from sqlext.plan.ranking import Rank
from sqlext_udfs.ranking.specification import ALL, Emission

from .conftest import Analysis

RANKED = "SELECT *, ROW_NUMBER() OVER (PARTITION BY page ORDER BY {by}) AS n FROM visits"


def ranks(plan: PlanNode) -> list[Rank]:
    return [n for n in walk(plan) if isinstance(n, Rank)]


@pytest.mark.parametrize(
    ("where", "first", "last"),
    [
        ("n = 1", 1, 1),
        ("n <= 3", 1, 3),
        ("n < 3", 1, 2),
        ("3 >= t.n AND page IS NOT NULL", 1, 3),
        ("n BETWEEN 2 AND 4", 2, 4),
        ("n > 1 AND (n <= 5 AND n < 4)", 2, 3),
    ],
)
def test_the_range_of_a_filter(flink: Analysis, where: str, first: int, last: int) -> None:
    (rank,) = ranks(flink.plan(f"SELECT page FROM ({RANKED.format(by='user_name')}) AS t WHERE {where}"))
    assert (rank.first, rank.last, rank.numbered, rank.retracts) == (first, last, False, True)


def test_the_filter_may_stand_further_up(flink: Analysis) -> None:
    inner = f"SELECT page AS p, n AS number FROM ({RANKED.format(by='user_name')})"
    (rank,) = ranks(flink.plan(f"WITH w AS ({inner}) SELECT * FROM w WHERE number <= 2"))
    assert (rank.last, rank.numbered) == (2, True)


def test_a_top_n_of_a_top_n(flink: Analysis) -> None:
    """The filter of the lower one stands in the SELECT that numbers again."""
    below = RANKED.format(by="user_name")
    again = f"SELECT page, ROW_NUMBER() OVER (ORDER BY page) AS m FROM ({below}) WHERE n <= 4"
    assert [r.last for r in ranks(flink.plan(f"SELECT page FROM ({again}) WHERE m <= 2"))] == [2, 4]


def test_the_first_row_by_time_is_final(flink: Analysis) -> None:
    first = f"SELECT page, vt FROM ({RANKED.format(by='vt')}) WHERE n = 1"
    (rank,) = ranks(flink.plan(first))
    assert (rank.emission, rank.retracts) == (Emission.FIRST, False)
    assert ["ROWTIME" in text for text in flink.columns(first).values()] == [False, True]


def test_the_last_row_by_time_takes_the_place_of_others(flink: Analysis) -> None:
    (rank,) = ranks(flink.plan(f"SELECT page FROM ({RANKED.format(by='vt DESC')}) WHERE n = 1"))
    assert (rank.emission, rank.retracts, rank.latest_first) == (Emission.CHANGES, True, True)


@pytest.mark.parametrize(
    ("by", "where", "latest_first"),
    [
        ("vt DESC", "n = 1", True),
        ("vt", "n = 1", False),
        ("vt DESC", "n <= 2", False),
        ("vt DESC, user_name", "n = 1", False),
        ("user_name DESC", "n = 1", False),
    ],
)
def test_the_last_row_of_a_window_is_the_one_that_came_last(
    flink: Analysis, by: str, where: str, latest_first: bool
) -> None:
    windows = "TABLE(TUMBLE(TABLE visits, DESCRIPTOR(vt), INTERVAL '1' HOUR))"
    number = f"ROW_NUMBER() OVER (PARTITION BY window_start, window_end, page ORDER BY {by})"
    (rank,) = ranks(flink.plan(f"SELECT page FROM (SELECT *, {number} AS n FROM {windows}) WHERE {where}"))
    assert (rank.emission, rank.retracts, rank.latest_first) == (Emission.WINDOW, False, latest_first)


def test_qualify_takes_an_alias(flink: Analysis) -> None:
    query = "SELECT page, RANK() OVER (PARTITION BY page ORDER BY user_name) AS r FROM visits QUALIFY r <= 2"
    (rank,) = ranks(flink.plan(query))
    assert (rank.last, rank.numbered) == (2, True)


def test_a_number_by_time_without_a_filter_is_an_over(flink: Analysis) -> None:
    plan = flink.plan(RANKED.format(by="vt"))
    assert not ranks(plan)
    assert any(isinstance(n, Over) for n in walk(plan))


@pytest.mark.parametrize("where", ["", "WHERE n >= 2", "WHERE n <= CHAR_LENGTH(page)", "WHERE n <> 1"])
def test_a_number_without_an_end_renumbers_rows(flink: Analysis, where: str) -> None:
    plan = flink.plan(f"SELECT page, n FROM ({RANKED.format(by='user_name')}) {where}")
    (rank,) = ranks(plan)
    assert (rank.first, rank.last, rank.numbered, rank.retracts, rank.bound) == (1, ALL, True, True, "")
    assert rank.what.startswith("ROW_NUMBER of all rows")


@pytest.mark.parametrize("where", ["", "WHERE n >= 2"])
@pytest.mark.parametrize("by", ["user_name DESC", "user_name, page", "vt DESC"])
def test_another_number_without_an_end_is_refused(flink: Analysis, by: str, where: str) -> None:
    with pytest.raises(SqlExtError) as refused:
        flink.run(f"SELECT page, n FROM ({RANKED.format(by=by)}) {where}")
    assert (refused.value.code, refused.value.line) == ("RANK-001", 1)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT user_name, COUNT(*) FROM {} WHERE n <= 2 GROUP BY user_name, TUMBLE(vt, INTERVAL '1' MINUTE)",
        "SELECT user_name FROM {} WHERE n <= 2 AND user_name IN (SELECT user_name FROM clicks)",
        "SELECT page FROM {} AS t WHERE n < 3 AND EXISTS (SELECT 1 FROM clicks c WHERE c.user_name = t.user_name)",
        "SELECT user_name, n FROM {} QUALIFY n <= 2",
    ],
)
def test_the_range_is_found_beside_windows_and_sub_queries(flink: Analysis, query: str) -> None:
    plan = flink.plan(query.format(f"({RANKED.format(by='user_name, page')})"))
    assert [(r.first, r.last) for r in ranks(plan)] == [(1, 2)]


_JOINED = "SELECT v.page, t.user_name FROM visits AS v {} JOIN ({}) AS t ON v.page = t.page {}"


@pytest.mark.parametrize(
    ("kind", "rest", "first", "last"),
    [
        ("LEFT", "AND t.n = 1", 1, 1),
        ("INNER", "AND t.n <= 2 AND v.user_name <> t.user_name", 1, 2),
        ("INNER", "WHERE t.n BETWEEN 2 AND 3", 2, 3),
        ("LEFT", "WHERE t.n < 3 AND v.user_name = 'a'", 1, 2),
        ("FULL", "WHERE 3 >= t.n", 1, 3),
        ("RIGHT", "WHERE t.n = 1", 1, 1),
        ("LEFT", "JOIN users AS u ON u.user_name = v.user_name WHERE t.n = 1 AND u.country = 'x'", 1, 1),
    ],
)
def test_the_range_of_a_side_of_a_join(flink: Analysis, kind: str, rest: str, first: int, last: int) -> None:
    """By several columns, so that numbers without an end are none."""
    query = _JOINED.format(kind, RANKED.format(by="user_name, vt"), rest)
    (rank,) = ranks(flink.plan(query))
    assert (rank.first, rank.last) == (first, last)


@pytest.mark.parametrize(("kind", "rest"), [("RIGHT", "AND t.n = 1"), ("FULL", "AND t.n <= 2"), ("LEFT", "")])
@pytest.mark.parametrize("null", ["", " WHERE t.n = 1 OR t.n IS NULL"])
def test_a_join_that_keeps_other_numbers_gives_no_range(flink: Analysis, kind: str, rest: str, null: str) -> None:
    query = _JOINED.format(kind, RANKED.format(by="user_name, vt"), rest + null)
    with pytest.raises(SqlExtError) as refused:
        flink.run(query)
    assert refused.value.code == "RANK-001"


def test_order_by_is_needed(flink: Analysis) -> None:
    with pytest.raises(SqlExtError) as refused:
        flink.run("SELECT * FROM (SELECT page, ROW_NUMBER() OVER (PARTITION BY page) AS n FROM visits) WHERE n = 1")
    assert refused.value.code == "OVER-002"


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("SELECT page FROM visits ORDER BY page", "ORDER-001"),
        ("SELECT page FROM visits ORDER BY vt DESC", "ORDER-001"),
        ("SELECT page FROM visits OFFSET 2", "ORDER-001"),
        ("SELECT page FROM visits LIMIT 1 + 1", "ORDER-002"),
    ],
)
def test_orders_that_a_stream_cannot_have(flink: Analysis, query: str, code: str) -> None:
    with pytest.raises(SqlExtError) as refused:
        flink.run(query)
    assert refused.value.code == code


def test_limit_is_a_top_n_of_all_rows(flink: Analysis) -> None:
    (rank,) = ranks(flink.plan("SELECT page FROM visits ORDER BY user_name LIMIT 5 OFFSET 2"))
    assert (rank.first, rank.last, rank.partition) == (3, 7, ())
    (arrival,) = ranks(flink.plan("SELECT page FROM visits LIMIT 2"))
    assert not arrival.retracts
