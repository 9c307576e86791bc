"""A changed query goes on from where it was without its state: no row is read twice, and none is left out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from confluent_kafka import Producer

from sqlext import SqlExtError
from sqlext.jobs.checkpoint import QueryHome
from sqlext.jobs.decisions import Starting, plan_runs
from sqlext.jobs.runs import QueryRun
from sqlext.session.notices import ChangedTimeNotice
from sqlext.settings import LEAVES_STATE
from tests.kafka_broker import make_topic
from tests.workspace import Workspace

LEAVES = f"SET '{LEAVES_STATE}' = 'true';"
HEAD = """SET 'sqlext.bounded' = 'catch-up'; SET 'pipeline.name' = 'q'; SET 'sqlext.source' = '{source}';
CREATE TABLE events (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${{IN}}', 'format' = 'csv');
"""
SINK = "CREATE TABLE counts (k STRING, n BIGINT) WITH ('connector' = 'delta', 'path' = '${OUT}/counts');\n"
TUMBLE = "TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
WINDOWS = f"INSERT INTO counts SELECT k, {{}} FROM {TUMBLE} GROUP BY k, window_start, window_end {{}};"
JOIN = """INSERT INTO counts SELECT a.k, CAST(b.v AS BIGINT) FROM events AS a JOIN events AS b
  ON a.k = b.k AND a.v < b.v AND b.ts BETWEEN a.ts AND a.ts + INTERVAL '{}' SECOND;"""
EMIT = "EMIT ON WINDOW CLOSE ALLOW LATENESS {}s"

#: Name: the query before, after, and what the later one gives of the rows that came later (of which ``a,..`` closes
#: no window).
CHANGES = {
    "windows": (WINDOWS.format("COUNT(*)", ""), WINDOWS.format("CAST(SUM(v) AS BIGINT)", ""), [("b", "11")]),
    "firing": (WINDOWS.format("COUNT(*)", EMIT.format(0)), WINDOWS.format("COUNT(*)", EMIT.format(1)), [("b", "2")]),
    "native to operator": (WINDOWS.format("COUNT(*)", ""), WINDOWS.format("COUNT(DISTINCT v)", ""), [("b", "2")]),
    "join": (JOIN.format(3), JOIN.format(4), [("b", "6")]),
}


def before(workspace: Workspace, script: str) -> list[tuple[str, ...]]:
    """Run a query over the rows that come first; return what it gives."""
    workspace.put("1.csv", "a,1,1", "a,2,2", "b,3,12", "b,4,13")
    workspace.run(script)
    workspace.put("2.csv", "b,5,31", "b,6,32", "a,9,43")
    return workspace.delta()


def renewed(workspace: Workspace, script: str) -> Sequence[str]:
    """Run a script that leaves its state; return what is said of that."""
    with pytest.warns(ChangedTimeNotice, match="goes on from where it was without its state"):
        return workspace.run(LEAVES, script)[-1].notices


@pytest.mark.parametrize(("change", "source"), [*zip(CHANGES, ("spark", "arrow", "spark", "spark"), strict=True)])
def test_it_takes_what_came_later_and_nothing_again(workspace: Workspace, change: str, source: str) -> None:
    head = HEAD.format(source=source) + SINK
    old, new, expected = CHANGES[change]
    first = before(workspace, head + old)
    with pytest.raises(SqlExtError) as refused:
        workspace.run(head + new)
    assert (refused.value.code, LEAVES_STATE in (refused.value.hint or "")) == ("RUN-020", True)
    (notice,) = renewed(workspace, head + new)
    assert notice.startswith("query `q` goes on from where it was without its state")
    assert [row for row in workspace.delta() if row not in first] == expected
    assert len(workspace.delta()) == len(first) + len(expected)

    # What it has in state now is kept, as of any query.
    workspace.put("3.csv", "c,1,57", "c,2,59", "d,1,75")
    workspace.run(LEAVES, head + new)
    later = workspace.delta()
    assert len(later) > len(first) + len(expected)
    assert sum(row in expected for row in later) == len(expected)


def test_another_rowtime(workspace: Workspace) -> None:
    """Windows of the new time have the rows that came since; a query of the old rule would call some of them late."""
    table = """SET 'sqlext.bounded' = 'catch-up'; SET 'pipeline.name' = 'q';
CREATE TABLE visits (k STRING, made TIMESTAMP(3), seen TIMESTAMP(3), WATERMARK FOR {0} AS {0} - INTERVAL '2' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${{IN}}', 'format' = 'csv');
CREATE TABLE counts (w TIMESTAMP(3), n BIGINT) WITH ('connector' = 'delta', 'path' = '${{OUT}}/counts');
INSERT INTO counts SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE visits, DESCRIPTOR({0}), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;"""
    workspace.put("1.csv", _visit(10, 0), _visit(10, 1), _visit(11, 2))
    workspace.run(table.format("made"))
    assert workspace.delta() == [("2024-01-01 00:10:00", "2")]

    workspace.put("2.csv", _visit(14, 3), _visit(12, 3), _visit(16, 5))
    workspace.session().sql("ALTER TABLE visits MODIFY WATERMARK FOR seen AS seen - INTERVAL '2' SECOND")
    renewed(workspace, table.format("seen"))
    assert workspace.delta() == [("2024-01-01 00:03:00", "2"), ("2024-01-01 00:10:00", "2")]


@pytest.mark.kafka
def test_kafka_and_delta(workspace: Workspace, broker: str) -> None:
    """Sources of Spark that keep their places in ways of their own."""
    name = make_topic(broker, "renewal", 2)
    tables = f"""SET 'sqlext.bounded' = 'catch-up'; SET 'pipeline.name' = 'q';
CREATE TABLE topic (k STRING, v INT) WITH ('connector' = 'kafka', 'topic' = '{name}', 'format' = 'json',
  'properties.bootstrap.servers' = '{broker}', 'scan.startup.mode' = 'earliest-offset',
  'scan.bounded.mode' = 'latest-offset');
CREATE TABLE delta (k STRING, v INT) WITH ('connector' = 'delta', 'path' = '${{OUT}}/delta');
CREATE TABLE counts (k STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED)
  WITH ('connector' = 'delta', 'path' = '${{OUT}}/counts');
"""
    query = "INSERT INTO counts SELECT k, {} FROM (SELECT * FROM topic UNION ALL SELECT * FROM delta) GROUP BY k;"
    batch = "SET 'execution.runtime-mode' = 'batch';"
    producer = Producer({"bootstrap.servers": broker})

    def come(*values: int) -> None:
        for value in values:
            producer.produce(name, f'{{"k": "kafka", "v": {value}}}', partition=value % 2)
        assert producer.flush(30) == 0
        workspace.run(batch, tables, "INSERT INTO delta VALUES " + ", ".join(f"('delta', {v})" for v in values) + ";")

    come(1, 2, 3)
    workspace.run(tables, query.format("COUNT(*)"))
    assert workspace.delta() == [("delta", "3"), ("kafka", "3")]
    come(10, 20)
    renewed(workspace, tables + query.format("CAST(SUM(v) AS BIGINT)"))
    assert workspace.delta() == [("delta", "30"), ("kafka", "30")]
    come(5)
    workspace.run(LEAVES, tables, query.format("CAST(SUM(v) AS BIGINT)"))
    assert workspace.delta() == [("delta", "35"), ("kafka", "35")]


def test_it_is_said_before(workspace: Workspace) -> None:
    head = HEAD.format(source="auto") + SINK
    before(workspace, head + WINDOWS.format("COUNT(*)", ""))
    session = workspace.session()
    workspace.run(head, session=session)
    asked = "EXPLAIN " + WINDOWS.format("MAX(v)", "")
    assert "refused, RUN-020" in session.sql(asked).rows[0][0]
    session.sql(LEAVES)
    assert "it goes on from where it was without its state, open windows among it" in session.sql(asked).rows[0][0]


def test_what_has_another_place_is_refused(workspace: Workspace) -> None:
    head = HEAD.format(source="auto") + SINK
    first = before(workspace, head + WINDOWS.format("COUNT(*)", ""))
    other_files = head.replace("'format' = 'csv'", "'format' = 'csv', 'csv.comment' = '#'").replace("events", "others")
    for script in (other_files + WINDOWS.format("MAX(v)", "").replace("events", "others"), head + JOIN.format(3)):
        with pytest.raises(SqlExtError) as refused:
            workspace.run(LEAVES, script)
        assert (refused.value.code, LEAVES_STATE in (refused.value.hint or "")) == ("RUN-020", False)
    workspace.run(head + WINDOWS.format("COUNT(*)", ""))  # the old one goes on as if nobody had asked
    assert len(workspace.delta()) > len(first)


def test_a_failure_on_the_way_changes_nothing(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    head = HEAD.format(source="auto") + SINK
    first = before(workspace, head + WINDOWS.format("COUNT(*)", ""))
    with monkeypatch.context() as failing:
        failing.setattr("sqlext.jobs.renewal.carry_over", _fails)
        with pytest.raises(OSError, match="on the way"), pytest.warns(ChangedTimeNotice):
            workspace.run(LEAVES, head + WINDOWS.format("MAX(v)", ""))
    workspace.run(head + WINDOWS.format("COUNT(*)", ""))
    assert len(workspace.delta()) == len(first) + 2, "the window that was open, and the one of the rows that came later"


# The folder, step by step


def test_what_was_set_aside_comes_back_unless_the_new_run_has_begun(tmp_path: Path) -> None:
    old, new = QueryRun("r", {"window": ("10 s", "1")}), QueryRun("r", {"window": ("20 s", "2")}, renewals=1)
    with QueryHome(tmp_path, "q") as home:
        home.begin(old)
        home.write_first_tick()
    for begins in (False, True):
        home = QueryHome(tmp_path, "q")
        (Path(home.location.place) / home.set_aside() / "of").write_text("old")
        assert not Path(home.ticks.place).exists()
        if begins:
            home.begin(new)
        home.close()
        assert Path(home.ticks.place).exists() != begins
        assert (Path(home.checkpoint) / "of").exists() != begins
        assert not (Path(home.location.place) / "before").exists()


def test_a_process_that_died_on_the_way_is_put_right_by_the_next(tmp_path: Path) -> None:
    with QueryHome(tmp_path, "q") as home:
        home.begin(QueryRun("r", {}))
        home.write_heartbeat()
    (Path(home.location.place) / "before").mkdir()
    Path(home.checkpoint).rename(Path(home.location.place) / "before" / "checkpoint")
    Path(home.checkpoint).mkdir()
    (Path(home.checkpoint) / "half").write_text("made")
    with QueryHome(tmp_path, "q"):
        assert not (Path(home.checkpoint) / "half").exists()
        assert Path(home.heartbeat.place).exists()
        assert not (Path(home.location.place) / "before").exists()


def test_each_renewal_has_a_checkpoint_of_its_own(tmp_path: Path) -> None:
    with QueryHome(tmp_path, "q") as home:
        home.begin(QueryRun("r", {"window": ("10 s", "1")}))
        seen = ["r"]
        for size in ("20 s", "30 s"):
            (run,) = plan_runs([Starting(home, {"window": (size, size)})], restart_finished=False, leaves_state=True)
            seen.append(run.checkpoint_id)
            home.begin(run)
    assert seen == ["r", "r-1", "r-2"]
    assert json.loads((Path(home.location.place) / "run.json").read_text())["renewals"] == 2


def test_a_micro_batch_that_was_begun_comes_first(tmp_path: Path) -> None:
    with QueryHome(tmp_path, "q") as home:
        home.begin(QueryRun("r", {"window": ("10 s", "1")}))
        (Path(home.checkpoint) / "offsets").mkdir()
        (Path(home.checkpoint) / "offsets" / "0").write_text("v1")
        with pytest.raises(SqlExtError) as refused:
            plan_runs([Starting(home, {"window": ("20 s", "2")})], restart_finished=False, leaves_state=True)
    assert refused.value.code == "RUN-026"


def _visit(made: int, seen: int) -> str:
    return f"x,2024-01-01 00:{made:02}:30.000,2024-01-01 00:{seen:02}:30.000"


def _fails(*_: object, **__: object) -> None:
    raise OSError("on the way")
