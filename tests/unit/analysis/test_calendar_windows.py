"""Lengths of calendar windows that do not fit, and when such windows end."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

import sqlext
from sqlext.watermarks.ends import MonthEnds

MONTHS = "TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '1' MONTH))"
GROUPED = "GROUP BY window_start, window_end"
BROKEN = {
    "TUMBLE|INTERVAL '0' MONTH": ("WINDOW-005", "INTERVAL '0' MONTH"),
    "TUMBLE|INTERVAL '1' MONTH, INTERVAL '1' MONTH": ("WINDOW-005", "INTERVAL '1' MONTH"),
    "TUMBLE|INTERVAL '1' MONTH, INTERVAL '28' DAY": ("WINDOW-005", "INTERVAL '28' DAY"),
    "HOP|INTERVAL '1' DAY, INTERVAL '1' MONTH": ("WINDOW-005", "INTERVAL '1' DAY"),
    "HOP|INTERVAL '1' MONTH, INTERVAL '30' DAY": ("WINDOW-005", "INTERVAL '30' DAY"),
    "HOP|INTERVAL '1' MONTH, '30'": ("WINDOW-003", "'30'"),
    "CUMULATE|INTERVAL '1' MONTH, INTERVAL '30' DAY": ("WINDOW-005", "INTERVAL '30' DAY"),
    "HOP|INTERVAL '2' MONTH, INTERVAL '3' MONTH": ("WINDOW-005", "INTERVAL '2' MONTH"),
    "CUMULATE|INTERVAL '7' DAY, INTERVAL '1' MONTH": ("WINDOW-005", "INTERVAL '7' DAY"),
    "CUMULATE|INTERVAL '5' MONTH, INTERVAL '1' YEAR": ("WINDOW-005", "INTERVAL '5' MONTH"),
    "SESSION|INTERVAL '1' MONTH": ("WINDOW-002", "INTERVAL '1' MONTH"),
    "TUMBLE|INTERVAL '1-x' YEAR TO MONTH": ("WINDOW-003", "INTERVAL '1-x' YEAR TO MONTH"),
    "TUMBLE|INTERVAL '1-12' YEAR TO MONTH": ("WINDOW-003", "INTERVAL '1-12' YEAR TO MONTH"),
}


def refused(select: str) -> sqlext.SqlExtError:
    source = "CREATE TABLE ev (v INT, ts TIMESTAMP(3), p AS PROCTIME(), WATERMARK FOR ts AS ts) WITH (\n"
    source += "'connector' = 'filesystem', 'path' = '/in', 'format' = 'json');\n"
    with pytest.raises(sqlext.SqlExtError) as error:
        sqlext.connect().rewrite(source + select)
    return error.value


@pytest.mark.parametrize("call", BROKEN)
def test_lengths_that_do_not_fit(call: str) -> None:
    function, _, arguments = call.partition("|")
    call_sql = f"{function}(TABLE ev, DESCRIPTOR(ts), {arguments})"
    error = refused(f"SELECT COUNT(*) FROM TABLE({call_sql}) {GROUPED};")
    code, at = BROKEN[call]
    assert (error.code, error.span.text if error.span else None) == (code, at), error.render()
    assert error.hint


def test_what_goes_by_no_calendar() -> None:
    by_clock = refused(f"SELECT COUNT(*) FROM {MONTHS.replace('(ts)', '(p)')} {GROUPED};")
    assert by_clock.code == "WINDOW-013"
    filled = refused(f"SELECT SUM(v) AS s FROM {MONTHS} {GROUPED} EMIT AFTER WATERMARK FILL FOR INTERVAL '90' DAY;")
    assert filled.code in ("EMIT-119", "PARSE-002"), filled.render()
    # Flink refuses months in GROUP BY TUMBLE too.
    for call in ("TUMBLE(ts, INTERVAL '1' MONTH)", "HOP(ts, INTERVAL '1' DAY, INTERVAL '1' MONTH)"):
        of_group = refused(f"SELECT COUNT(*) FROM ev GROUP BY {call};")
        assert (of_group.code, of_group.span.text if of_group.span else None) == ("WINDOW-002", "INTERVAL '1' MONTH")
        assert f"FROM TABLE({call.partition('(')[0]}(TABLE t" in (of_group.hint or "")


def ms(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=timezone.utc).timestamp() * 1000)


@pytest.mark.parametrize(
    ("ends", "time", "until", "after"),
    [
        (MonthEnds(1), "2024-02-29T12:00", "2024-02-01T00:00", "2024-03-01T00:00"),
        (MonthEnds(1), "2024-03-01T00:00", "2024-03-01T00:00", "2024-04-01T00:00"),
        (MonthEnds(12, 3), "2024-03-31T23:00", "2023-04-01T00:00", "2024-04-01T00:00"),
        (MonthEnds(1, offset=-86_400_000), "2024-02-29T12:00", "2024-02-29T00:00", "2024-03-31T00:00"),
        (MonthEnds(1, zone="America/New_York"), "2024-04-01T03:59", "2024-03-01T05:00", "2024-04-01T04:00"),
        (MonthEnds(12), "9999-06-01T00:00", "9999-01-01T00:00", "9999-12-01T00:00"),
    ],
)
def test_when_calendar_windows_end(ends: MonthEnds, time: str, until: str, after: str) -> None:
    assert (ends.until(ms(time), 0), ends.after(ms(time), 0)) == (ms(until), ms(after))
