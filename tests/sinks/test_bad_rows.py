"""'sqlext.bad-rows': what a source cannot decode is refused, counted or kept, and never a NULL."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sqlext import SqlExtError
from sqlext.connectors.delta.sink.tables import DeltaSink
from tests.workspace import Workspace

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

COLUMNS = "k STRING, v INT, l ARRAY<INT>, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND"
WITH = "'connector' = 'filesystem', 'path' = '${IN}'"
KEPT = ", 'sqlext.bad-rows' = 'broken'"
BROKEN = """
CREATE TABLE broken (text STRING, source STRING, place STRING, reason STRING, read_at TIMESTAMP_LTZ(3))
WITH ('connector' = 'delta', 'path' = '${OUT}/broken');
"""
COUNTS = """
CREATE TABLE counts (k STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED)
WITH ('connector' = 'delta', 'path' = '${OUT}/counts');
"""
PER_WINDOW = """
INSERT INTO counts SELECT k, COUNT(*)
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end;
"""
OF_ALL = "INSERT INTO counts SELECT k, COUNT(*) FROM events GROUP BY k;"
EACH_PANE = PER_WINDOW.replace("window_end;", "window_end EMIT EVERY 1 ROWS;")
JSON = (
    '{"k":"a","v":1,"l":[1],"ts":"2024-01-01 00:00:01"}',
    "",
    '{"k":"b","v":"x","l":[1],"ts":"2024-01-01 00:00:02"}',
    '{"k":"b","v":1,"l":["x"],"ts":"2024-01-01 00:00:02"}',
    '{"k":"b","v":',
    "[1]",
    '{"k":"a","l":null,"ts":"2024-01-01 00:00:03"}',
)
CSV = (
    "a,1,1;2,2024-01-01 00:00:01.000",
    "  ",
    "b,x,1,2024-01-01 00:00:02.000",
    "b,1,1;x,2024-01-01 00:00:02.000",
    "b,1",
    "b,1,1,never",
    "a, 2 ,,2024-01-01 00:00:03.000",
)


def events(form: str, more: str = KEPT) -> str:
    return f"CREATE TABLE events ({COLUMNS}) WITH ({WITH}, 'format' = '{form}'{more});\n"


def broken(workspace: Workspace) -> list[tuple[str, ...]]:
    """Return text and reason of what was kept."""
    return [(row[0], row[3]) for row in workspace.delta("broken")]


def expected(form: str, lines: tuple[str, ...]) -> list[tuple[str, str]]:
    fits = "a value does not fit its column: "
    last = ("it has not 4 fields", f"{fits}ts") if form == "csv" else ("it is no JSON object", "it is no JSON object")
    return sorted(zip(lines[2:6], (f"{fits}v", f"{fits}l", *last), strict=True), key=repr)


@pytest.mark.parametrize(("form", "lines"), [("json", JSON), ("csv", CSV)])
def test_a_table_gets_them(workspace: Workspace, form: str, lines: tuple[str, ...]) -> None:
    workspace.put(f"a.{form}", *lines)
    query = workspace.run(events(form), BROKEN, COUNTS, PER_WINDOW)[-1].query
    assert workspace.delta("counts") == [("a", "2")]
    assert broken(workspace) == expected(form, lines)
    found = workspace.delta("broken")
    assert {row[1] for row in found} == {"default_catalog.default_database.events"}
    assert sorted(row[2] for row in found) == [f"{workspace.input / 'a'}.{form}:{line}" for line in (3, 4, 5, 6)]
    assert {row[4][:2] for row in found} == {"20"}
    progress = query.progress
    assert (progress["rows_in"], progress["rows_out"], progress["rows_bad"]) == (len(lines), 1, 4)


#: What stands behind the object of a line, or nothing.
MORE = (
    ' {"s":"b"}',
    '{"s":"b"}',
    ',{"s":"b"}',
    "x",
    " {",
    "]",
    ",",
    ' "',
    " null",
    '],"z"]',
    " #",
    '{"s":"b"}{"s":"c"}',
)
NO_MORE = ("", " ", "\t\r")


@pytest.mark.parametrize("reader", ["auto", "spark"])
def test_what_stands_behind_an_object_is_kept_beside_its_row(workspace: Workspace, reader: str) -> None:
    """As in Flink the first object of a line is its row; nothing is lost without a word."""
    objects = ('{"s":"a","x":{"y":[1]}}', '{"s":"}"}', '\ufeff{"s":"a}","x":{}}', ' {"s":"a"}', '{"s":"\\"}"}')
    bad = [one + more for one in objects for more in MORE]
    workspace.put("a.json", *bad, *(one + more for one in objects for more in NO_MORE))
    table = f"CREATE TABLE t (s STRING) WITH ({WITH}, 'format' = 'json'{KEPT}, 'sqlext.source' = '{reader}');"
    result = workspace.run(table, BROKEN, "SELECT s FROM t;")[-1]
    assert len(result.rows) == len(objects) * (len(MORE) + len(NO_MORE))
    told = "there is more behind its first object, which alone is a row"
    assert broken(workspace) == sorted(((line, told) for line in bad), key=repr)
    assert result.query.progress["rows_bad"] == len(bad)


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize("insert", [OF_ALL, EACH_PANE])
def test_beside_results_that_change(workspace: Workspace, insert: str) -> None:
    workspace.put("a.json", *JSON)
    workspace.run(events("json"), BROKEN, COUNTS, insert)
    assert workspace.delta("counts") == [("a", "2")]
    assert len(broken(workspace)) == 4


@pytest.mark.parametrize("reader", ["auto", "spark"])
def test_drop_counts_them(workspace: Workspace, reader: str) -> None:
    workspace.put("a.csv", *CSV)
    settings = f"SET 'sqlext.bad-rows' = 'drop'; SET 'sqlext.source' = '{reader}';"
    result = workspace.run(settings, events("csv", ""), "SELECT k, v FROM events;")[-1]
    assert sorted(result.rows) == [("a", 1), ("a", 2)]
    progress = result.query.progress
    assert (progress["rows_in"], progress["rows_bad"]) == (len(CSV), 4)


def test_fail_says_where_and_drop_goes_on_from_there(workspace: Workspace) -> None:
    insert = "INSERT INTO counts SELECT k, CAST(v AS BIGINT) FROM events;"
    settings = "SET 'sqlext.bounded' = 'catch-up'; SET 'sqlext.bad-rows' = '%s';"
    table = events("csv", ", 'maxFilesPerTrigger' = '1'")
    workspace.put("a.csv", CSV[0])
    workspace.put("b.csv", CSV[2])
    with pytest.raises(SqlExtError) as failed:
        workspace.run(settings % "fail", table, COUNTS, insert)
    assert failed.value.code == "RUN-066"
    place = f"at {workspace.input}/b.csv:1: b,x,1,2024-01-01 00:00:02.000"
    told = "a row of `events` cannot be decoded: a value does not fit its column: v; "
    assert failed.value.message == told + place
    assert workspace.delta("counts") == [("a", "1")]
    query = workspace.run(settings % "drop", table, COUNTS, insert)[-1].query
    assert workspace.delta("counts") == [("a", "1")]
    assert query.progress["rows_bad"] == 1


def test_a_batch_that_failed_keeps_them_once(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tables have the rows, the driver does not know."""
    workspace.put("a.json", *JSON)
    original = DeltaSink.write_new

    def dies(self: DeltaSink, df: DataFrame, batch_id: int) -> None:
        original(self, df, batch_id)
        if self.spec.name == "broken":
            raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(DeltaSink, "write_new", dies)
        with pytest.raises(SqlExtError, match="No space left on device"):
            workspace.run(events("json"), BROKEN, COUNTS, PER_WINDOW)
    assert len(broken(workspace)) == 4
    workspace.run(events("json"), BROKEN, COUNTS, PER_WINDOW)
    assert workspace.delta("counts") == [("a", "2")]
    assert broken(workspace) == expected("json", JSON)


def test_by_sparks_reader_the_place_is_the_file(workspace: Workspace) -> None:
    workspace.put("a.json", *JSON)
    workspace.run(events("json", f"{KEPT}, 'sqlext.source' = 'spark'"), BROKEN, "SELECT k FROM events;")
    assert broken(workspace) == expected("json", JSON)
    assert {row[2] for row in workspace.delta("broken")} == {f"{workspace.input}/a.json"}
