"""Failures at run time: RUN-... at the statement, with the cause, and nothing on the terminal."""

from __future__ import annotations

import pytest

from sqlext import SqlExtError
from sqlext.connectors.delta.sink.tables import DeltaSink
from sqlext.jobs.batches import BatchWriter
from sqlext.jobs.checkpoint import QueryHome
from sqlext.jobs.recording import Recorder
from sqlext.session.records import QueryRecords
from tests.workspace import EVENTS, Workspace

SINK = "CREATE TABLE b (v STRING) WITH ('connector' = 'blackhole');"
FAILURES = {
    "bad cast": ("CAST(k AS INT)", "RUN-046", "'a' cannot be cast to INT"),
    "division by zero": ("v / 0", "RUN-040", "division by zero"),
    "raise_error": ("raise_error('no such luck')", "RUN-049", "no such luck"),
    "overflow": ("CAST(v * 2147483647 AS INT) + 2147483647", "RUN-041", "too large for its type"),
}


@pytest.mark.parametrize(("expression", "code", "cause"), FAILURES.values(), ids=FAILURES)
@pytest.mark.parametrize("mode", ["streaming", "batch"])
def test_expressions(
    workspace: Workspace, capfd: pytest.CaptureFixture[str], expression: str, code: str, cause: str, mode: str
) -> None:
    workspace.put("a.csv", "a,2,1")
    script = (f"SET 'execution.runtime-mode' = '{mode}';", EVENTS, SINK)
    with pytest.raises(SqlExtError, match=cause) as failed:
        workspace.run(*script, f"INSERT INTO b SELECT CAST({expression} AS STRING) FROM events;")
    assert (failed.value.code, failed.value.line) == (code, 7)
    assert failed.value.__cause__ is not None
    with pytest.raises(SqlExtError, match=cause) as failed:
        workspace.run(*script, f"SELECT {expression} AS x FROM events;")
    assert (failed.value.code, failed.value.line) == (code, 7)
    assert capfd.readouterr().err == ""


def test_null_rowtime(workspace: Workspace) -> None:
    workspace.put("a.json", '{"k": "a", "v": 1, "ts": null}')
    with pytest.raises(SqlExtError, match=r"rowtime events\.ts is NULL") as failed:
        workspace.run(EVENTS.replace("csv", "json"), "SELECT k, ts FROM events;")
    assert (failed.value.code, failed.value.line) == ("RUN-001", 5)


@pytest.mark.parametrize("mode", ["streaming", "batch"])
@pytest.mark.parametrize(
    ("form", "good", "bad"),
    [
        ("json", '{"k": "a", "v": 1}', '{"k": "b", "v": '),
        ("json", "{}", '{"v": "x"}'),
        ("csv", "a,1", "b"),
        ("csv", "a,1", "b,x"),
    ],
)
def test_a_malformed_row_is_told_with_file_line_and_text(
    workspace: Workspace, form: str, good: str, bad: str, mode: str
) -> None:
    workspace.put(f"a.{form}", good, bad, good)
    table = f"""SET 'execution.runtime-mode' = '{mode}';
    CREATE TABLE j (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '${{IN}}', 'format' = '{form}');"""
    with pytest.raises(SqlExtError) as failed:
        workspace.run(table, "SELECT k, v FROM j;")
    assert (failed.value.code, failed.value.line) == ("RUN-066", 3)
    assert f"a.{form}:2: " in failed.value.message
    assert failed.value.message.rstrip().endswith(f" in {bad.rstrip()}")


def test_missing_input(workspace: Workspace) -> None:
    workspace.input.rmdir()
    with pytest.raises(SqlExtError, match="does not exist") as failed:
        workspace.run(EVENTS, SINK, "INSERT INTO b SELECT k FROM events;")
    assert failed.value.line == 6
    assert workspace.queries() == {}
    workspace.input.mkdir()
    workspace.put("a.csv", "a,1,1")
    workspace.run(EVENTS, SINK, "INSERT INTO b SELECT k FROM events WHERE v > 0;")


def test_failing_sink_is_named_and_its_batch_comes_once(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The table has the rows, the driver does not know: the disk was full for Spark's commit log, say."""
    workspace.put("a.csv", "a,1,1", "b,2,2")
    sink = "CREATE TABLE s (k STRING) WITH ('connector' = 'delta', 'path' = '${OUT}/s');"
    script = (EVENTS, sink, "INSERT INTO s SELECT k FROM events;")
    original = DeltaSink.write_new

    def full(self: DeltaSink, df: object, batch_id: int) -> None:
        original(self, df, batch_id)  # type: ignore[arg-type]
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(DeltaSink, "write_new", full)
        with pytest.raises(SqlExtError, match="No space left on device") as failed:
            workspace.run(*script)
    assert (failed.value.code, failed.value.line) == ("RUN-100", 6)
    assert capfd.readouterr().err == ""
    workspace.run(*script)
    assert workspace.delta("s") == [("a",), ("b",)]


def test_one_insert_of_a_set_fails(workspace: Workspace) -> None:
    """The others stop, the caller gets the reason; with the cause gone, both are completed."""
    workspace.put("a.csv", "a,1,1", "b,2,2")
    script = """
    CREATE TABLE ticks (n BIGINT) WITH ('connector' = 'rate', 'rows-per-second' = '100');
    CREATE TABLE e (k STRING, v INT) WITH
    ('connector' = 'filesystem', 'format' = 'csv', 'path' = '${IN}', 'source.monitor-interval' = '1 s');
    CREATE TABLE n (n BIGINT) WITH ('connector' = 'delta', 'path' = '${OUT}/n');
    CREATE TABLE s (v INT) WITH ('connector' = 'delta', 'path' = '${OUT}/s');
    EXECUTE STATEMENT SET BEGIN
      INSERT INTO n SELECT n FROM ticks;
      INSERT INTO s SELECT v FROM e;
    END;
    """
    original = DeltaSink.write_new

    def failing(self: DeltaSink, df: object, batch_id: int) -> None:
        if self.spec.name == "s":
            raise OSError(5, "Input/output error")
        original(self, df, batch_id)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(DeltaSink, "write_new", failing)
        query = workspace.run(script)[-1].query
        with pytest.raises(SqlExtError, match="Input/output error") as failed:
            query.await_termination(90)
    assert failed.value.line == 9
    assert not query.is_active
    assert {q["status"] for q in workspace.queries().values()} == {"failed"}
    again = workspace.run(script)[-1].query
    while again.progress["parts"]["sql.s"]["rows_out"] < 2:
        assert again.is_active
    again.stop()
    assert workspace.delta("s") == [("1",), ("2",)]
    numbers = [int(n) for (n,) in workspace.delta("n")]
    assert sorted(numbers) == list(range(len(numbers)))


@pytest.mark.parametrize(("owner", "name"), [(Recorder, "end"), (QueryRecords, "ended"), (QueryHome, "close")])
@pytest.mark.parametrize("engine", ["spark", "local"])
def test_nobody_waits_for_ever_for_a_job_whose_end_cannot_be_written(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, owner: type, name: str, engine: str
) -> None:
    workspace.put("a.csv", "a,1,1")
    sink = "CREATE TABLE s (k STRING) WITH ('connector' = 'delta', 'path' = '${OUT}/s');"
    script = (f"SET 'sqlext.engine' = '{engine}';", EVENTS, sink, "INSERT INTO s SELECT k FROM events;")
    original = getattr(owner, name)

    def full(self: object, *told: object) -> None:
        original(self, *told)
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(owner, name, full)
        with pytest.raises(SqlExtError, match="No space left on device") as failed:
            workspace.run(*script)
    assert failed.value.line == 7
    assert workspace.delta("s") == [("a",)]


SINKS = {
    "append": "CREATE TABLE counts (k STRING, n BIGINT) WITH ('connector' = 'delta', 'path' = '${OUT}/counts');",
    "upsert": """CREATE TABLE counts (k STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED)
    WITH ('connector' = 'delta', 'path' = '${OUT}/counts');""",
    "files": """CREATE TABLE counts (k STRING, n BIGINT)
    WITH ('connector' = 'filesystem', 'path' = '${OUT}/f', 'format' = 'csv');""",
}


@pytest.mark.parametrize("batch", [0, 1])
@pytest.mark.parametrize("sink", SINKS.values(), ids=SINKS)
def test_a_repeated_batch_moves_the_watermark(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, sink: str, batch: int
) -> None:
    """The sink has the batch that ends the input, and skips it when it comes again: the last windows come out yet."""
    workspace.put("a.csv", "a,1,1", "b,2,2", "a,3,12")
    insert = """INSERT INTO counts SELECT k, COUNT(*)
    FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end;"""
    original = BatchWriter.__call__

    def crashing(self: BatchWriter, df: object, batch_id: int) -> None:
        original(self, df, batch_id)  # type: ignore[arg-type]
        if batch_id == batch:
            raise OSError(5, "Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr(BatchWriter, "__call__", crashing)
        with pytest.raises(SqlExtError):
            workspace.run(EVENTS, sink, insert)
    query = workspace.run(EVENTS, sink, insert)[-1].query
    rows = [tuple(line.split(",")) for line in workspace.files("f")] or workspace.delta()
    assert len(rows) == (2 if "PRIMARY" in sink else 3)
    assert {k for k, _ in rows} == {"a", "b"}
    assert query.progress["state_rows"] == 0
