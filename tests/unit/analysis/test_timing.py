"""Options of time: what is declared reaches the keeper's inputs; what cannot be is refused before anything runs."""

from __future__ import annotations

import pytest

from sqlext.watermarks.ends import Ends, SessionEnd
from sqlext.watermarks.inputs import Alignment

from .conftest import Analysis

TABLE = """CREATE TABLE {name} (k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH (
  'connector' = '{connector}'{options})"""
FILES = ", 'path' = '/d', 'format' = 'csv', 'source.monitor-interval' = '1 s'"
WINDOW = "SELECT COUNT(*) FROM TABLE({call}) GROUP BY window_start, window_end"
TUMBLE = WINDOW.format(call="TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)")


def made(flink: Analysis, *options: str, connector: str = "filesystem", name: str = "t") -> None:
    """Make a table with options of time."""
    texts = "".join(f", {o}" for o in options)
    given = (FILES if connector == "filesystem" else "") + texts
    flink.run(TABLE.format(name=name, connector=connector, options=given))


def inputs(flink: Analysis, query: str = TUMBLE) -> list[object]:
    """Return the inputs of a query that a keeper watches."""
    compiled = flink.run(query)
    assert compiled is not None
    return [k.input for k in compiled.script.kept]


def test_the_table_beats_set_and_a_hint_beats_the_table(flink: Analysis) -> None:
    flink.run("SET 'table.exec.source.idle-timeout' = '3 s'")
    made(flink)
    assert [i.idle for i in inputs(flink)] == [3000]
    hinted = "t /*+ OPTIONS('scan.watermark.idle-timeout' = '1 s'), OPTIONS('scan.watermark.idle-timeout' = '2 s') */"
    assert [i.idle for i in inputs(flink, TUMBLE.replace("TABLE t", f"TABLE {hinted}"))] == [1000]
    made(flink, "'scan.watermark.idle-timeout' = '4 s'", name="u")
    assert [i.idle for i in inputs(flink, TUMBLE.replace("TABLE t", "TABLE u"))] == [4000]
    made(flink, "'scan.watermark.idle-timeout' = '0 s'", name="v")
    assert [i.idle for i in inputs(flink, TUMBLE.replace("TABLE t", "TABLE v"))] == [None]


def test_alignment_and_strategy(flink: Analysis) -> None:
    flink.run("SET 'pipeline.auto-watermark-interval' = '2 s'")
    aligned = "'scan.watermark.alignment.group' = 'g', 'scan.watermark.alignment.max-drift' = '5 min'"
    made(flink, aligned)
    (kept,) = inputs(flink)
    assert (kept.alignment, kept.interval, kept.by_rows) == (Alignment("g", 300_000), 2000, False)
    made(flink, "'scan.watermark.emit.strategy' = 'on-event'", name="u")
    (kept,) = inputs(flink, TUMBLE.replace("TABLE t", "TABLE u"))
    assert (kept.interval, kept.by_rows) == (0, True)


@pytest.mark.parametrize(
    ("call", "ends"),
    [
        ("HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '2' SECOND, INTERVAL '4' SECOND)", Ends(2000)),
        ("CUMULATE(TABLE t, DESCRIPTOR(ts), INTERVAL '2' SECOND, INTERVAL '10' SECOND)", Ends(2000)),
        ("TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '3' SECOND)", Ends(10_000, 3000)),
        ("SESSION(TABLE t, DESCRIPTOR(ts), INTERVAL '7' SECOND)", SessionEnd(7000)),
    ],
)
def test_the_keeper_knows_when_windows_end(flink: Analysis, call: str, ends: Ends | SessionEnd) -> None:
    made(flink)
    assert [i.ends for i in inputs(flink, WINDOW.format(call=call))] == [(ends,)]


def test_a_table_that_is_read_twice_is_two_inputs(flink: Analysis) -> None:
    made(flink)
    join = "SELECT a.k FROM t AS a JOIN t AS b ON a.k = b.k AND a.ts BETWEEN b.ts - INTERVAL '1' SECOND AND b.ts"
    assert [i.name for i in inputs(flink, join)] == ["t", "t#2"]


def test_what_cannot_be_is_refused(flink: Analysis) -> None:
    made(flink, "'scan.watermark.alignment.group' = 'g'")
    assert "max-drift" in str(flink.refuse(TUMBLE, "OPT-030"))
    aligned = "'scan.watermark.alignment.group' = 'g', 'scan.watermark.alignment.max-drift' = '5 min'"
    made(flink, aligned, connector="datagen", name="d")
    query = TUMBLE.replace("TABLE t", "TABLE d")
    assert "connector 'datagen' of `d` cannot be held back" in str(flink.refuse(query, "OPT-031"))
    flink.run("SET 'pipeline.watermark-alignment.allow-unaligned-source-splits' = 'true'")
    assert [i.alignment for i in inputs(flink, query)] == [None]
    flink.run("SET 'pipeline.auto-watermark-interval' = '0'")
    flink.refuse(query, "OPT-032")
    flink.refuse("SET 'table.exec.source.idle-timeout' = 'soon'", "OPT-011")


def test_no_interval_over_a_bounded_input(flink: Analysis) -> None:
    made(flink, "'number-of-rows' = '5'", connector="datagen", name="b")
    flink.run("SET 'pipeline.auto-watermark-interval' = '0'")
    assert flink.run(TUMBLE.replace("TABLE t", "TABLE b")) is not None


def test_late_rows_of_a_table_or_of_all(flink: Analysis) -> None:
    made(flink, "'sqlext.late-rows.table' = 'late'")
    flink.refuse(TUMBLE, "EMIT-114")
    flink.run("CREATE TABLE late (k STRING, ts TIMESTAMP(3)) WITH ('connector' = 'delta', 'path' = '/l')")
    compiled = flink.run(TUMBLE)
    assert compiled is not None
    assert [s.side for s in compiled.script.sides] == ["late"]
    made(flink, name="u")
    flink.run("SET 'sqlext.late-rows.table' = 'late'")
    compiled = flink.run(TUMBLE.replace("TABLE t", "TABLE u"))
    assert compiled is not None
    assert [s.side for s in compiled.script.sides] == ["late"]
