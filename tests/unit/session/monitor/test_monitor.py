"""What is said of queries of other processes, from what they keep."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlext import SqlExtError
from sqlext.jobs.recording import Recorder
from sqlext.session.monitor.api import Monitor
from sqlext.session.offline.compilation import new_state
from sqlext.watermarks.history import LONGEST
from tests.kept_queries import HOUR, JOINED, MINUTE, SECOND, Kept, KeptQuery, kept_query

NOW = 1_767_225_600_000


def monitor(kept: Kept) -> Monitor:
    return Monitor(tuple, new_state(kept.folder), clock=lambda: kept.now)


def test_no_query(tmp_path: Path) -> None:
    assert monitor(Kept(tmp_path, NOW)).queries() == []
    assert Monitor(tuple, new_state(tmp_path / "nothing")).queries() == []


def test_a_query_in_short(tmp_path: Path) -> None:
    (card,) = monitor(kept_query(tmp_path, KeptQuery("etl.per_minute", late=5), NOW)).queries()
    assert (card.name, card.state, card.here, card.at) == ("etl.per_minute", "running", False, NOW)
    assert (card.reads, card.writes) == (
        ("default_catalog.default_database.orders",),
        "default_catalog.default_database.per_minute",
    )
    assert card.lag is not None
    assert 9 * SECOND < card.lag < 15 * SECOND
    assert 10 < card.rate < 120
    assert card.rows_dropped > 0
    assert card.state_bytes > 48_000
    (warned,) = card.warnings
    assert "`ANALYZE WATERMARK FOR orders`" in warned
    assert "with 4 min at most 0.057% of all rows of `orders` would have been late" in warned


def test_a_query_without_late_rows_and_one_that_has_ended_warn_of_nothing(tmp_path: Path) -> None:
    kept = kept_query(tmp_path, KeptQuery("well"), NOW)
    kept.add(KeptQuery("ended", status="stopped", late=5))
    assert [card.warnings for card in monitor(kept).queries()] == [[], []]


def test_a_query_in_full(tmp_path: Path) -> None:
    kept = kept_query(tmp_path, KeptQuery("q"), NOW)
    view = monitor(kept).query("q")
    assert [n.step for n in view.nodes] == ["Sink", "Aggregate", "AssignWindows", "Scan"]
    assert len(view.edges) == len(view.nodes) - 1
    scan, sink = view.nodes[-1], view.nodes[0]
    assert (scan.rows, scan.activity) == (view.card.rows_in, "active")
    assert sink.rows == view.card.rows_out
    (aggregate,) = [n for n in view.nodes if n.stateful]
    assert (aggregate.state_rows, aggregate.dropped) == (view.card.state_rows, 0)
    assert view.why.startswith("Query `q` is running in another process")


def test_open_windows_and_when_they_close(tmp_path: Path) -> None:
    windows = monitor(kept_query(tmp_path, KeptQuery("q"), NOW)).query("q").windows
    assert windows[0].end == NOW
    assert windows[0].needs == {"orders": NOW + 10 * SECOND}
    # The watermark is thirteen seconds behind and moves as the clock does.
    assert windows[0].expected is not None
    assert abs(windows[0].expected - (NOW + 13 * SECOND)) < 3 * SECOND
    assert windows[0].closes_at is None


def test_a_watermark_that_stands_closes_nothing(tmp_path: Path) -> None:
    kept = kept_query(tmp_path, KeptQuery("q", stands_since=2 * MINUTE), NOW)
    view = monitor(kept).query("q")
    assert {w.expected for w in view.windows} == {None}
    assert view.card.rate == 0


def test_an_idle_input(tmp_path: Path) -> None:
    view = monitor(kept_query(tmp_path, KeptQuery("q", JOINED, idle=True), NOW)).query("q")
    assert view.card.idle == ["payments"]
    assert {n.activity for n in view.nodes if n.step == "Scan"} == {"active", "idle"}
    assert "`payments` is idle since" in view.why
    assert next(i for i in view.inputs if i.input == "payments").idle_since is not None


def test_a_failed_query_and_one_without_a_driver(tmp_path: Path) -> None:
    kept = Kept(tmp_path, NOW)
    kept.add(KeptQuery("bad", status="failed", error=SqlExtError("RUN-041", "too large", hint="cast it")))
    kept.add(KeptQuery("gone", driven=False))
    bad, gone = sorted(monitor(kept).queries(), key=lambda c: c.name)
    assert bad.failure is not None
    assert (bad.state, bad.failure.code, bad.failure.hint) == ("failed", "RUN-041", "cast it")
    assert (gone.state, gone.rate, gone.lag) == ("lost", 0, None)


def test_a_day_of_history(tmp_path: Path) -> None:
    kept = kept_query(tmp_path, KeptQuery("q", span=30 * HOUR, every=30 * SECOND, late=1), NOW)
    asked = monitor(kept)
    found = asked.history("q")
    assert NOW - LONGEST <= found.at[0] < NOW - LONGEST + 2 * MINUTE
    assert found.at[-1] == NOW
    assert len(found.at) < 2000
    assert list(found.at) == sorted(found.at)
    hour = [n for n, at in enumerate(found.at) if NOW - 2 * HOUR < at <= NOW - HOUR]
    assert 40 < sum(found.rows_in[n] or 0 for n in hour) / len(hour) < 80
    assert sum(found.dropped) > 0
    assert all(len(column) == len(found.at) for column in found.parts.values())
    assert set(found.parts) == {"addBatch", "walCommit", "queryPlanning", "commitOffsets"}
    assert asked.history("q", since=NOW - MINUTE).at == [at for at in found.at if at > NOW - MINUTE]


def test_what_is_new_of_a_file_that_grows(tmp_path: Path) -> None:
    kept = kept_query(tmp_path, KeptQuery("q", stands_since=5 * SECOND), NOW)
    asked = monitor(kept)
    before = asked.queries()[0]
    kept.add(KeptQuery("q"))
    after = asked.queries()[0]
    assert before.at is not None
    assert after.at is not None
    assert after.at > before.at


def test_the_last_rows(tmp_path: Path) -> None:
    kept = kept_query(tmp_path, KeptQuery("q"), NOW)
    assert (monitor(kept).rows("q").why or "").startswith("no row has come out yet")
    kept.write_rows()
    found = monitor(kept).rows("q", most=5)
    assert (found.columns, found.why) == (("item", "minute", "total"), None)
    assert len(found.rows) == 5
    assert found.rows[-1] == ("ink", "2025-12-31 23:59:00", 85.75)


def test_a_query_that_nobody_knows(tmp_path: Path) -> None:
    with pytest.raises(SqlExtError) as caught:
        monitor(kept_query(tmp_path, KeptQuery("hourly"), NOW)).query("hourli")
    assert (caught.value.code, caught.value.hint) == ("CAT-002", "did you mean `hourly`?")


def test_stopping(tmp_path: Path) -> None:
    kept = kept_query(tmp_path, KeptQuery("q"), NOW)
    kept.add(KeptQuery("old", status="stopped"))
    asked = monitor(kept)
    with pytest.raises(SqlExtError) as caught:
        asked.stop("old")
    assert caught.value.code == "RUN-025"
    (record,) = [r for r in kept.state.catalog.snapshot().queries() if r.name == "q"]
    recorder = Recorder("q", asked._sources.place(record).below("progress"), False, ())
    assert not recorder.is_to_stop()
    asked.stop("q")
    assert recorder.is_to_stop()
    recorder.begin()  # another start is not meant
    assert not recorder.is_to_stop()


FILTERED = """INSERT INTO per_minute SELECT item, ts, amount FROM (SELECT * FROM orders WHERE amount > 1)"""


def test_rows_that_follow_from_what_is_counted(tmp_path: Path) -> None:
    kept = kept_query(tmp_path, KeptQuery("windows"), NOW)
    kept.add(KeptQuery("filtered", FILTERED))
    kept.add(KeptQuery("joined", JOINED))
    said = {name: monitor(kept).query(name) for name in ("windows", "filtered", "joined")}
    rows = {name: [(n.step, n.rows) for n in view.nodes] for name, view in said.items()}
    taken, read = said["windows"].card.rows_out, said["windows"].card.rows_in
    assert rows["windows"] == [("Sink", taken), ("Aggregate", taken), ("AssignWindows", read), ("Scan", read)]
    taken, read = said["filtered"].card.rows_out, said["filtered"].card.rows_in
    assert rows["filtered"] == [("Sink", taken), ("Project", taken), ("Project", taken), ("Scan", read)]
    assert [count is None for _, count in rows["joined"]] == [False, False, False, False, False]


def test_how_late_rows_were(tmp_path: Path) -> None:
    kept = kept_query(tmp_path, KeptQuery("q", JOINED, late=5), NOW)
    kept.add(KeptQuery("new", span=0, every=MINUTE, status="stopped"))
    orders, payments = monitor(kept).lateness("q")
    assert (orders.input, payments.input, orders.declared) == ("orders", "payments", 10_000)
    shares = dict(zip(orders.delay, zip(orders.at_least, orders.at_most, strict=True), strict=True))
    least, most = shares[10_000]
    assert 0.04 < least == most < 0.05
    assert shares[40_000][0] < shares[40_000][1]
    assert (orders.at_most[-1], orders.at_least[-1]) == (0, 0)
    assert "With the declared delay of 10 s" in orders.text
    with pytest.raises(SqlExtError) as refused:
        monitor(kept).lateness("other")
    assert refused.value.code == "CAT-002"
