"""Windows with an offset of each row: what is one, which groupings take it, and what is refused."""

from __future__ import annotations

import re

import pytest

from sqlext.analysis.inserts.fingerprint import fingerprint
from sqlext.errors import SqlExtError
from sqlext.plan.base import walk
from sqlext.plan.explain import as_text
from sqlext.plan.grouping import Aggregate
from sqlext.plan.nodes import AssignWindows, ComputeOffset, Scan
from sqlext.rewrite.rules.order import apply_rules
from sqlext.watermarks.ends import RowEnds

from .conftest import Analysis

DAY = 86_400_000
OFFSET = "amount * INTERVAL '1' HOUR"
CALLS = {
    "TUMBLE": "TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' DAY, {offset})",
    "HOP": "HOP(TABLE clicks, DESCRIPTOR(ts), INTERVAL '6' HOUR, INTERVAL '1' DAY, {offset})",
    "CUMULATE": "CUMULATE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '6' HOUR, INTERVAL '1' DAY, {offset})",
    "MONTHS": "TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MONTH, {offset})",
    "BY NAME": "TUMBLE(OFFSET => {offset}, SIZE => INTERVAL '1' DAY, TIMECOL => DESCRIPTOR(ts), DATA => TABLE clicks)",
}
TUMBLE = CALLS["TUMBLE"].format(offset=OFFSET)
GROUPED = f"SELECT user_name, COUNT(*) AS n FROM TABLE({TUMBLE}) GROUP BY user_name, amount, window_start, window_end"


def grouped(call: str, keys: str = "amount, window_start, window_end") -> str:
    return f"SELECT COUNT(*) AS n FROM TABLE({call}) GROUP BY {keys}"


@pytest.mark.parametrize("offset", [OFFSET, "amount", "amount * 1000", "CASE amount WHEN 1 THEN INTERVAL '9' HOUR END"])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_each_row_has_its_offset(flink: Analysis, call: str, offset: str) -> None:
    plan = flink.plan(grouped(call.format(offset=offset)))
    (computed,) = (n for n in walk(plan) if isinstance(n, ComputeOffset))
    assert computed.interval is ("INTERVAL" in offset)
    (assigned,) = (n for n in walk(plan) if isinstance(n, AssignWindows))
    assert assigned.custom
    assert all(c.physical != "__offset" for c in assigned.columns)


@pytest.mark.parametrize("offset", ["INTERVAL '9' HOUR", "-INTERVAL '9' HOUR", "(INTERVAL '0' DAY)"])
def test_a_literal_is_no_offset_of_each_row(flink: Analysis, offset: str) -> None:
    plan = flink.plan(grouped(CALLS["TUMBLE"].format(offset=offset)))
    assert all(not isinstance(n, ComputeOffset) for n in walk(plan))


def test_the_offset_is_no_column_of_the_result(flink: Analysis) -> None:
    columns = flink.columns(f"SELECT * FROM TABLE({TUMBLE})")
    assert [c for c in columns if c.startswith(("_", "w"))] == ["window_start", "window_end", "window_time"]


def test_explain_shows_it_and_spark_keeps_the_groups(flink: Analysis) -> None:
    plan = flink.plan(GROUPED)
    text = as_text(plan)
    assert "path:            native" in text
    assert f"AssignWindows(TUMBLE({DAY} ms, an offset of each row) on ts)" in text
    assert f"ComputeOffset({OFFSET} of each row)" in text
    assert next(n for n in walk(plan) if isinstance(n, Aggregate)).kept is None


def test_under_emit_the_operator_is_given_the_windows(flink: Analysis) -> None:
    for query in (f"{GROUPED} EMIT AFTER WATERMARK EARLY EVERY ROW ALLOW LATENESS 1d", f"{GROUPED} EMIT CHANGES"):
        node = next(n for n in walk(flink.plan(query)) if isinstance(n, Aggregate))
        assert node.kept is not None
        assert node.kept.given


def test_a_scan_knows_no_grid_of_ends(flink: Analysis) -> None:
    assert [n.ends for n in walk(apply_rules(flink.plan(GROUPED))) if isinstance(n, Scan)] == [(RowEnds(DAY),)]


def test_idle_inputs_close_windows_by_whole_minutes_up_to_the_last_end() -> None:
    ends = RowEnds(DAY)
    assert ends.until(90_000, 0) == 60_000
    assert ends.until(DAY - 1, 0) == DAY - 60_000
    assert ends.until(3 * DAY, 5) == DAY + 5
    assert ends.after(0, 0) is None


def test_another_offset_is_another_query(flink: Analysis) -> None:
    def parts(query: str) -> dict[str, tuple[str, str]]:
        compiled = flink.run(f"INSERT INTO snk {query}")
        assert compiled is not None
        assert compiled.insert is not None
        return fingerprint(compiled.insert, "UTC", "flink", "none")

    same = GROUPED.replace("amount * INTERVAL", "(amount)  *  INTERVAL")
    other = GROUPED.replace("'1' HOUR", "'2' HOUR")
    assert parts(GROUPED)["window offset"][1] == parts(same)["window offset"][1]
    assert parts(GROUPED)["window offset"][1] != parts(other)["window offset"][1]
    assert parts(GROUPED)["window"][1] != parts(GROUPED.replace(f", {OFFSET}", ""))["window"][1]


TAKEN = {
    "the column is a key": grouped(TUMBLE),
    "beside other keys": grouped(TUMBLE, "user_name, amount, window_start, window_end"),
    "with another name": f"SELECT a, COUNT(*) FROM (SELECT amount AS a, * FROM TABLE({TUMBLE})) "
    "GROUP BY a, window_start, window_end",
    "computed in a sub-query": grouped(
        TUMBLE.replace(OFFSET, "o").replace("TABLE clicks", f"TABLE (SELECT *, {OFFSET} AS o FROM clicks)"),
        "o, window_start, window_end",
    ),
    "in every grouping set": grouped(TUMBLE, "GROUPING SETS ((amount, user_name), (amount)), window_start, window_end"),
    "beside a rollup": grouped(TUMBLE, "amount, ROLLUP (user_name), window_start, window_end"),
    "distinct": f"SELECT DISTINCT amount, window_start, window_end FROM TABLE({TUMBLE})",
    "windows of results": "SELECT amount, SUM(n) FROM (SELECT amount, user_name, window_start, window_end, "
    f"COUNT(*) AS n FROM TABLE({TUMBLE}) GROUP BY amount, user_name, window_start, window_end) "
    "GROUP BY amount, window_start, window_end",
    "a union, whose windows are values": "SELECT amount, COUNT(*) FROM ("
    "SELECT amount, window_start, window_end FROM TABLE({0}) UNION ALL "
    "SELECT 1, window_start, window_end FROM TABLE({0})) GROUP BY amount, window_start, window_end",
    "no grouping": f"SELECT user_name, window_start FROM TABLE({TUMBLE})",
    "no group by the window": f"SELECT user_name, MAX(window_start) FROM TABLE({TUMBLE}) GROUP BY user_name",
    "nothing of the row": grouped(CALLS["TUMBLE"].format(offset="INTERVAL '1' HOUR * 2"), "window_start, window_end"),
    "a join with a static table": "SELECT amount, country, COUNT(*) FROM "
    f"TABLE({TUMBLE}) AS w JOIN users AS u ON w.user_name = u.user_name "
    "GROUP BY amount, country, window_start, window_end",
}


@pytest.mark.parametrize("query", TAKEN.values(), ids=TAKEN)
def test_taken(flink: Analysis, query: str) -> None:
    flink.plan(query.replace("{0}", TUMBLE))


OVERLAPPING = {
    "another key": grouped(TUMBLE, "user_name, window_start, window_end"),
    "no key": grouped(TUMBLE, "window_start, window_end"),
    "one of two columns": grouped(
        CALLS["HOP"].format(offset="(amount + CHAR_LENGTH(user_name)) * INTERVAL '1' HOUR"),
        "user_name, window_start, window_end",
    ),
    "a key that is computed of it": grouped(TUMBLE, "amount + 1, window_start, window_end"),
    "in one grouping set only": grouped(TUMBLE, "GROUPING SETS ((amount), ()), window_start, window_end"),
    "a rollup": grouped(TUMBLE, "ROLLUP (amount), window_start, window_end"),
    "another column of that name": f"SELECT amount, COUNT(*) FROM (SELECT 1 AS amount, window_start, window_end "
    f"FROM TABLE({TUMBLE})) GROUP BY amount, window_start, window_end",
    "distinct": f"SELECT DISTINCT user_name, window_start, window_end FROM TABLE({TUMBLE})",
    "windows of results": "SELECT user_name, SUM(n) FROM (SELECT amount, user_name, window_start, window_end, "
    f"COUNT(*) AS n FROM TABLE({TUMBLE}) GROUP BY amount, user_name, window_start, window_end) "
    "GROUP BY user_name, window_start, window_end",
    "the calendar's": grouped(CALLS["MONTHS"].format(offset="amount"), "user_name, window_start, window_end"),
}


@pytest.mark.parametrize("query", OVERLAPPING.values(), ids=OVERLAPPING)
def test_windows_of_one_key_would_overlap(flink: Analysis, query: str) -> None:
    error = flink.refuse(query, "WINDOW-016")
    assert error.span is not None
    assert error.span.text == "amount"
    assert error.hint == "add amount to GROUP BY, beside the window"


def test_in_a_view_the_place_is_that_of_the_grouping(flink: Analysis) -> None:
    flink.run(f"CREATE VIEW days AS SELECT * FROM TABLE({TUMBLE})")
    flink.plan("SELECT amount, COUNT(*) FROM days GROUP BY amount, window_start, window_end")
    query = "SELECT user_name, COUNT(*) FROM days GROUP BY user_name, window_start, window_end"
    error = flink.refuse(query, "WINDOW-016")
    assert error.span is not None
    assert error.span.text == query


REFUSED = {
    "a number": ("5", "WINDOW-00[35]"),
    "a text": ("'9 hours'", "WINDOW-00[35]"),
    "a column of text": ("user_name", "WINDOW-003"),
    "a fraction": ("amount * 1.5", "WINDOW-003"),
    "an aggregate": ("SUM(amount)", "WINDOW-003"),
    "a sub-query": ("(SELECT MAX(amount) FROM users)", "WINDOW-00[35]"),
    "months": ("amount * INTERVAL '1' MONTH", "WINDOW-002"),
    "chance": ("RAND_INTEGER(9) * INTERVAL '1' HOUR", "WINDOW-003"),
    "the clock": ("CURRENT_TIMESTAMP - ts", "WINDOW-003"),
    "no column": ("nope", "NAME-003"),
}


@pytest.mark.parametrize("function", ["TUMBLE", "HOP", "CUMULATE", "MONTHS", "BY NAME"])
@pytest.mark.parametrize(("offset", "code"), REFUSED.values(), ids=REFUSED)
def test_refused(flink: Analysis, function: str, offset: str, code: str) -> None:
    with pytest.raises(SqlExtError) as error:
        flink.plan(grouped(CALLS[function].format(offset=offset)))
    assert re.fullmatch(code, error.value.code), error.value.render()
    assert error.value.span is not None
    assert error.value.span.text in offset
    assert error.value.hint


def test_refused_beside_other_features(flink: Analysis) -> None:
    by_clock = flink.refuse(grouped(TUMBLE.replace("(ts)", "(pt)")), "WINDOW-013")
    assert by_clock.hint
    filled = flink.refuse(f"{GROUPED} EMIT AFTER WATERMARK FILL FOR 2d", "EMIT-119", "FILL")
    assert "offset of each row" in filled.message
    flink.refuse(f"SELECT COUNT(*) FROM clicks GROUP BY amount, TUMBLE(ts, INTERVAL '1' DAY, {OFFSET})", "WINDOW-003")


@pytest.mark.parametrize("function", ["TUMBLE", "HOP", "CUMULATE"])
def test_tables_of_late_rows(flink: Analysis, function: str) -> None:
    """A row is late once: beside the last of its windows."""
    flink.run("CREATE TABLE late (user_name STRING) WITH ('connector' = 'blackhole')")
    query = grouped(CALLS[function].format(offset=OFFSET))
    compiled = flink.run(f"{query} EMIT AFTER WATERMARK LATE DATA TO late")
    assert compiled is not None
    assert [name for side in compiled.script.sides for _, name in side.outputs] == ["user_name"]
    refused = f"{query} EMIT AFTER WATERMARK EARLY EVERY 2 ROWS LATE DATA TO late"
    if function == "TUMBLE":
        assert flink.run(refused) is not None
    else:
        assert "give several results" in flink.refuse(refused, "EMIT-118").message


def test_late_rows_of_overlapping_windows_of_a_calendar(flink: Analysis) -> None:
    flink.run("CREATE TABLE late (user_name STRING) WITH ('connector' = 'blackhole')")
    months = "HOP(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MONTH, INTERVAL '2' MONTH)"
    query = f"SELECT COUNT(*) FROM TABLE({months}) GROUP BY window_start, window_end"
    refused = flink.refuse(f"{query} EMIT AFTER WATERMARK LATE DATA TO late", "EMIT-118")
    assert "windows of a calendar that overlap" in refused.message
    assert refused.hint == "TUMBLE, or windows of days"
