"""What the display says about a query."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

from rich.console import Console

from sqlext.cli.progress import Pace, Watch, progress_line, progress_table, rows_a_second, size, summary, watermark

END = 253_402_300_799_999


class FakeQuery:
    """A query that stands still."""

    bounded = True

    def __init__(self, name: str, **progress: Any) -> None:
        self.name = name
        self.progress: Mapping[str, Any] = progress


RUNNING = FakeQuery(
    "hourly",
    batch=3,
    rows_in=336_776,
    watermark=1_356_998_400_000,
    state_rows=12,
    state_bytes=3_456_000,
    rows_out=100,
    rows_dropped=0,
    status="running",
    last_rows=1_000,
    last_ms=800,
)


def text(renderable: Any) -> str:
    console = Console(file=io.StringIO(), width=200)
    console.print(renderable)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_watermark() -> None:
    assert watermark(None) == "-"
    assert watermark(1_356_998_400_000) == "2013-01-01 00:00:00"
    assert watermark(END) == "end of time"
    assert watermark(2**63 - 1) == "end of time"


def test_line() -> None:
    assert progress_line(RUNNING.name, RUNNING.progress, 1_356_998_700_000) == (
        "hourly: batch 3 (0.8 s, 1,250 rows/s), 336,776 rows in, "
        "watermark 2013-01-01 00:00:00 (5 min behind the clock), "
        "12 windows open (3.5 MB), 100 rows out, 0 late and dropped"
    )
    ended = progress_line("q", {**RUNNING.progress, "watermark": END, "state_bytes": 0})
    assert "watermark end of time, 12 windows open, 100" in ended


def test_line_before_the_first_batch() -> None:
    assert progress_line("q", {}) == "q: running, no micro-batch is done yet"


def test_pace() -> None:
    assert rows_a_second({}) == "-"
    assert rows_a_second({"last_rows": 4, "last_ms": 9200}) == "0.4"
    assert rows_a_second({"last_rows": 0, "last_ms": 9200}) == "0"
    assert rows_a_second({"last_rows": 25_000, "last_ms": 2000}) == "12,500"


def test_table_has_a_row_per_query() -> None:
    shown = text(progress_table([RUNNING, FakeQuery("other")], 12))
    assert "336,776" in shown
    assert "other" in shown
    assert "0.8 s" in shown
    assert "3.5 MB" in shown
    assert "1,250" in shown
    assert "running, 12 s" in shown


def test_a_narrow_screen_has_no_cut_words() -> None:
    with Watch(Console(file=io.StringIO()), shown=False) as watch:
        watch.add(RUNNING)
        forms = {}
        for width in (30, 60, 200):
            console = Console(file=io.StringIO(), width=width)
            console.print(watch)
            assert isinstance(console.file, io.StringIO)
            forms[width] = console.file.getvalue()
    assert all("2013-01-01" in form and "\u2026" not in form for form in forms.values())
    assert "336,776 rows in" in " ".join(forms[30].split())
    assert ["rows in", "336,776"] in [
        line.rstrip().split("  ")[:1] + line.split()[-1:] for line in forms[60].splitlines()
    ]
    assert any(line.split()[:2] == ["hourly", "3"] for line in forms[200].splitlines())


def test_sizes() -> None:
    assert [size(n) for n in (None, 0, 999, 1000, 12_345_678, 7_000_000_000)] == [
        "-", "0 B", "999 B", "1.0 kB", "12.3 MB", "7.0 GB",
    ]  # fmt: skip


def test_lines_come_rarely_and_do_not_cease() -> None:
    said = Pace("batch 1", 100.0)
    assert not said.due("batch 2", 104.9, ended=False)
    assert said.due("batch 2", 105.0, ended=False)
    assert said.due("batch 2", 100.1, ended=True)
    assert not said.due("batch 1", 129.9, ended=False)
    assert said.due("batch 1", 130.0, ended=False)
    assert not said.due("batch 1", 130.0, ended=True)


def test_summary_says_that_the_last_windows_came_out() -> None:
    ended = {"rows_in": 10, "rows_out": 4, "watermark": END, "state_rows": 0, "rows_dropped": 0}
    assert summary("q", ended) == "q: 10 rows in, 4 rows out, every window came out, no row was late"


def test_summary_of_a_stopped_query_says_what_is_open() -> None:
    assert summary("q", {**RUNNING.progress, "rows_dropped": 2}) == (
        "q: 336,776 rows in, 100 rows out, stopped at watermark 2013-01-01 00:00:00 with 12 windows open, "
        "2 late rows dropped"
    )


def test_a_query_that_needed_no_micro_batch() -> None:
    """It ran in this process: nobody has counted windows."""
    ended = {"batch": 0, "rows_in": 4, "rows_out": 3, "watermark": None, "status": "finished"}
    assert progress_line("q", ended) == summary("q", ended) == "q: 4 rows in, 3 rows out"


def test_lines_where_there_is_no_terminal() -> None:
    console = Console(file=io.StringIO(), width=200)
    with Watch(console) as watch:
        watch.add(RUNNING)
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue() == progress_line("hourly", RUNNING.progress) + "\n"


def test_no_progress() -> None:
    console = Console(file=io.StringIO(), width=200)
    with Watch(console, shown=False) as watch:
        watch.add(RUNNING)
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue() == ""


def test_live_on_a_terminal() -> None:
    console = Console(file=io.StringIO(), width=200, force_terminal=True)
    with Watch(console) as watch:
        watch.add(RUNNING)
    assert isinstance(console.file, io.StringIO)
    assert "336,776" in console.file.getvalue()
