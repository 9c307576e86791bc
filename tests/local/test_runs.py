"""Queries that run in this process, without Spark: their rows, their sinks, and restarts after a crash."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from deltalake import DeltaTable

import sqlext
from sqlext import SqlExtError
from sqlext.jobs import in_process

_ORDERS = """
CREATE TABLE orders (item STRING, amount DOUBLE, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${IN}', 'format' = 'json');
"""
_PER_MINUTE = """
INSERT INTO per_minute
SELECT item, window_start, SUM(amount)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY item, window_start, window_end;
"""
_SINK = "CREATE TABLE per_minute (item STRING, minute TIMESTAMP(3), total DOUBLE) WITH ({});"
_DELTA = _SINK.format("'connector' = 'delta', 'path' = '${OUT}'")
_FILES = _SINK.format("'connector' = 'filesystem', 'path' = '${OUT}', 'format' = 'json'")
_PRINT = _SINK.format("'connector' = 'print'")
_LOCAL = {"sqlext.engine": "local"}
_STEPS = ("begun", "batch begun", "batch written", "sink finished", "finished")
_TOTALS = [("ink", "10:00", 7.0), ("pen", "10:00", 4.5), ("pen", "10:01", 2.0)]
#: Runs a script, and kills itself at a step.
_DRIVER = """
import json, os, signal, sys
import sqlext
from sqlext.jobs import in_process
catalog, step, script, variables = sys.argv[1:]
in_process.at_step = lambda name: os.kill(os.getpid(), signal.SIGKILL) if name == step else None
session = sqlext.connect(catalog=catalog, settings={"sqlext.engine": "local"})
session.run(script, variables=json.loads(variables))
"""


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    """A folder with the rows of the README, and where the results go."""
    rows = [("pen", 1.5, "10:00:01"), ("ink", 7.0, "10:00:20"), ("pen", 3.0, "10:00:30"), ("pen", 2.0, "10:01:10")]
    lines = [json.dumps({"item": i, "amount": a, "ts": f"2024-01-01 {t}"}) for i, a, t in rows]
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.json").write_text("\n".join(lines) + "\n", "utf-8")
    return {"IN": str(tmp_path / "in"), "OUT": str(tmp_path / "out")}


def _run(tmp_path: Path, script: str, variables: dict[str, str]) -> list[sqlext.Result]:
    session = sqlext.connect(catalog=tmp_path / "catalog", settings=_LOCAL)
    return session.run(script, variables=variables)


def _in_delta(out: str) -> list[tuple[str, str, float]]:
    rows = DeltaTable(out).to_pyarrow_table().to_pylist()
    return sorted((r["item"], f"{r['minute']:%H:%M}", r["total"]) for r in rows)


def _in_files(out: str) -> list[tuple[str, str, float]]:
    rows = [json.loads(line) for file in Path(out).glob("*.json") for line in file.read_text("utf-8").splitlines()]
    return sorted((r["item"], r["minute"][11:16], r["total"]) for r in rows)


def test_rows_reach_a_delta_table(tmp_path: Path, variables: dict[str, str]) -> None:
    *_, inserted, selected = _run(
        tmp_path, f"{_ORDERS}{_DELTA}{_PER_MINUTE}SELECT item, total FROM per_minute WHERE total >= 4.5;", variables
    )
    assert _in_delta(variables["OUT"]) == _TOTALS
    assert sorted(selected.rows) == [("ink", 7.0), ("pen", 4.5)]
    assert inserted.query is not None
    assert inserted.query.progress["status"] == "finished"
    assert (inserted.query.progress["rows_in"], inserted.query.progress["rows_out"]) == (4, 3)


def test_rows_are_printed(tmp_path: Path, variables: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    _run(tmp_path, f"{_ORDERS}{_PRINT}{_PER_MINUTE}", variables)
    printed = sorted(capsys.readouterr().out.splitlines())
    assert printed == [
        "+I[ink, 2024-01-01T10:00, 7.0]",
        "+I[pen, 2024-01-01T10:00, 4.5]",
        "+I[pen, 2024-01-01T10:01, 2.0]",
    ]


def test_a_second_run_begins_anew(tmp_path: Path, variables: dict[str, str]) -> None:
    _run(tmp_path, f"{_ORDERS}{_FILES}{_PER_MINUTE}", variables)
    with pytest.warns(match="gets them again"):
        _run(tmp_path, f"{_ORDERS}{_FILES}{_PER_MINUTE}", variables)
    assert _in_files(variables["OUT"]) == sorted(_TOTALS * 2)


class _CrashError(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("step", _STEPS)
@pytest.mark.parametrize(("sink", "found"), [(_DELTA, _in_delta), (_FILES, _in_files)], ids=["delta", "files"])
def test_a_broken_run_goes_on(
    tmp_path: Path,
    variables: dict[str, str],
    step: str,
    sink: str,
    found: object,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def crash(name: str) -> None:
        if name == step:
            raise _CrashError

    with monkeypatch.context() as patched:
        patched.setattr(in_process, "at_step", crash)
        with pytest.raises(_CrashError):
            _run(tmp_path, f"{_ORDERS}{sink}{_PER_MINUTE}", variables)
    assert callable(found)
    if step == "finished":  # it had come to its end
        assert found(variables["OUT"]) == _TOTALS
        return
    _run(tmp_path, f"{_ORDERS}{sink}{_PER_MINUTE}", variables)
    assert found(variables["OUT"]) == _TOTALS


@pytest.mark.parametrize("step", ["batch begun", "batch written"])
def test_a_killed_process_is_followed_by_another(tmp_path: Path, variables: dict[str, str], step: str) -> None:
    script, catalog = f"{_ORDERS}{_DELTA}{_PER_MINUTE}", str(tmp_path / "catalog")
    for name, code in ((step, -signal.SIGKILL), ("none", 0)):
        command = [sys.executable, "-c", _DRIVER, catalog, name, script, json.dumps(variables)]
        assert subprocess.run(command, env=os.environ, check=False).returncode == code
    assert _in_delta(variables["OUT"]) == _TOTALS


def test_explain_says_who_runs_a_query_and_why(tmp_path: Path, variables: dict[str, str]) -> None:
    session = sqlext.connect(catalog=tmp_path / "catalog", settings={"sqlext.engine": "auto"})
    script = f"{_ORDERS}{_DELTA}{_PER_MINUTE}SELECT initcap(item) FROM orders;"
    inserted, selected = session.explain(script, variables=variables)
    assert "Engine:\n  this process: Arrow does all of it, and the input is small" in inserted
    assert "Engine:\n  Spark: only Spark is known to do this: `INITCAP(item)`" in selected


def test_what_only_spark_does_is_refused_before_anything_runs(tmp_path: Path, variables: dict[str, str]) -> None:
    script = f"{_ORDERS}{_DELTA}{_PER_MINUTE}\nSELECT regexp_extract(item, '(.)') FROM orders;"
    with pytest.raises(SqlExtError) as refused:
        _run(tmp_path, script, variables)
    assert (refused.value.code, refused.value.line) == ("OPT-036", 10)
    assert "regexp_extract" in refused.value.message.lower()
    assert not Path(variables["OUT"]).exists()


@pytest.mark.parametrize("fault", ["a source that is not there", "a sink that is a file", "a sink of other columns"])
def test_a_set_with_a_fault_makes_no_table(tmp_path: Path, variables: dict[str, str], fault: str) -> None:
    """The first INSERT is right; the second is refused before the table of the first is made."""
    other, source = tmp_path / "other", tmp_path / "elsewhere"
    if fault == "a sink that is a file":
        other.write_text("")
    if fault == "a sink of other columns":
        _run(tmp_path, f"{_ORDERS} {_DELTA} {_PER_MINUTE}", {**variables, "OUT": str(other)})
    source.mkdir(exist_ok=True) if fault != "a source that is not there" else None
    form = "'filesystem', 'format' = 'json'" if fault != "a sink of other columns" else "'delta'"
    script = f"""
    {_ORDERS} {_DELTA}
    CREATE TABLE items (item STRING) WITH ('connector' = 'filesystem', 'path' = '{source}', 'format' = 'json');
    CREATE TABLE names (item STRING) WITH ('connector' = {form}, 'path' = '{other}');
    EXECUTE STATEMENT SET BEGIN {_PER_MINUTE} INSERT INTO names SELECT item FROM items; END;
    """
    with pytest.raises(SqlExtError) as refused:
        _run(tmp_path / "second", script, variables)
    codes = {"a source that is not there": "OPT-009", "a sink that is a file": "SINK-092"}
    assert refused.value.code == codes.get(fault, "SINK-091")
    assert refused.value.line is not None
    assert not Path(variables["OUT"]).exists()
    catalog = sqlext.connect(catalog=tmp_path / "second" / "catalog").catalog
    assert catalog.snapshot().queries() == []


def test_a_pattern_compares_times_of_rows_with_an_interval(tmp_path: Path, variables: dict[str, str]) -> None:
    """Rows of one key up to a gap of half a minute, and the row behind it."""
    clauses = (
        "ORDER BY ts MEASURES FIRST(A.amount) AS f, LAST(A.amount) AS l, B.amount AS b AFTER MATCH SKIP PAST LAST ROW "
        "PATTERN (A+ B) DEFINE A AS LAST(A.ts, 1) IS NULL OR A.ts < LAST(A.ts, 1) + INTERVAL '30' SECOND, "
        "B AS B.ts >= LAST(A.ts) + INTERVAL '30' SECOND"
    )
    found = _run(tmp_path, f"{_ORDERS} SELECT * FROM orders MATCH_RECOGNIZE ({clauses});", variables)
    assert found[-1].rows == [(1.5, 3.0, 2.0)]


def test_ranks_of_a_view_have_the_range_that_a_join_says(tmp_path: Path, variables: dict[str, str]) -> None:
    """A condition of the join, or the WHERE behind it, stands for the filter around the numbers."""
    view = (
        "CREATE VIEW ranked AS SELECT item, amount, "
        "ROW_NUMBER() OVER (PARTITION BY item ORDER BY amount DESC, ts) AS rn FROM orders;"
    )
    joined = "FROM orders o LEFT JOIN ranked r ON o.item = r.item"
    on = f"SELECT o.amount, r.amount {joined} AND r.rn = 1;"
    where = f"SELECT o.amount, r.amount, r.rn {joined} WHERE r.rn <= 2 AND o.amount > 2;"
    found = _run(tmp_path, f"{_ORDERS} {view} {on} {where}", variables)
    assert sorted(found[-2].rows) == [(1.5, 3.0), (2.0, 3.0), (3.0, 3.0), (7.0, 7.0)]
    assert sorted(found[-1].rows) == [(3.0, 2.0, 2), (3.0, 3.0, 1), (7.0, 7.0, 1)]
