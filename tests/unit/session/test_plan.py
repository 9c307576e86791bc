"""What ``plan`` says of a changed script is what a start then does, up to the point where Spark takes over."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner
from deltalake import write_deltalake

from sqlext import SqlExtError
from sqlext.analysis.inserts.bound import BoundInsert
from sqlext.analysis.inserts.changes import changes
from sqlext.analysis.inserts.fingerprint import digest
from sqlext.analysis.names.environment import Environment
from sqlext.cli.main import main
from sqlext.connectors.delta.reader.tables import log_of
from sqlext.connectors.delta.reader.versions import DeltaPosition
from sqlext.dialect.ast import statements as ast
from sqlext.dialect.script import parse_script
from sqlext.jobs.checkpoint import QueryHome
from sqlext.jobs.decisions import Verdict, rebuckets
from sqlext.jobs.result import Result
from sqlext.session.drafts import Drafts, RunOptions
from sqlext.session.interpreter import Interpreter
from sqlext.session.offline.compilation import new_state
from sqlext.session.offline.dry_run import DryRun
from sqlext.session.offline.planning import plan_source
from sqlext.session.offline.script_plan import QueryPlan, ScriptPlan
from sqlext.source import SourceText
from sqlext_catalog.ddl.queries import record_query
from sqlext_catalog.model import QueryRecord

TABLES = """
CREATE OR REPLACE TABLE orders (k STRING, price INT, ts TIMESTAMP(3), other TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = '{0}/in', 'format' = 'csv', 'source.monitor-interval' = '1 s');
CREATE OR REPLACE TABLE sink (k STRING, a TIMESTAMP(3), n BIGINT)
WITH ('connector' = 'blackhole');
CREATE OR REPLACE TABLE keyed (k STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED)
WITH ('connector' = 'delta', 'path' = '{0}/keyed');
"""
WINDOW = "TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
KINDS = {
    "native": f"INSERT INTO sink SELECT k, window_start, COUNT(*) AS c FROM {WINDOW} AS o"
    " WHERE price > 0 GROUP BY k, window_start, window_end",
    "EMIT": f"INSERT INTO sink SELECT k, window_start, COUNT(*) AS c FROM {WINDOW} AS o"
    " WHERE price > 0 GROUP BY k, window_start, window_end EMIT AFTER WATERMARK EARLY EVERY 2 ROWS",
    "join": "INSERT INTO sink SELECT l.k, l.ts, CAST(p.price AS BIGINT) AS c FROM (SELECT * FROM orders AS o"
    " WHERE price > 0) AS l JOIN orders AS p ON l.k = p.k AND l.ts BETWEEN p.ts - INTERVAL '5' SECOND AND p.ts",
    "Top-N": "INSERT INTO keyed SELECT k, CAST(price AS BIGINT) AS c FROM (SELECT k, price, ROW_NUMBER() OVER"
    " (PARTITION BY k ORDER BY price DESC) AS r FROM orders AS o WHERE price > 0) WHERE r <= 1",
    "OVER": "INSERT INTO sink SELECT k, ts, COUNT(*) OVER (PARTITION BY k ORDER BY ts ROWS 5 PRECEDING) AS c"
    " FROM orders AS o WHERE price > 0",
    "MATCH_RECOGNIZE": "INSERT INTO sink SELECT k, a, m AS c FROM (SELECT * FROM orders WHERE price > 0) AS o"
    " MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts"
    " MEASURES FIRST(x.ts) AS a, CAST(LAST(x.price) AS BIGINT) AS m PATTERN (x y)"
    " DEFINE y AS y.price > x.price)",
}
SAME, BEGINS = Verdict.GOES_ON.value, Verdict.BEGINS.value
#: What is replaced, by what, and what is said of it: an outcome, or the code of a refusal.
CHANGES = {
    "nothing": ("", "", SAME),
    "white space": ("SELECT k", "SELECT\n  k", SAME),
    "a comment": ("INSERT", "-- for the report\nINSERT", SAME),
    "an alias": (" AS c", " AS counted", SAME),
    "an alias of a table": (" AS o ", " AS orders ", SAME),
    "case of keywords": ("WHERE", "where", SAME),
    "a speed": ("'1 s'", "'5 s'", SAME),
    "a longer delay": ("ts - INTERVAL '5' SECOND)", "ts - INTERVAL '50' SECOND)", SAME),
    "an idle timeout": ("'format' = 'csv',", "'format' = 'csv', 'scan.watermark.idle-timeout' = '1 min',", SAME),
    "NULL rowtimes": ("INSERT", "SET 'table.exec.source.rowtime-null-handling' = 'drop';\nINSERT", SAME),
    "an interval": ("INSERT", "SET 'pipeline.auto-watermark-interval' = '5 s';\nINSERT", SAME),
    "a setting of nothing": ("INSERT", "SET 'parallelism.default' = '3';\nINSERT", SAME),
    "buckets": ("INSERT", "SET 'sqlext.state.buckets' = '7';\nINSERT", SAME),
    "an empty statement behind": ("INSERT", "SHOW TABLES;\nINSERT", SAME),
    "another filter": ("price > 0", "price > 1", "RUN-020"),
    "one more filter": ("price > 0", "price > 0 AND k <> 'x'", "RUN-020"),
    "a column of the source": ("price INT,", "price INT, note STRING,", "RUN-020"),
    "a type of the source": ("price INT,", "price BIGINT,", "RUN-020"),
    "a path": ("{0}/in", "{0}/elsewhere", "RUN-020"),
    "a format": ("'csv'", "'json'", "RUN-020"),
    "another rowtime": ("FOR ts AS ts - INTERVAL '5' SECOND", "FOR other AS other - INTERVAL '5' SECOND", "RUN-020"),
    "a zone": ("INSERT", "SET 'table.local-time-zone' = 'Asia/Tokyo';\nINSERT", "RUN-020"),
    "a meaning": ("INSERT", "SET 'sqlext.expressions' = 'flink';\nINSERT", "RUN-020"),
    "another sink": ("INTO ", "INTO other_", "RUN-020"),
    "another name": ("INSERT", "SET 'pipeline.name' = 'second';\nINSERT", BEGINS),
    "a filter, without its state": ("price > 0", "price > 1", Verdict.WITHOUT_STATE.value),
    "a path, without its state": ("{0}/in", "{0}/elsewhere", "RUN-020"),
}
CATCH_UP = "SET 'sqlext.bounded' = 'catch-up';\n"
_LEAVES = "SET 'execution.state-recovery.ignore-unclaimed-state' = 'true';\nINSERT"


_OTHER_SINKS = """CREATE TABLE IF NOT EXISTS other_sink (k STRING, a TIMESTAMP(3), n BIGINT)
WITH ('connector' = 'print');
CREATE TABLE IF NOT EXISTS other_keyed (k STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED)
WITH ('connector' = 'delta', 'path' = '{0}/other');
INSERT"""


def script(kind: str, folder: Path, change: str = "nothing") -> str:
    old, new, _ = CHANGES[change]
    text = TABLES + "SET 'pipeline.name' = 'q';\n" + KINDS[kind] + ";\n"
    if change == "another sink":
        text = text.replace("INSERT", _OTHER_SINKS)
    if change == "another rowtime":
        for time in ("DESCRIPTOR(ts)", "ORDER BY ts", "l.ts", "p.ts"):
            text = text.replace(time, time.replace("ts", "other"))
    if change.endswith("without its state"):
        text = text.replace("INSERT", _LEAVES)
    return (text.replace(old, new) if old else text).replace("{0}", str(folder))


@dataclass
class Starter(DryRun):
    """Starts queries up to where Spark would: their places are taken and their runs begun."""

    began: list[str] = field(default_factory=list)

    def insert(self, statement: ast.Statement, inserts: Sequence[BoundInsert], env: Environment) -> Result:
        state = self.state
        records = state.catalog.snapshot().queries()
        drafting = Drafts(state.folder, RunOptions("sql"), state.settings, env, state.stores, records)
        job = drafting.job(inserts)
        job.require_end(self.state.settings)
        homes = [QueryHome(state.folder, d.name) for d in job.drafts]
        try:
            before = [home.run() for home in homes]
            runs = drafting.runs(job, homes)
            for home, run, old in zip(homes, runs, before, strict=True):
                found = changes(old.fingerprint, run.fingerprint) if old is not None else ()
                renews = old is not None and run.renews(old) and not rebuckets(found)
                goes_on = old is not None and old.run_id == run.run_id
                self.began.append("goes on without its state" if renews else "goes on" if goes_on else "begins")
                home.begin(run)
                for log in ("offsets", "commits"):
                    home.location.put(f"checkpoint/{log}/0", 'v1\n{"batchWatermarkMs": 0}\n{"logOffset": 0}')
                home.location.put("checkpoint/sources/0/0", "v1")
                home.note_own_sources([])
        finally:
            for home in homes:
                home.close()
        return Result()


def started(text: str, folder: Path) -> list[str]:
    """Start a script; return what its queries did, or the code of the refusal."""
    state = new_state(folder / "catalog")
    starter = Starter(state)
    interpreter = Interpreter(state, starter)
    try:
        for statement in parse_script(SourceText.of(text), state.settings.expressions, unparsed=True):
            interpreter.run(statement)
    except SqlExtError as error:
        return [error.code]
    return starter.began


def planned(text: str, folder: Path) -> ScriptPlan:
    return plan_source(SourceText.of(text), new_state(folder / "catalog").fork(), RunOptions("sql"))


def said(plan: QueryPlan) -> str:
    return plan.refusal.code if plan.refusal is not None else plan.outcome


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    (tmp_path / "elsewhere").mkdir()
    return tmp_path


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_start_does_what_the_plan_says(kind: str, change: str, folder: Path) -> None:
    assert started(script(kind, folder), folder) == ["begins"]
    text = script(kind, folder, change)
    before = sorted(path for path in folder.rglob("*"))
    (found,) = [said(query) for query in planned(text, folder).queries]
    assert sorted(path for path in folder.rglob("*")) == before
    assert found == CHANGES[change][2]
    assert started(text, folder) == [found]


# What else it says

ORDERS = """
CREATE TABLE orders (k STRING, n INT) WITH ('connector' = '{1}', 'path' = '{0}/in'{2});
CREATE TABLE per_k (k STRING, n BIGINT) WITH ('connector' = 'delta', 'path' = '{0}/per_k');
"""
CSV = ("filesystem", ", 'format' = 'csv'")
COUNTS = "INSERT INTO per_k SELECT k, CAST(n AS BIGINT) FROM orders"


def tables(folder: Path, connector: str = "filesystem", options: str = ", 'format' = 'csv'") -> str:
    return ORDERS.replace("{0}", str(folder)).replace("{1}", connector).replace("{2}", options)


def caught_up(folder: Path, *offsets: dict[str, object], files: Sequence[Path] = ()) -> None:
    """Put an offset of each source where Spark would have it, and a log of the files that it has read."""
    home = QueryHome(folder / "catalog", "sql.per_k", looks=True)
    home.location.put("checkpoint/offsets/1", "\n".join(["v1", "{}", *map(json.dumps, offsets)]))
    home.location.put("checkpoint/commits/1", "v1\n{}")
    entries = [json.dumps({"path": path.as_uri(), "timestamp": 1, "batchId": 0}) for path in files]
    home.location.put("checkpoint/sources/0/0", "\n".join(["v1", *entries]))


def written(path: Path, *keys: str, mode: str = "append") -> None:
    rows = pa.table({"k": pa.array(keys, pa.string()), "n": pa.array([1] * len(keys), pa.int32())})
    write_deltalake(str(path), rows, mode=mode)


def test_tables(folder: Path) -> None:
    started(tables(folder), folder)
    text = tables(folder) + (
        "ALTER TABLE per_k ADD (s BIGINT);\nCREATE VIEW seen AS SELECT k FROM orders;\nDROP TABLE orders;"
    )
    found = {t.name.rpartition(".")[2]: (t.kind, t.action, t.differences) for t in planned(text, folder).tables}
    assert found == {
        "orders": ("table", "dropped", ()),
        "per_k": ("table", "altered", ("column `s`: none -> BIGINT",)),
        "seen": ("view", "created", ()),
    }


def test_files_that_are_new(folder: Path) -> None:
    for name in ("a b.csv", "b.csv"):
        (folder / "in" / name).write_text("x,1\n")
    text = tables(folder) + CATCH_UP + COUNTS
    (query,) = planned(text, folder).queries
    assert str(query.reads[0]) == "reads orders: with the first file: 2 files, 8 bytes"
    started(text, folder)
    caught_up(folder, {"logOffset": 0}, files=[folder / "in" / "a b.csv"])
    (query,) = planned(text, folder).queries
    assert str(query.reads[0]) == "reads orders: behind 1 file: 1 file, 4 bytes"


@pytest.mark.parametrize("by", ["Spark", "Arrow"])
def test_versions_that_are_new(by: str, folder: Path) -> None:
    source = folder / "delta"
    text = tables(folder, "delta", "").replace("/in", "/delta") + CATCH_UP + COUNTS
    written(source, "a", "b")
    started(text, folder)
    written(source, "c")
    written(source, "d", "e")
    log = log_of(str(source))
    offset = {"reservoirId": log.identity(), "reservoirVersion": 1, "index": -1, "isStartingVersion": False}
    caught_up(folder, offset if by == "Spark" else {"versions": DeltaPosition(1, True, 0).number})
    (query,) = planned(text, folder).queries
    read = query.reads[0]
    assert (query.outcome, read.begins, read.files, read.rows) == ("goes on", "with version 1", 2, 3)


def test_a_source_whose_unread_columns_come_and_go(folder: Path) -> None:
    text = f"""SET 'sqlext.bounded' = 'catch-up';
CREATE TABLE sold (k STRING, note STRING, n INT) WITH ('connector' = 'delta', 'path' = '{folder}/delta');
CREATE TABLE per_k (k STRING, n BIGINT) WITH ('connector' = 'delta', 'path' = '{folder}/per_k');
"""
    query = "INSERT INTO per_k SELECT k, n FROM sold WHERE n > 1;"
    write_deltalake(folder / "delta", pa.table({"k": ["a"], "note": ["x"], "n": pa.array([1], pa.int32())}))
    assert started(text + query, folder) == ["begins"]
    caught_up(folder, {"versions": DeltaPosition(1, True, 0).number})
    head = "SET 'sqlext.bounded' = 'catch-up';"
    altered = f"{head} ALTER TABLE sold DROP note; ALTER TABLE sold ADD (more INT FIRST);"
    (goes_on,) = planned(altered + query, folder).queries
    assert (said(goes_on), goes_on.notes) == ("goes on", ())
    assert str(goes_on.reads[0]).endswith("since its columns are altered before")
    (changed,) = planned(f"{head} ALTER TABLE sold MODIFY (n BIGINT); {query}", folder).queries
    assert said(changed) == "RUN-020"


def test_a_table_that_was_made_anew(folder: Path) -> None:
    source = folder / "delta"
    text = tables(folder, "delta", "").replace("/in", "/delta") + CATCH_UP + COUNTS
    written(source, "a", "b")
    started(text, folder)
    offset = {"reservoirId": log_of(str(source)).identity(), "reservoirVersion": 1, "index": -1}
    caught_up(folder, {**offset, "isStartingVersion": False})
    assert said(planned(text, folder).queries[0]) == "goes on"
    shutil.rmtree(source)
    written(source, "a")
    (query,) = planned(text, folder).queries
    assert query.refusal is not None
    assert query.refusal.hint == "DROP QUERY `sql.per_k` starts it anew, with the rows of the new table"
    assert said(query) == "RUN-075"
    assert started(text, folder) == ["RUN-075"]
    record = QueryRecord("sql.per_k", "", (), None, f"{folder}/catalog/queries/x/checkpoint", "", "finished")
    new_state(folder / "catalog").catalog.apply(record_query(record), "START QUERY")
    assert said(planned("DROP QUERY IF EXISTS `sql.per_k`;" + text, folder).queries[0]) == ("begins anew")


def test_rows_are_taken_away_behind_it(folder: Path) -> None:
    source = folder / "delta"
    text = tables(folder, "delta", "").replace("/in", "/delta") + CATCH_UP + COUNTS
    written(source, "a", "b")
    started(text, folder)
    caught_up(folder, {"versions": DeltaPosition(1, True, 0).number})
    written(source, "c", mode="overwrite")
    assert said(planned(text, folder).queries[0]) == "RUN-069"


def test_what_becomes_of_sinks(folder: Path) -> None:
    written(folder / "per_k", "a")  # its n is INT
    text = tables(folder) + COUNTS
    assert said(planned(text, folder).queries[0]) == "SINK-091"
    fitting = text.replace("(k STRING, n BIGINT)", "(k STRING, n INT{})").replace("CAST(n AS BIGINT)", "n{}")
    assert planned(fitting.replace("{}", ""), folder).queries[0].sink.action == "the same"
    wider = fitting.replace("INT{}", "INT, s INT").replace("n{}", "n, n")
    assert said(planned(wider, folder).queries[0]) == "SINK-091"
    grows = planned(wider.replace("/per_k'", "/per_k', 'mergeSchema' = 'true'"), folder).queries[0]
    assert (grows.sink.action, grows.sink.columns) == ("columns added", ("s",))
    altered = (
        fitting.replace("{}", "").replace("INSERT", "ALTER TABLE per_k ADD (s INT);\nINSERT").replace("k, n", "k, n, n")
    )
    assert said(planned(altered, folder).queries[0]) == "begins"


def test_what_alter_table_does_to_a_delta_table(folder: Path) -> None:
    written(folder / "per_k", "a")  # its n is INT
    text = tables(folder).replace("n BIGINT)", "n INT)")
    started(text, folder)
    altered = text + "ALTER TABLE per_k RENAME n TO m; ALTER TABLE per_k MODIFY (m BIGINT); ALTER TABLE per_k DROP (k);"
    table = next(t for t in planned(altered, folder).tables if t.name.endswith("per_k"))
    assert table.stored == (
        "`n` of the Delta table becomes `m`, by column mapping",
        "`m` of the Delta table becomes BIGINT, by type widening",
        "the Delta table loses `k`, by column mapping",
    )
    assert "  the Delta table loses `k`, by column mapping" in str(planned(altered, folder)).splitlines()
    with pytest.raises(SqlExtError) as refused:
        planned(text + "ALTER TABLE per_k MODIFY (n STRING);", folder)
    assert refused.value.code == "DDL-033"


def test_one_refused_query_holds_all_back(folder: Path) -> None:
    sinks = "".join(
        f"CREATE TABLE IF NOT EXISTS s{n} (k STRING, n INT) WITH ('connector' = 'print');" for n in range(3)
    )
    both = (
        "EXECUTE STATEMENT SET BEGIN INSERT INTO s0 SELECT * FROM orders; INSERT INTO s1 SELECT * FROM orders{0}; END;"
    )
    text = tables(folder) + CATCH_UP + sinks + both + "INSERT INTO s2 SELECT * FROM orders;"
    assert started(text.replace("{0}", ""), folder) == ["begins"] * 3
    changed = text.replace("{0}", " WHERE n > 1")
    found = planned(changed, folder)
    assert [said(query) for query in found.queries] == ["held back", "RUN-020", "not reached"]
    assert (found.refused, found.loses) == (True, False)
    assert started(changed, folder) == ["RUN-020"]


def test_queries_of_other_scripts(folder: Path) -> None:
    catalog = new_state(folder / "catalog").catalog
    started(tables(folder) + CATCH_UP + COUNTS, folder)
    name = "default_catalog.default_database."
    for query, reads, writes in (("reader", "per_k", "more"), ("next", "more", None), ("apart", "orders", None)):
        record = QueryRecord(query, "", (name + reads,), writes and name + writes, "", "", "running")
        catalog.apply(record_query(record), "START QUERY")
    text = tables(folder) + CATCH_UP + _LEAVES.replace("INSERT", "") + COUNTS + " WHERE n > 1"
    found = planned(text, folder)
    assert [(t.name, t.because) for t in found.touched] == [
        ("reader", "into which `sql.per_k` writes without its state of before"),
        ("next", "into which `reader` writes"),
    ]
    assert found.loses


def recorded(folder: Path, *queries: tuple[str, str]) -> None:
    """Record queries that have begun, by name and table."""
    catalog = new_state(folder / "catalog").catalog
    for name, table in queries:
        run = QueryHome(folder / "catalog", name, looks=True).run()
        assert run is not None
        writes = f"default_catalog.default_database.{table}"
        record = QueryRecord(name, "", (), writes, "", digest(run.fingerprint), "stopped")
        catalog.apply(record_query(record), "START QUERY")


def test_a_pipeline_with_more_and_fewer_sinks_goes_on(folder: Path) -> None:
    head = (
        tables(folder)
        + f"CREATE TABLE more (k STRING, n BIGINT) WITH ('connector' = 'delta', 'path' = '{folder}/more');"
    )
    head += CATCH_UP + "SET 'pipeline.name' = 'q';\n"
    other = COUNTS.replace("per_k", "more")
    one, two = head + COUNTS, head + f"EXECUTE STATEMENT SET BEGIN {other}; {COUNTS}; END;"
    assert started(one, folder) == [BEGINS]
    recorded(folder, ("q", "per_k"))
    found = planned(two, folder)
    assert [(q.name, said(q)) for q in found.queries] == [("q.more", BEGINS), ("q", SAME)]
    assert not found.loses
    # And a set of which one query is left.
    assert started(two.replace("'q'", "'r'"), folder) == [BEGINS, BEGINS]
    recorded(folder, ("r.per_k", "per_k"), ("r.more", "more"))
    found = planned(one.replace("'q'", "'r'"), folder)
    assert [(q.name, said(q)) for q in found.queries] == [("r.per_k", SAME)]


@pytest.mark.parametrize(
    ("old", "new", "goes_on"),
    [
        ("SUM(n+1)", "SUM(n + 1)", True),
        ("SUM(n+1)", "SUM( n + 1 ), MIN(n)", True),
        ("SUM(n+1)", "MIN(n), SUM(n /* one more */ +1)", True),
        ("SUM(n)", "SUM(N), MIN(n)", False),
        ("SUM(`n`)", "SUM(n), MIN(n)", False),
        ("COUNT(*) FILTER (WHERE n>1)", "COUNT(*) FILTER (WHERE n > 1), MIN(n)", True),
        ("COUNT(*) FILTER (WHERE k = 'a b')", "COUNT(*) FILTER (WHERE k = 'a  b'), MIN(n)", True),
    ],
)
def test_an_aggregate_that_is_written_otherwise(old: str, new: str, goes_on: bool, folder: Path) -> None:
    """It would be a new one in state, and lose its rows, if only its text told it from others."""
    head = tables(folder).replace("n INT)", "n INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)")

    def query(columns: str) -> str:
        texts = ", ".join(f"CAST({c} AS STRING)" for c in columns.split(", "))
        return (
            f"{head}{CATCH_UP}CREATE OR REPLACE TABLE keyed (k STRING, w TIMESTAMP(3), s STRING, PRIMARY KEY (k, w) NOT"
            f" ENFORCED) WITH ('connector' = 'delta', 'path' = '{folder}/keyed');"
            f"INSERT INTO keyed SELECT k, window_start, CONCAT_WS(',', {texts}) FROM TABLE(TUMBLE(TABLE orders,"
            " DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY k, window_start, window_end"
            " EMIT AFTER WATERMARK EARLY EVERY 1h"
        )

    assert started(query(old), folder) == [BEGINS]
    (found,) = planned(query(new), folder).queries
    assert said(found) == (SAME if goes_on else "RUN-020")


def test_a_query_under_another_name(folder: Path) -> None:
    text = tables(folder) + CATCH_UP + COUNTS
    started(text, folder)
    recorded(folder, ("sql.per_k", "per_k"))
    again = text.replace(COUNTS, "SET 'pipeline.name' = 'other';\n" + COUNTS)
    found = planned(again, folder)
    assert (said(found.queries[0]), found.loses) == (BEGINS, True)
    (note,) = found.queries[0].notes
    assert note == (
        "query `other` is the same as `sql.per_k`, and begins anew: `per_k` gets its rows a second time; "
        "SET 'pipeline.name' = 'sql.per_k' goes on there"
    )
    # Another query may add rows to the same table; and one that was dropped has no record.
    assert not planned(again + " WHERE n > 1", folder).loses
    assert not planned("DROP QUERY `sql.per_k`;" + again, folder).loses


def test_who_reads_what_a_deployment_would_replace(folder: Path) -> None:
    text = tables(folder) + CATCH_UP + COUNTS
    started(text, folder)
    name = "default_catalog.default_database."
    record = QueryRecord("reader", "", (f"{name}per_k",), None, "", "", "stopped")
    new_state(folder / "catalog").catalog.apply(record_query(record), "START QUERY")
    found = planned(text + " WHERE n > 1", folder)
    (touched,) = found.touched
    assert touched.name == "reader"
    assert touched.because == (
        "whose rows `sqlext deploy` of `sql.per_k` replaces where they differ: see above what becomes of it"
    )
    deploy, keeps = found.queries[0].ways
    assert [reader.partition(": ")[0] for reader in deploy.readers] == [
        "query reader reads the table as a stream, and cannot be renewed"
    ]
    assert keeps.readers == ()
    assert "  where rows differ: query reader reads the table" in str(found)


COPY = "INSERT INTO copies SELECT n FROM per_k"


@pytest.mark.parametrize(
    ("options", "becomes"),
    [
        ("", "is renewed"),
        (", 'skipChangeCommits' = 'true'", "goes on: 'skipChangeCommits' passes over the commit"),
        (", 'startingVersion' = '0'", "cannot be renewed: it begins within the table, by 'startingVersion'; DROP"),
    ],
)
def test_what_becomes_of_a_reader(options: str, becomes: str, folder: Path) -> None:
    """It is in another script: the catalog has its text, and nothing says otherwise."""
    text = tables(folder).replace("/per_k'", f"/per_k'{options}") + CATCH_UP + COUNTS
    assert started(text, folder) == [BEGINS]
    copies = f"CREATE TABLE copies (n BIGINT) WITH ('connector' = 'delta', 'path' = '{folder}/copies');"
    assert started(f"{CATCH_UP} SET 'pipeline.name' = 'reader'; {copies} {COPY};", folder) == [BEGINS]
    run = QueryHome(folder / "catalog", "reader", looks=True).run()
    assert run is not None
    name = "default_catalog.default_database."
    record = QueryRecord("reader", COPY, (f"{name}per_k",), f"{name}copies", "", digest(run.fingerprint), "finished")
    new_state(folder / "catalog").catalog.apply(record_query(record), "START QUERY")
    found = planned(text + " WHERE n > 1", folder)
    (said_of,) = found.queries[0].ways[0].readers
    assert said_of.startswith(f"query reader reads the table as a stream, and {becomes}")


def test_a_query_that_runs(folder: Path) -> None:
    text = tables(folder) + CATCH_UP + COUNTS
    with QueryHome(folder / "catalog", "sql.per_k"):
        assert said(planned(text, folder).queries[0]) == "RUN-022"
        assert said(planned("SET 'sqlext.take-over' = 'true';" + text, folder).queries[0]) == "begins"
    assert said(planned(text, folder).queries[0]) == "begins"


def test_rows_that_come_again(folder: Path) -> None:
    text = tables(folder).replace("n BIGINT", "n INT") + "INSERT INTO per_k SELECT * FROM orders"
    started(text, folder)
    with QueryHome(folder / "catalog", "sql.per_k") as home:
        run = home.run()
        assert run is not None
        home.finish(run)
    written(folder / "per_k", "a")
    plan = planned(text, folder)
    assert (plan.queries[0].outcome, plan.loses, plan.refused) == ("begins anew", True, False)
    assert "gets them again" in plan.queries[0].notes[0]


@pytest.mark.parametrize(
    ("change", "strict", "code"),
    [("", False, 0), ("", True, 0), ("WHERE n > 1", False, 1), ("state", False, 0), ("state", True, 1)],
)
def test_exit_codes(change: str, strict: bool, code: int, folder: Path) -> None:
    file = folder / "sql.sql"
    started(tables(folder) + CATCH_UP + COUNTS, folder)
    leaves = _LEAVES.replace("INSERT", "") if change == "state" else ""
    file.write_text(tables(folder) + CATCH_UP + leaves + COUNTS + (" WHERE n > 1" if change else ""))
    arguments = ["plan", str(file), "--catalog", str(folder / "catalog"), "--format", "json"]
    ended = CliRunner().invoke(main, arguments + ["--strict"] * strict)
    assert ended.exit_code == code
    assert json.loads(ended.stdout)["refused"] is (change == "WHERE n > 1")


def test_a_wrong_script(folder: Path) -> None:
    file = folder / "sql.sql"
    file.write_text("INSERT INTO nowhere SELECT 1")
    ended = CliRunner().invoke(main, ["plan", str(file), "--catalog", str(folder / "catalog")])
    assert ended.exit_code == 1
    assert "SINK-001" in ended.stderr or "NAME-002" in ended.stderr or "CAT-002" in ended.stderr
    assert not (folder / "catalog").exists()


# State that is kept by name

GROUPED = """
CREATE OR REPLACE TABLE orders (k STRING, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '{0}/in', 'format' = 'csv');
CREATE OR REPLACE TABLE out (k STRING, n BIGINT{1}) WITH ('connector' = 'print');
SET 'sqlext.bounded' = 'catch-up';
INSERT INTO out SELECT k, COUNT(*) FROM (SELECT * FROM orders WHERE price > 0) GROUP BY k EMIT AFTER 2 ROWS;
"""
COUNTED = "SELECT k, COUNT(*) FROM"
ABOVE = {
    "one more": ((COUNTED, "SELECT k, COUNT(*), SUM(price) FROM"), ("{1}", ", s BIGINT"), SAME),
    "another one": ((COUNTED, "SELECT k, CAST(MAX(price) AS BIGINT) FROM"), ("", ""), SAME),
    "an expression": ((COUNTED, "SELECT k, COUNT(*) + 1 FROM"), ("", ""), SAME),
    "HAVING": (("GROUP BY k", "GROUP BY k HAVING COUNT(*) > 1"), ("", ""), SAME),
    "a filter below": (("price > 0", "price > 1"), ("", ""), "RUN-020"),
    "another key": (("GROUP BY k", "GROUP BY k, price"), ("", ""), "RUN-020"),
    "another count of a trigger": (("AFTER 2 ROWS", "AFTER 3 ROWS"), ("", ""), SAME),
    "another trigger": (("AFTER 2 ROWS", "AFTER IDLE 5s"), ("", ""), SAME),
    "another mode": (("AFTER 2 ROWS", "AFTER 2 ROWS RETRACTING"), ("", ""), "RUN-020"),
    "once": (("AFTER 2 ROWS", "ONCE AFTER 2 ROWS"), ("", ""), "RUN-020"),
    "a filter below and one more": (
        (COUNTED, "SELECT k, COUNT(*), SUM(price) FROM"),
        ("price > 0", "price > 1"),
        "RUN-020",
    ),
}


NOTES = {
    "one more": "from now on, also in windows",
    "another one": "from now on, also in windows",
    "another count of a trigger": "this holds for panes from now on",
    "another trigger": "a trigger that is new counts from now on",
}


@pytest.mark.parametrize("change", ABOVE)
def test_what_stands_above_the_state(change: str, folder: Path) -> None:
    (old, new), (other, others), expected = ABOVE[change]
    text = GROUPED.replace("{0}", str(folder))
    assert started(text.replace("{1}", ""), folder) == ["begins"]
    changed = text.replace(old, new).replace(other, others) if other else text.replace(old, new)
    if change == "a filter below and one more":
        changed = changed.replace("{1}", ", s BIGINT")
    changed = changed.replace("{1}", "")
    (query,) = planned(changed, folder).queries
    assert said(query) == expected
    assert started(changed, folder) == [expected]
    if expected == SAME:
        assert NOTES.get(change, "for what comes out from") in query.notes[0]


def test_operators_of_spark_and_changelogs_know_no_names(folder: Path) -> None:
    for text in (
        GROUPED.replace(" EMIT AFTER 2 ROWS", " EMIT AFTER 2 ROWS RETRACTING"),
        GROUPED.replace(
            "SELECT k, COUNT(*) FROM (SELECT * FROM orders WHERE price > 0) GROUP BY k EMIT AFTER 2 ROWS",
            "SELECT k, COUNT(*) FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"
            " GROUP BY k, window_start, window_end",
        ),
    ):
        query = (
            text.replace("{0}", str(folder))
            .replace("{1}", "")
            .replace("SET 'sqlext", "SET 'pipeline.name' = '" + str(len(text)) + "';\nSET 'sqlext", 1)
        )
        assert started(query, folder) == ["begins"]
        changed = query.replace("COUNT(*)", "CAST(MAX(price) AS BIGINT)")
        assert said(planned(changed, folder).queries[0]) == "RUN-020"
