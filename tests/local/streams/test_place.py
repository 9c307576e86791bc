"""The place of a query without an end in this process: what it goes on from, what may change, and what is refused."""

from __future__ import annotations

import shutil
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from sqlext.errors import SqlExtError
from sqlext.local import states
from sqlext_udfs.kernel.levelled import LevelRules
from tests.local.streams.stream_desk import COUNTS, Desk

_FIRST, _SECOND = datetime(2024, 1, 1), datetime(2024, 1, 1, 0, 0, 10)


def run(desk: Desk, script: str) -> None:
    query = desk.start(script)
    query.process_available()
    query.stop()


def place(desk: Desk) -> Path:
    (found,) = (desk.root / "catalog" / "queries").iterdir()
    return found


def begun(desk: Desk) -> str:
    script = desk.script(COUNTS)
    desk.put("events", "a.json", [("a", 1, 1), ("b", 2, 2)])
    run(desk, script)
    return script


def test_a_column_that_is_selected_later(desk: Desk) -> None:
    begun(desk)
    desk.put("events", "b.json", [("a", 5, 3), ("a", 0, 12)])
    run(desk, desk.script(COUNTS.replace("SELECT k,", "SELECT UPPER(k),")))
    assert desk.rows() == [("A", _FIRST, 2, 6), ("B", _FIRST, 1, 2)]


def test_a_longer_lateness_leaves_closed_windows_closed(desk: Desk) -> None:
    emit = COUNTS.replace("window_end;", "window_end EMIT AFTER WATERMARK LATE EVERY ROW ALLOW LATENESS {}s;")
    desk.put("events", "a.json", [("a", 1, 1), ("a", 1, 40)])
    run(desk, desk.script(emit.replace("{}", "5")))
    assert [row[2] for row in desk.rows()] == [1]
    desk.put("events", "b.json", [("a", 1, 2), ("a", 1, 33)])
    longer = desk.script(emit.replace("{}", "60"))
    query = desk.start(longer)
    query.process_available()
    query.stop()
    # The first window was closed for good under the shorter lateness: its late row is dropped, and counted.
    assert [row[:3] for row in desk.rows()] == [("a", _FIRST, 1)]
    assert query.progress["rows_dropped"] == 1


def test_without_its_state(desk: Desk) -> None:
    begun(desk)
    desk.put("events", "b.json", [("a", 5, 12), ("a", 5, 23)])
    other = COUNTS.replace("'10' SECOND", "'20' SECOND")
    with pytest.raises(SqlExtError, match="RUN-020"):
        desk.start(desk.script(other))
    run(desk, "SET 'execution.state-recovery.ignore-unclaimed-state' = 'true';\n" + desk.script(other))
    # What was read before is not read again, and what it left is gone.
    assert desk.rows() == [("a", _FIRST, 1, 5)]
    assert len(list((place(desk) / "commits").iterdir())) == 2


def test_spark_is_refused(desk: Desk) -> None:
    begun(desk)
    with pytest.raises(SqlExtError) as refused:
        desk.start(desk.script(COUNTS, engine="spark"))
    assert refused.value.code == "RUN-020"
    assert "engine was this process, is Spark" in refused.value.message


def test_auto_goes_on_here(desk: Desk) -> None:
    begun(desk)
    desk.put("events", "b.json", [("a", 5, 12)])
    run(desk, desk.script(COUNTS, engine="auto"))
    assert desk.rows() == [("a", _FIRST, 1, 1), ("b", _FIRST, 1, 2)]


def test_drop_query_begins_anew(desk: Desk) -> None:
    script = begun(desk)
    desk.session().run("DROP QUERY `sql.counts`")
    desk.put("events", "b.json", [("a", 5, 12)])
    run(desk, script)
    assert desk.rows() == [("a", _FIRST, 1, 1), ("b", _FIRST, 1, 2)]


@pytest.mark.parametrize(
    ("gone", "code"),
    [("run.json", "RUN-021"), ("checkpoint", "RUN-024"), ("commits", "RUN-023"), ("all", "RUN-024")],
)
def test_parts_of_it_are_gone(desk: Desk, gone: str, code: str) -> None:
    script = begun(desk)
    for number in range(2):
        desk.put("events", f"b{number}.json", [("a", 5, 12 + number)])
        run(desk, script)
    path = place(desk) if gone == "all" else place(desk) / gone
    path.unlink() if path.is_file() else shutil.rmtree(path)
    with pytest.raises(SqlExtError, match=code):
        desk.start(script)


@pytest.mark.parametrize("damage", [b"", b"\0" * 64, None], ids=["empty", "zeros", "a byte"])
@pytest.mark.parametrize("folder", ["commits", "local"])
def test_a_damaged_file(desk: Desk, folder: str, damage: bytes | None) -> None:
    script = begun(desk)
    desk.put("events", "b.json", [("a", 5, 12)])
    run(desk, script)
    newest = max((place(desk) / folder).iterdir(), key=lambda path: int(path.name))
    if folder == "local":  # one that is begun and not done
        newest = newest.with_name(str(int(newest.name) + 1))
        newest.write_bytes(b"{")
    data = bytearray(newest.read_bytes())
    data[len(data) // 2] ^= 0xFF
    newest.write_bytes(bytes(data) if damage is None else damage)
    with pytest.raises(SqlExtError) as refused:
        run(desk, script)
    assert refused.value.code == "RUN-023"
    assert f"{folder}/{newest.name}" in refused.value.message


def test_large_state_in_levels(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(states, "LevelRules", lambda: LevelRules(smallest=1 << 12, newest=1 << 11, share=1))
    script = desk.script(COUNTS)
    desk.put("events", "a.json", [(f"k{n}", n, 1) for n in range(2000)])
    run(desk, script)
    for number in range(6):
        desk.put("events", f"b{number}.json", [(f"k{n}", 1, 2) for n in range(number * 10, number * 10 + 20)])
        run(desk, script)
    levels = place(desk) / "levels"
    whole = {level: level.read_bytes() for level in levels.iterdir()}
    assert whole
    desk.put("events", "d.json", [("k0", 1, 3)])
    for damage in (lambda _: b"", lambda _: bytes(64), lambda data: data[:-1] + b"?", None):
        for level, data in whole.items():
            level.write_bytes(damage(data)) if damage is not None else level.unlink()
        with pytest.raises(SqlExtError, match="state is damaged: level") as refused:
            run(desk, script)
        assert refused.value.code == "RUN-031"
        for level, data in whole.items():
            level.write_bytes(data)
    desk.put("events", "c.json", [("z", 1, 30)])
    run(desk, script)
    found = {row[0]: row[2:] for row in desk.rows()}
    came = {f"k{n}": sum(number * 10 <= n < number * 10 + 20 for number in range(6)) for n in range(2000)}
    came["k0"] += 1
    assert found == {key: (1 + more, int(key[1:]) + more) for key, more in came.items()}
    assert list(levels.iterdir()) == []


def test_a_taken_over_driver_writes_no_more(desk: Desk) -> None:
    script = begun(desk)
    first = desk.start(script)
    first.process_available()
    second = desk.start("SET 'sqlext.take-over' = 'true';\n" + script)
    desk.put("events", "b.json", [("a", 5, 12)])
    with pytest.raises(SqlExtError, match="RUN-029"):
        first.await_termination(30)
    second.process_available()
    second.stop()
    assert desk.rows() == [("a", _FIRST, 1, 1), ("b", _FIRST, 1, 2)]
    assert second.exception is None


def test_few_files_stay(desk: Desk) -> None:
    script = desk.script(COUNTS)
    query = desk.start(script)
    for number in range(130):
        desk.put("events", f"{number:04}.json", [("a", 1, number / 100)])
        query.process_available()
    query.stop()
    assert len(list((place(desk) / "commits").iterdir())) <= 22
    assert len(list((place(desk) / "local").iterdir())) <= 120


def test_another_table_in_place_of_its_source(desk: Desk) -> None:
    source, out = desk.root / "source", desk.root / "out"
    script = f"""
    SET 'sqlext.engine' = 'local';
    CREATE TABLE source (k STRING, v BIGINT) WITH ('connector' = 'delta', 'path' = '{source}',
      'source.monitor-interval' = '1 s');
    CREATE TABLE copies (k STRING, v BIGINT) WITH ('connector' = 'delta', 'path' = '{out}');
    INSERT INTO copies SELECT k, v FROM source;
    """
    rows = pa.table({"k": ["a"], "v": pa.array([1], pa.int64())})
    write_deltalake(source, rows)
    run(desk, script)
    shutil.rmtree(source)
    write_deltalake(source, rows)
    with pytest.raises(SqlExtError, match="RUN-075"):
        desk.start(script)
    assert desk.rows() == [("a", 1)]


def test_plan_and_deploy(desk: Desk) -> None:
    script = begun(desk)
    (desk.root / "sql.sql").write_text(script)
    (same,) = desk.session().plan(desk.root / "sql.sql").queries
    assert (same.outcome, same.refusal) == ("goes on", None)
    (desk.root / "sql.sql").write_text(script.replace("'10' SECOND", "'20' SECOND"))
    (other,) = desk.session().plan(desk.root / "sql.sql").queries
    assert other.refusal is not None
    assert other.refusal.code == "RUN-020"
    assert all("runs without Spark" in (way.refusal or "") for way in other.ways)
