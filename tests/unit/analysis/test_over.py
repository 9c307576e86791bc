"""OVER over a stream: how it is planned, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from sqlext.plan.base import walk
from sqlext.plan.explain import as_text
from sqlext.plan.over import Over, RunningOver
from sqlext.rewrite.script.model import OperatorView

from .conftest import Analysis

W = "OVER (PARTITION BY user_name ORDER BY ts)"
C = "OVER (PARTITION BY c.user_name ORDER BY ts)"


def _overs(analysis: Analysis, query: str) -> list[Over]:
    return [n for n in walk(analysis.plan(query)) if isinstance(n, Over)]


def _calls(analysis: Analysis, query: str) -> list[Any]:
    """Return what the operators compute, the lowest first."""
    compiled = analysis.run(query)
    assert compiled is not None
    operators = [s for s in compiled.script.steps if isinstance(s, OperatorView) and s.function == "over"]
    return [dict(dict(o.arguments)["specification"])["calls"] for o in operators]  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("window", "frame"),
    [
        ("ORDER BY ts", ("RANGE", None)),
        ("ORDER BY ts ROWS UNBOUNDED PRECEDING", ("ROWS", None)),
        ("ORDER BY ts ROWS 3 PRECEDING", ("ROWS", 3)),
        ("ORDER BY ts ROWS BETWEEN 3 PRECEDING AND CURRENT ROW", ("ROWS", 3)),
        ("ORDER BY ts ROWS CURRENT ROW", ("ROWS", 0)),
        ("ORDER BY ts RANGE BETWEEN INTERVAL '1' MINUTE PRECEDING AND CURRENT ROW", ("RANGE", 60_000)),
        ("ORDER BY ts RANGE INTERVAL '1 02' DAY TO HOUR PRECEDING", ("RANGE", 93_600_000)),
        ("ORDER BY pt", ("RANGE", None)),
        ("PARTITION BY user_name ORDER BY PROCTIME() ROWS 1 PRECEDING", ("ROWS", 1)),
    ],
)
def test_frames(flink: Analysis, window: str, frame: tuple[str, int | None]) -> None:
    assert _calls(flink, f"SELECT COUNT(*) OVER ({window}) FROM clicks") == [(("count", (), frame, False, ()),)]


def test_windows_of_the_same_rows_share_an_operator_and_others_have_their_own(flink: Analysis) -> None:
    query = f"""SELECT SUM(amount) OVER w, COUNT(*) OVER (w ROWS 2 PRECEDING), LAG(amount, 2) {W},
      MAX(amount) OVER (ORDER BY ts), MIN(amount) OVER (PARTITION BY UPPER(user_name) ORDER BY pt)
      FROM clicks WINDOW w AS (PARTITION BY user_name ORDER BY ts)"""
    assert [[f.call.function for f in o.functions] for o in reversed(_overs(flink, query))] == [
        ["SUM", "COUNT", "LAG"],
        ["MAX"],
        ["MIN"],
    ]


def test_what_is_asked_for_twice_is_kept_once(flink: Analysis) -> None:
    query = f"SELECT AVG(amount) {W}, SUM(amount) {W} + 1, COUNT(amount) {W}, SUM(amount) {W} FROM clicks"
    ((total, count),) = _calls(flink, query)
    assert (total[0], count[0]) == ("sum", "count")


def test_the_rowtime_stays_one(flink: Analysis) -> None:
    query = "SELECT window_start, MAX(n) FROM TABLE(TUMBLE(TABLE o, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"
    flink.run(f"CREATE TEMPORARY VIEW o AS SELECT ts, COUNT(*) {W} AS n FROM clicks")
    assert list(flink.columns(f"{query} GROUP BY window_start, window_end")) == ["window_start", "EXPR$1"]


@pytest.mark.parametrize("function", ["ROW_NUMBER", "RANK", "DENSE_RANK"])
def test_numbers_by_time_need_no_filter(flink: Analysis, function: str) -> None:
    query = f"SELECT {function}() {W} AS n FROM clicks"
    ((call,),) = _calls(flink, query)
    assert call[0] == function.lower()
    assert not flink.plan(query).changelog
    flink.refuse(f"SELECT {function}() OVER (ORDER BY ts ROWS 1 PRECEDING) FROM clicks", "OVER-110", "ROWS")


def test_numbers_join_the_operator_of_other_functions_over_the_same_rows(flink: Analysis) -> None:
    query = f"SELECT RANK() {W}, SUM(amount) {W}, ROW_NUMBER() {W}, ROW_NUMBER() OVER (ORDER BY pt) FROM clicks"
    assert [[c[0] for c in calls] for calls in _calls(flink, query)] == [["sum", "rank", "row_number"], ["row_number"]]


def test_over_a_grouping_and_in_qualify(flink: Analysis) -> None:
    query = """SELECT user_name, SUM(COUNT(*)) OVER (ORDER BY window_time) AS n
      FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
      GROUP BY user_name, window_start, window_end, window_time"""
    assert flink.columns(query) == {"user_name": "STRING", "n": "BIGINT"}
    query = f"SELECT user_name FROM clicks QUALIFY SUM(amount) {W} > 5"
    assert flink.columns(query) == {"user_name": "STRING"}
    assert len(_overs(flink, query)) == 1


def test_the_frame_of_lag_is_its_offset(flink: Analysis) -> None:
    text = as_text(flink.plan(f"SELECT LAG(amount, 3) {W} FROM clicks"))
    assert "Over(OVER by user_name in the order of ts; state: 3 rows of each key)" in text


@pytest.mark.parametrize(
    ("item", "code", "at", "message"),
    [
        ("SUM(amount) OVER v", "OVER-001", "OVER v", "there is no window `v`"),
        (f"SUM(amount + COUNT(*) {W}) OVER (ORDER BY ts)", "OVER-101", "COUNT", "COUNT OVER stands inside another"),
        (f"NTILE(2) {W}", "OVER-102", "NTILE", "NTILE needs all rows of its partition"),
        ("PERCENT_RANK() OVER (ORDER BY amount)", "OVER-102", "PERCENT_RANK", "needs all rows of its partition"),
        (f"UPPER(user_name) {W}", "OVER-103", "UPPER", "OVER needs an aggregate function; UPPER is none"),
        (f"LAG(amount, amount) {W}", "OVER-104", "amount)", "LAG goes back by a number of rows"),
        (f"LAG(amount) IGNORE NULLS {W}", "OVER-104", "LAG", "LAG takes NULLs for values"),
        ("SUM(amount) OVER ()", "OVER-105", "SUM", "SUM OVER is ordered by one time attribute"),
        ("SUM(amount) OVER (ORDER BY ts, extra.a)", "OVER-105", "extra.a", "SUM OVER is ordered by one time attribute"),
        ("SUM(amount) OVER (ORDER BY ts DESC)", "OVER-106", "ts DESC", "goes forward in time"),
        ("SUM(amount) OVER (ORDER BY amount DESC)", "OVER-114", "amount DESC", "goes up from the least one"),
        ("LEAD(amount) OVER (ORDER BY amount)", "OVER-114", "LEAD", "in the order of time, and not of a value"),
        ("FIRST_VALUE(amount) OVER (ORDER BY user_name)", "OVER-114", "FIRST_VALUE", "in the order of time"),
        ("SUM(amount) OVER (ORDER BY amount ROWS 2 PRECEDING)", "OVER-114", "ROWS 2", "all rows up to this one"),
        (
            "SUM(amount) OVER (ORDER BY amount ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING)",
            "OVER-114",
            "ROWS",
            "all rows up to this one",
        ),
        ("SUM(DISTINCT amount) OVER (ORDER BY amount + 1)", "OVER-114", "SUM", "SUM(DISTINCT ...) OVER"),
        ("COUNT(clicks.*) OVER (ORDER BY ts)", "OVER-115", "clicks.*", "several columns"),
        ("COUNT(clicks.*) OVER (ORDER BY amount)", "OVER-115", "clicks.*", "several columns"),
        ("LAG(amount, amount) OVER (ORDER BY amount)", "OVER-104", "amount) OVER", "LAG goes back by a number of rows"),
        ("LAG(amount, 1, 'x') OVER (ORDER BY amount)", "OVER-104", "'x'", "`'x'`, is CHAR(1) NOT NULL"),
        ("LAG(amount, 1, 'x') OVER (ORDER BY ts)", "OVER-104", "'x'", "`'x'`, is CHAR(1) NOT NULL"),
        ("LEAD(amount, 1, 'x') OVER (ORDER BY ts)", "OVER-104", "'x'", "the default of LEAD"),
        ("LEAD(amount, -1) OVER (ORDER BY ts)", "OVER-104", "-1", "LEAD goes on by a number of rows"),
        (f"LEAD(amount) IGNORE NULLS {W}", "OVER-104", "LEAD", "LEAD takes NULLs for values"),
        ("LAG(amount) OVER (ORDER BY ts ROWS 1 PRECEDING)", "OVER-110", "ROWS 1", "LAG has no ROWS"),
        ("LEAD(amount) OVER (ORDER BY ts ROWS 1 PRECEDING)", "OVER-110", "ROWS 1", "LEAD has no ROWS"),
        ("LEAD(amount) OVER (ORDER BY pt)", "OVER-111", "LEAD", "processing time has none"),
        ("SUM(amount) OVER (ORDER BY pt ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)", "OVER-111", "SUM", "processing"),
        ("SUM(amount) OVER (ORDER BY ts ROWS UNBOUNDED FOLLOWING)", "OVER-111", "UNBOUNDED", "UNBOUNDED FOLLOWING"),
        (
            "SUM(amount) OVER (ORDER BY ts ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)",
            "OVER-111",
            "UNBOUNDED",
            "a stream has no last row",
        ),
        ("SUM(amount) OVER (ORDER BY ts ROWS 2 FOLLOWING)", "OVER-111", "2 F", "begins before it ends"),
        (
            "SUM(amount) OVER (ORDER BY ts ROWS BETWEEN 1 PRECEDING AND 2 PRECEDING)",
            "OVER-111",
            "1 PRECEDING AND",
            "begins before it ends",
        ),
        (
            "SUM(amount) OVER (ORDER BY ts RANGE BETWEEN UNBOUNDED PRECEDING AND INTERVAL '1' SECOND PRECEDING)",
            "OVER-111",
            "RANGE",
            "up to a time before the row",
        ),
        (
            "COUNT(DISTINCT amount) OVER (ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING)",
            "OVER-111",
            "ROWS",
            "DISTINCT over all rows",
        ),
        (
            "SUM(amount) OVER (ORDER BY ts ROWS BETWEEN CURRENT ROW AND INTERVAL '1' SECOND FOLLOWING)",
            "OVER-113",
            "INTERVAL",
            "a number of",
        ),
        ("SUM(amount) OVER (ORDER BY ts RANGE 5 PRECEDING)", "OVER-112", "5 P", "it takes an interval"),
        ("SUM(amount) OVER (ORDER BY ts RANGE INTERVAL '1' MONTH PRECEDING)", "WINDOW-002", "INTERVAL", "MONTH"),
        ("SUM(amount) OVER (ORDER BY ts ROWS INTERVAL '1' SECOND PRECEDING)", "OVER-113", "INTERVAL", "a number of"),
        ("SUM(amount) OVER (ORDER BY ts ROWS -1 PRECEDING)", "OVER-113", "-1", "a number of rows"),
    ],
)
def test_refusals(flink: Analysis, item: str, code: str, at: str, message: str) -> None:
    assert message in flink.refuse(f"SELECT {item} FROM clicks", code, at).message


def test_a_changing_input_is_refused(flink: Analysis) -> None:
    below = "SELECT user_name, COUNT(*) AS n FROM clicks GROUP BY user_name"
    flink.refuse(f"SELECT SUM(n) OVER (ORDER BY PROCTIME()) FROM ({below})", "OVER-107", "SUM")


@pytest.mark.parametrize(
    ("items", "below", "functions"),
    [
        ("SUM(amount) OVER (PARTITION BY user_name ORDER BY amount)", "clicks", 1),
        ("COUNT(*) OVER w, AVG(amount) OVER w", "clicks WINDOW w AS (ORDER BY amount + 1)", 2),
        (
            "MAX(amount) OVER (ORDER BY amount ROWS UNBOUNDED PRECEDING), LAG(amount) OVER (ORDER BY amount)",
            "clicks",
            2,
        ),
        ("SUM(n) OVER (ORDER BY n)", "(SELECT user_name, COUNT(*) AS n FROM clicks GROUP BY user_name)", 1),
        ("COUNT(*) OVER (ORDER BY t)", "(SELECT DISTINCT ts AS t FROM clicks)", 1),
    ],
)
def test_an_order_that_is_no_time_makes_an_updating_result(
    flink: Analysis, items: str, below: str, functions: int
) -> None:
    plan = flink.plan(f"SELECT {items} FROM {below}")
    (running,) = (n for n in walk(plan) if isinstance(n, RunningOver))
    assert (len(running.functions), plan.changelog, running.bound) == (functions, True, "")


def test_an_average_of_decimals_divides_the_sum_that_spark_has(spark_mode: Analysis) -> None:
    compiled = spark_mode.run(
        "SELECT AVG(d) OVER (ORDER BY d) FROM (SELECT CAST(amount AS DECIMAL(10, 2)) AS d FROM clicks)"
    )
    assert "AS DECIMAL(20, 2)) / nullif(" in str(compiled)


def test_both_orders_in_one_select(flink: Analysis) -> None:
    """Functions by time are computed first: they take rows that stay."""
    plan = flink.plan("SELECT SUM(amount) OVER (ORDER BY amount), COUNT(*) OVER (ORDER BY ts) FROM clicks")
    assert [type(n) for n in walk(plan) if isinstance(n, (Over, RunningOver))] == [RunningOver, Over]


def test_a_time_that_was_lost_is_told(flink: Analysis) -> None:
    query = "SELECT COUNT(DISTINCT t) OVER (ORDER BY t) FROM (SELECT CAST(ts AS TIMESTAMP(3)) AS t FROM clicks)"
    assert "CAST" in str(flink.refuse(query, "TIME-001", "t) FROM (").hint)


def test_over_stands_in_no_condition_of_rows(flink: Analysis) -> None:
    flink.refuse(f"SELECT amount FROM clicks WHERE COUNT(*) {W} > 1", "OVER-108", "COUNT")
    flink.refuse(f"SELECT MAX(amount) FROM clicks HAVING COUNT(*) {W} > 1", "OVER-108", "COUNT")


@pytest.mark.parametrize(
    ("items", "columns"),
    [
        ("COUNT(*) OVER (ORDER BY pt)", []),
        (f"c.extra.a, MAX(tags['a']) {C}", ["user_name", "ts", "extra", "tags"]),
        (
            f"u.*, COUNT(*) {C}",
            ["user_name", "ts", "user_name_1", "country", "since"],
        ),
    ],
)
def test_only_columns_that_are_looked_at_are_kept(flink: Analysis, items: str, columns: list[str]) -> None:
    (over,) = _overs(flink, f"SELECT {items} FROM clicks AS c LEFT JOIN users AS u ON amount = 1 WHERE amount > 0")
    assert [c for c in over.physical_columns() if not c.startswith("__over")] == columns


@pytest.mark.parametrize(
    ("frame", "kept"),
    [
        ("ROWS BETWEEN 2 PRECEDING AND 3 FOLLOWING", ("ROWS", 2, 3)),
        ("ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING", ("ROWS", None, -1)),
        ("ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING", ("ROWS", -1, 2)),
        ("RANGE BETWEEN CURRENT ROW AND INTERVAL '5' SECOND FOLLOWING", ("RANGE", 0, 5_000)),
        ("RANGE BETWEEN INTERVAL '9' SECOND PRECEDING AND INTERVAL '4' SECOND PRECEDING", ("RANGE", 9_000, -4_000)),
        ("ROWS BETWEEN 2 PRECEDING AND CURRENT ROW", ("ROWS", 2)),
    ],
)
def test_the_operator_is_told_the_frame(flink: Analysis, frame: str, kept: tuple[object, ...]) -> None:
    ((call,),) = _calls(flink, f"SELECT SUM(amount) OVER (ORDER BY ts {frame}) FROM clicks")
    assert call[2] == kept


def test_the_rowtime_stays_one_where_rows_wait_for_time(flink: Analysis) -> None:
    """A window above waits as long as they do."""
    items = "ts, COUNT(*) OVER (ORDER BY ts RANGE BETWEEN CURRENT ROW AND INTERVAL '1' HOUR FOLLOWING) AS n"
    plan = flink.plan(f"SELECT {items} FROM clicks")
    assert [c.name for c in plan.columns if c.is_rowtime] == ["ts"]
    (over,) = (n for n in walk(plan) if isinstance(n, Over))
    assert (over.lag, over.grows) == (3_600_000, False)
    assert "state: rows that wait 3600000 ms" in as_text(plan)


def test_the_rowtime_is_none_where_rows_wait_for_rows(flink: Analysis) -> None:
    flink.run(f"CREATE TEMPORARY VIEW o AS SELECT ts, LEAD(amount, 2) {W} AS n FROM clicks")
    query = "SELECT window_start, MAX(n) FROM TABLE(TUMBLE(TABLE o, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"
    error = flink.refuse(f"{query} GROUP BY window_start, window_end", "TIME-001")
    assert "comes out at no certain time" in f"{error.message} {error.hint}"
    text = as_text(flink.plan(f"SELECT LEAD(amount, 2) {W} FROM clicks"))
    assert "state: the last 2 rows of each key" in text


def test_functions_that_wait_alike_are_computed_together(flink: Analysis) -> None:
    """Those that wait for rows are the last: they need the rowtime that they take away."""
    frames = ["RANGE BETWEEN CURRENT ROW AND INTERVAL '1' SECOND FOLLOWING", "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING"]
    sums = ", ".join(f"SUM(amount) OVER (PARTITION BY user_name ORDER BY ts {f}) AS s{i}" for i, f in enumerate(frames))
    query = f"SELECT LEAD(amount) {W} AS l, {sums}, COUNT(*) {W} AS n, MAX(amount) {W} AS m, ts FROM clicks"
    assert [[c[0] for c in calls] for calls in _calls(flink, query)] == [["count", "max"], ["sum"], ["lead", "sum"]]
    assert flink.times(query) == {}


def test_lead_has_a_default_where_there_is_no_row(flink: Analysis) -> None:
    query = f"SELECT LEAD(amount, 2, -1) {W} AS l FROM clicks"
    assert flink.columns(query) == {"l": "INT"}
    ((call,),) = _calls(flink, query)
    assert call[:1] == ("lead",)
    assert call[2] == ("ROWS", 0, 2)


def test_windows_are_values_where_rows_wait_for_rows(flink: Analysis) -> None:
    """Their rows come when the window is over already: grouped by it, all of them would be late."""
    windows = "TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"
    below = f"SELECT window_start, window_end, LEAD(amount) {W} AS l FROM {windows}"
    plan = flink.plan(f"SELECT window_start, window_end, MAX(l) FROM ({below}) GROUP BY window_start, window_end")
    assert plan.updating
    flink.refuse(f"SELECT window_start, MAX(l) FROM ({below}) GROUP BY window_start EMIT AFTER WATERMARK", "EMIT-103")


def test_a_rank_beside_it_goes_by_a_value(flink: Analysis) -> None:
    """The time is none any more, so a rank by it may change: its result is updating, and right."""
    assert flink.plan(f"SELECT LEAD(amount) {W} AS l, ROW_NUMBER() {W} AS n FROM clicks").changelog


def test_what_is_said_of_rows_that_wait_without_end(flink: Analysis) -> None:
    """A time to live would not end them."""
    settings = "SET 'sqlext.unbounded-state' = 'error'; SET 'table.exec.state.ttl' = '1 h'; "
    error = flink.refuse(f"{settings}SELECT LEAD(amount) {W} FROM clicks", "STATE-001")
    assert error.hint is not None
    assert error.hint.startswith("RANGE ... FOLLOWING waits for a time")


def test_items_below_over_have_the_names_that_they_have_alone(flink: Analysis) -> None:
    query = """SELECT user_name, SUM(amount), SUM(amount) + 1, (user_name) AS u, ROW_NUMBER() OVER (
      PARTITION BY window_start, window_end ORDER BY SUM(amount)) + COUNT(*)
      FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY user_name, window_start, window_end
      QUALIFY ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY SUM(amount)) <= 2"""
    assert list(flink.columns(query)) == ["user_name", "EXPR$1", "EXPR$2", "u", "EXPR$4"]
