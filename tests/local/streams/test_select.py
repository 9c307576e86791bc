"""SELECT whose input has no end, in this process: rows come as they are made, and nothing of it stays."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.local.streams.stream_desk import Desk


def _folders() -> set[str]:
    return {path.name for path in Path(tempfile.gettempdir()).glob("sqlext-*")}


def test_rows_as_they_come(desk: Desk) -> None:
    before = _folders()
    session = desk.session()
    desk.put("events", "a.json", [("a", 1, 1), ("b", 2, 2)])
    result = session.run(desk.script("SELECT k, v * 2 AS d FROM events WHERE v > 1;"), trigger_interval=1)[-1]
    query = result.query
    assert query is not None
    query.process_available()
    assert (result.columns, result.rows) == (("k", "d"), [("b", 4)])
    desk.put("events", "b.json", [("c", 5, 3)])
    query.process_available()
    assert result.rows == [("b", 4), ("c", 10)]
    query.stop()
    assert query.exception is None
    # Neither a place nor a record of it stays.
    assert _folders() == before
    assert session.run("SHOW QUERIES")[-1].rows == []
    assert not (desk.root / "catalog" / "queries").exists()


def test_current_rows_of_an_updating_result(desk: Desk) -> None:
    desk.put("events", "a.json", [("a", 1, 1), ("b", 2, 2)])
    result = desk.session().run(desk.script("SELECT k, SUM(v) FROM events GROUP BY k;"), trigger_interval=1)[-1]
    query = result.query
    assert query is not None
    query.process_available()
    assert sorted(result.rows) == [("a", 1), ("b", 2)]
    desk.put("events", "b.json", [("a", 10, 3)])
    query.process_available()
    query.stop()
    assert sorted(result.rows) == [("a", 11), ("b", 2)]


def test_auto_leaves_it_to_spark(desk: Desk) -> None:
    script = desk.script("EXPLAIN SELECT k FROM events;", engine="auto")
    ((text,),) = desk.session().run(script)[-1].rows
    assert "Spark: its input has no end" in text
