"""Which declarations of time may change under a checkpoint: by what they touch, not by how they are written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sqlext import SqlExtError
from sqlext.analysis.inserts.changes import ChangeKind, changes
from sqlext.analysis.inserts.fingerprint import Fingerprint
from sqlext.dialect.script import parse_script
from sqlext.jobs.checkpoint import QueryHome
from sqlext.jobs.decisions import Starting, decide, plan_runs
from sqlext.jobs.runs import QueryRun
from sqlext.plan.timing import InputEnd
from sqlext.rewrite.compiler.inserts import insert_script
from sqlext.rewrite.script.begun import Begun, readers
from sqlext.session.interpreter import Interpreter
from sqlext.session.notices import ChangedTimeNotice, foretold, tell_changes
from sqlext.session.offline.compilation import new_state
from sqlext.session.offline.dry_run import DryRun
from sqlext.source import SourceText
from tests.restore.test_fingerprint import prints

SCRIPT = """
CREATE TABLE orders (k STRING, price INT, ts TIMESTAMP(3), other TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = '/in', 'format' = 'csv', 'source.monitor-interval' = '1 s');
CREATE TABLE late (k STRING, price INT) WITH ('connector' = 'delta', 'path' = '/late');
CREATE TABLE later (k STRING, price INT) WITH ('connector' = 'delta', 'path' = '/later');
CREATE TABLE narrow (k STRING) WITH ('connector' = 'delta', 'path' = '/narrow');
CREATE TABLE sums (w TIMESTAMP(3), s BIGINT) WITH ('connector' = 'delta', 'path' = '/out');
INSERT INTO sums SELECT window_start, SUM(CAST(price AS BIGINT))
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end;
"""
FORMAT, LATE = "'format' = 'csv'", "SET 'sqlext.late-rows.table' = 'late';\nINSERT"
KEPT = SCRIPT.replace("INSERT", LATE)
DELAY = "ts - INTERVAL '5' SECOND"
#: What is replaced, by what, and what is said of it.
TIME = {
    "longer delay": (DELAY, "ts - INTERVAL '6' SECOND", "watermark was ts, 5000 ms behind, is ts, 6000 ms behind"),
    "expression": (DELAY, "ts - INTERVAL '5' MINUTE * price", "behind, is ts, ts - INTERVAL '5' MINUTE * price"),
    "idle timeout": (
        FORMAT,
        f"{FORMAT}, 'scan.watermark.idle-timeout' = '1 min'",
        "with the rows, is idle after 60000",
    ),
    "idle timeout by SET": ("INSERT", "SET 'table.exec.source.idle-timeout' = '1 min';\nINSERT", "is idle after 60000"),
    "alignment": (
        FORMAT,
        f"{FORMAT}, 'scan.watermark.alignment.group' = 'g', 'scan.watermark.alignment.max-drift' = '1 min'",
        "is aligned in 'g' within 60000 ms",
    ),
    "interval": ("INSERT", "SET 'pipeline.auto-watermark-interval' = '5 s';\nINSERT", "is at most every 5000 ms"),
    "NULL rowtimes no longer fail": (
        "INSERT",
        "SET 'table.exec.source.rowtime-null-handling' = 'drop';\nINSERT",
        "rowtime NULL handling was fail, is drop",
    ),
}
STATE = {
    "rowtime": (
        f"WATERMARK FOR ts AS {DELAY})",
        "WATERMARK FOR other AS other)",
        "rowtime was ts, is other",
    ),
    "window": ("'10'", "'20'", "window was"),
    "late rows are kept from now on": ("INSERT", LATE, "late table columns was not there, is k, price"),
}


def found(old: str, new: str, script: str = SCRIPT) -> dict[str, ChangeKind]:
    assert old in script
    renamed = script.replace("DESCRIPTOR(ts)", "DESCRIPTOR(other)") if "FOR other" in new else script
    return {str(c): c.kind for c in changes(prints(script), prints(renamed.replace(old, new, 1)))}


@pytest.mark.parametrize(("old", "new", "said"), TIME.values(), ids=TIME)
def test_what_only_moves_the_watermark(old: str, new: str, said: str) -> None:
    assert [(said in text, kind) for text, kind in found(old, new).items()] == [(True, ChangeKind.TIME)]


@pytest.mark.parametrize(("old", "new", "said"), STATE.values(), ids=STATE)
def test_what_state_was_made_by(old: str, new: str, said: str) -> None:
    kinds = found(old, new)
    assert any(said in text and kind is ChangeKind.STATE for text, kind in kinds.items()), kinds


def test_where_rows_go() -> None:
    assert found("'sqlext.late-rows.table' = 'late'", "'sqlext.late-rows.table' = 'later'", KEPT) == {
        "late table option 'path' was /late, is /later": ChangeKind.ROWS
    }
    ahead = KEPT.replace("INSERT", "SET 'sqlext.watermark.max-future' = '1 h';\nINSERT")
    assert found("'1 h'", "'2 h'", ahead) == {
        "largest rowtime was 3600000 ms ahead of the clock, is 7200000 ms ahead of the clock": ChangeKind.ROWS
    }


def test_tables_of_bad_rows() -> None:
    """A table is another branch of the query, with a source of its own: Spark counts these in its checkpoint."""
    begun: Fingerprint = {}
    kept: Fingerprint = {"sources read twice": ("orders", "[0]"), "table of bad rows": ("a.b.bad", "a.b.bad")}
    moved = {**kept, "table of bad rows": ("a.b.worse", "a.b.worse")}
    assert changes(begun, kept)[0].kind is ChangeKind.PLACE
    assert [c.kind for c in changes(kept, moved)] == [ChangeKind.ROWS]
    letters: Fingerprint = {"table of dead letters": ("a.b.letters", "a.b.letters")}
    assert [c.kind for c in changes(begun, letters)] == [ChangeKind.ROWS]


FILES = "'connector' = 'filesystem', 'path' = '/in', 'format' = 'csv', 'source.monitor-interval' = '1 s'"
KAFKA = "'connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'b:1', 'format' = 'json'"
ALIGNED = ", 'scan.watermark.alignment.group' = 'g', 'scan.watermark.alignment.max-drift' = '1 min'"


def read_by(options: str, begun: Begun | None = None) -> Fingerprint:
    """Return who reads the source of the query, as part of its fingerprint."""
    handler = DryRun(new_state(None))
    interpreter = Interpreter(handler.state, handler)
    for statement in parse_script(SourceText.of(SCRIPT.replace(FILES, options)), "spark"):
        interpreter.run(statement)
    insert = handler.compiled[-1].insert
    assert insert is not None
    return readers(insert_script(insert, interpreter.environment(), end=InputEnd.NONE, begun=begun))


@pytest.mark.parametrize(("options", "anyway"), [(KAFKA, True), (FILES, False)], ids=["kafka", "files"])
def test_alignment_may_go_and_comes_with_its_reader(options: str, anyway: bool) -> None:
    plain, aligned = read_by(options), read_by(options + ALIGNED)
    come = changes(plain, read_by(options + ALIGNED, Begun.of(plain)))
    assert [c.kind for c in come] == ([] if anyway else [ChangeKind.READER])
    for now in (options, (options + ALIGNED).replace("'1 min'", "'2 min'")):
        assert changes(aligned, read_by(now, Begun.of(aligned))) == []


def test_other_columns_of_a_late_table_are_the_operators_state() -> None:
    kinds = found("'sqlext.late-rows.table' = 'late'", "'sqlext.late-rows.table' = 'narrow'", KEPT)
    assert ChangeKind.STATE in kinds.values(), kinds


def test_what_an_older_version_did_not_write_down() -> None:
    """It had options as parts, said nothing of SET, and not which column the rowtime was."""
    new = prints(SCRIPT.replace("'6' SECOND", "'5' SECOND"))
    old: Fingerprint = {
        k: v for k, v in new.items() if k not in ("rowtime", "pace of the watermark", "largest rowtime")
    }
    old["source option 'scan.watermark.idle-timeout'"] = ("1 min", "1")
    assert changes(old, new) == []
    slower = prints(SCRIPT.replace(DELAY, "ts - INTERVAL '6' SECOND"))
    assert [c.kind for c in changes(old, slower)] == [ChangeKind.STATE]


# Said before it starts, and done


OLD: Fingerprint = {"rowtime": ("ts", "1"), "watermark": ("ts, 1 ms behind", "1"), "largest rowtime": ("any", "1")}
SLOWER: Fingerprint = {**OLD, "watermark": ("ts, 2 ms behind", "2")}
NEARER: Fingerprint = {**SLOWER, "largest rowtime": ("5 ms ahead of the clock", "2")}


@pytest.fixture
def home(tmp_path: Path) -> QueryHome:
    """A query that has begun."""
    home = QueryHome(tmp_path, "q")
    home.begin(QueryRun("run", OLD))
    return home


def test_a_run_goes_on_under_its_new_declaration(home: QueryHome) -> None:
    (run,) = plan_runs([Starting(home, SLOWER)], restart_finished=False)
    assert run == QueryRun("run", SLOWER)
    with pytest.warns(ChangedTimeNotice) as warned:
        told = tell_changes([(home, run)])
    declared, means = "watermark was ts, 1 ms behind, is ts, 2 ms behind", "the watermark goes on from where it is"
    assert told == (f"query `q` goes on from its checkpoint: {declared}: {means}, and never back",)
    assert [str(w.message) for w in warned] == list(told)
    home.begin(run)
    assert tell_changes([(home, run)]) == ()


def test_a_micro_batch_ends_as_it_began(home: QueryHome) -> None:
    for log in ("offsets", "commits"):
        (Path(home.checkpoint) / log).mkdir()
        (Path(home.checkpoint) / log / "7").write_text("v1\n{}\n-")
    assert plan_runs([Starting(home, NEARER)], restart_finished=False) == [QueryRun("run", NEARER)]
    (Path(home.checkpoint) / "offsets" / "8").write_text("v1\n{}\n-")
    assert plan_runs([Starting(home, SLOWER)], restart_finished=False) == [QueryRun("run", SLOWER)]
    with pytest.raises(SqlExtError, match="largest rowtime was any, is 5 ms ahead of the clock") as refused:
        plan_runs([Starting(home, NEARER)], restart_finished=False)
    assert refused.value.code == "RUN-026"


def said(home: QueryHome, prints: Fingerprint) -> str | None:
    (decision,) = decide([Starting(home, prints)], restart_finished=True)
    return foretold(decision)


def test_it_is_foretold(home: QueryHome, tmp_path: Path) -> None:
    home.begin(QueryRun("run", OLD))
    seen = QueryHome(tmp_path, "q", looks=True)  # while it runs
    assert said(seen, OLD) == "it goes on from its checkpoint"
    assert said(seen, NEARER) == (
        "it goes on from its checkpoint\n"
        "watermark was ts, 1 ms behind, is ts, 2 ms behind: the watermark goes on from where it is, and never back\n"
        "largest rowtime was any, is 5 ms ahead of the clock: this holds for rows that are read from now on"
    )
    other = {**OLD, "rowtime": ("other", "2")}
    refused = said(seen, other)
    assert refused is not None
    assert refused.startswith("refused, RUN-020: query `q` is not the one")
    home.begin(replace(QueryRun("run", OLD), finished=True))
    assert said(seen, other) == "it came to its end, and begins anew"
    unknown = QueryHome(tmp_path, "unknown", looks=True)
    assert said(unknown, OLD) is None
    assert not Path(unknown.location.place).exists()
