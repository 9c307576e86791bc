"""Statement sets in this process: tables are read once, and each sink has what its INSERT alone would write."""

from __future__ import annotations

import json
import threading
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Barrier, Event

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlext
from sqlext.connectors.filesystem.reader.tables import FolderTables
from sqlext.errors import SqlExtError
from sqlext.jobs import in_process
from sqlext.local import shared_tables
from sqlext.local.engine import Computed
from sqlext.local.reading import UnwantedError
from sqlext.local.shared_tables import SharedTables

_TABLES = """
SET 'sqlext.engine' = 'local';
CREATE TABLE t (k STRING, v INT, w INT, ts TIMESTAMP(3), doubled AS CAST(v AS BIGINT) * 2,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${IN}', 'format' = 'json');
"""
_SINK = """
CREATE TABLE s{n} (k STRING, a BIGINT, b BIGINT)
WITH ('connector' = 'filesystem', 'path' = '${{OUT}}/s{n}', 'format' = 'json');
"""
_WINDOWED = "GROUP BY k, window_start, window_end"
_TEN = "TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
_HOP = "TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND))"
QUERIES = [
    f"SELECT k, COUNT(*), SUM(CAST(v AS BIGINT)) FROM {_TEN} {_WINDOWED}",
    f"SELECT k, CAST(MIN(w) AS BIGINT), CAST(MAX(w) AS BIGINT) FROM {_TEN} {_WINDOWED}",
    f"SELECT k, COUNT(*), SUM(doubled) FROM {_HOP} WHERE v > 1 {_WINDOWED}",
    f"SELECT k, COUNT(DISTINCT v), COUNT(*) FROM {_TEN} WHERE v > 1 {_WINDOWED}",
    "SELECT k, CAST(v AS BIGINT), CAST(w AS BIGINT) FROM t WHERE k IS NOT NULL",
    """SELECT a.k, CAST(a.v AS BIGINT), CAST(b.w AS BIGINT) FROM t AS a JOIN t AS b
       ON a.k = b.k AND b.ts BETWEEN a.ts AND a.ts + INTERVAL '3' SECOND""",
    f"SELECT 'all', COUNT(*), MAX(CAST(w AS BIGINT)) FROM {_TEN} GROUP BY window_start, window_end",
]
LINES = [("a", 1, 5, 1), ("b", 2, 4, 2), ("a", 3, None, 11), (None, 4, 2, 4), ("b", 5, 1, 23), ("a", 2, 9, 3)]


class _CrashError(BaseException):
    """The driver ends here."""


def put(folder: Path, *lines: tuple[str | None, int | None, int | None, int | None]) -> None:
    folder.mkdir(exist_ok=True)
    for number, (k, v, w, second) in enumerate(lines):
        ts = None if second is None else f"2024-01-01 00:00:{second:02d}"
        line = json.dumps({"k": k, "v": v, "w": w, "ts": ts})
        # Two files, so that there is more than one piece.
        with (folder / f"{number % 2}.json").open("a") as file:
            file.write(f"{line}\n")


def script(queries: list[str]) -> str:
    """Return queries as one statement set: the first writes s0."""
    sinks = "".join(_SINK.format(n=n) for n in range(len(queries)))
    inserts = " ".join(f"INSERT INTO s{n} {query};" for n, query in enumerate(queries))
    return f"{_TABLES}{sinks}EXECUTE STATEMENT SET BEGIN {inserts} END;"


def run(folder: Path, queries: list[str], work: str = "set", source: str = "auto") -> None:
    """Run a statement set; its sinks and its catalog lie below ``folder/work``."""
    variables = {"IN": str(folder / "in"), "OUT": str(folder / work)}
    session = sqlext.connect(catalog=folder / work / "catalog", settings={"sqlext.source": source})
    session.run(script(queries), variables=variables)


def written(folder: Path, count: int, work: str = "set") -> list[list[str]]:
    """Return the lines of each sink, sorted."""
    places = [folder / work / f"s{n}" for n in range(count)]
    return [sorted(line for f in p.glob("part-*") for line in f.read_text().splitlines()) for p in places]


@settings(max_examples=12, deadline=None)
@given(st.lists(st.sampled_from(QUERIES), min_size=2, max_size=5), st.sampled_from(["auto", "arrow"]))
def test_each_sink_has_what_its_insert_alone_writes(queries: list[str], source: str) -> None:
    """As those of large tables rows are combined where they are read, if the source is to be Arrow."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        put(folder / "in", *LINES)
        run(folder, queries, source=source)
        for number, query in enumerate(queries):
            run(folder, [query], f"alone{number}")
        alone = [written(folder, 1, f"alone{number}")[0] for number in range(len(queries))]
        assert written(folder, len(queries)) == alone
        assert all(alone)


def test_a_table_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "in", *LINES)
    needed: list[set[str]] = []
    original = FolderTables.reader

    def reader(self: FolderTables, *given: object) -> object:
        needed.append(set(given[1]))  # type: ignore[call-overload]
        return original(self, *given)  # type: ignore[arg-type]

    # What is there is looked at before, for each query.
    monkeypatch.setattr("sqlext.session.local_handler._require_sources", lambda *_: None)
    monkeypatch.setattr(FolderTables, "reader", reader)
    run(tmp_path, QUERIES[:2])
    assert needed == [{"k", "v", "w", "ts"}]


def test_queries_of_shared_tables_are_computed_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "in", *LINES)
    both, original = Barrier(2, timeout=60), in_process.computed

    def computed(*given: object) -> Computed:
        both.wait()  # else it breaks, and the query fails
        return original(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(in_process, "computed", computed)
    monkeypatch.setattr(in_process, "threads", lambda: 2)
    run(tmp_path, QUERIES[:2])
    assert all(written(tmp_path, 2))


def test_a_table_that_cannot_be_read_is_tried_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "in", *LINES)
    tries = []

    def reader(*given: object) -> object:
        tries.append(given)
        raise SqlExtError("RUN-066", "it is broken")

    monkeypatch.setattr("sqlext.session.local_handler._require_sources", lambda *_: None)
    monkeypatch.setattr(FolderTables, "reader", reader)
    with pytest.raises(SqlExtError) as caught:
        run(tmp_path, QUERIES[:2])
    assert caught.value.code == "RUN-066"
    assert len(tries) == 1


def test_nothing_more_is_read_when_the_job_has_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who cancels a job does not wait until its tables are read."""
    put(tmp_path / "in", *LINES)
    ended, original, errors = Event(), shared_tables.read_views, []

    def reading(*given: object) -> object:
        assert ended.wait(timeout=60)
        try:
            return original(*given)  # type: ignore[arg-type]
        except Exception as error:
            errors.append(error)
            raise

    close = SharedTables.close
    monkeypatch.setattr(shared_tables, "read_views", reading)
    monkeypatch.setattr(in_process, "_write", lambda *_, **__: 1 // 0)
    monkeypatch.setattr(SharedTables, "close", lambda self: (close(self), ended.set()))
    with pytest.raises(SqlExtError):
        run(tmp_path, QUERIES[:2])
    for thread in threading.enumerate():
        if thread.name.startswith("sqlext compute"):
            thread.join(timeout=60)
    assert [type(error) for error in errors] == [UnwantedError]


@pytest.mark.parametrize("nth", range(1, 12))
def test_a_driver_that_dies_at_any_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nth: int) -> None:
    """Sinks that have their rows get no others; those that have none get all."""
    put(tmp_path / "in", *LINES)
    run(tmp_path, QUERIES[:3], "whole")
    steps = Counter[str]()

    def crash(name: str) -> None:
        steps[name] += 1
        if steps.total() == nth:
            raise _CrashError

    with monkeypatch.context() as patched:
        patched.setattr(in_process, "at_step", crash)
        with pytest.raises(_CrashError):
            run(tmp_path, QUERIES[:3])
    run(tmp_path, QUERIES[:3])
    assert written(tmp_path, 3) == written(tmp_path, 3, "whole")


def test_a_query_that_fails_is_told_of_at_its_place(tmp_path: Path) -> None:
    """Its own expression fails; what stands before it has been written, as without the other."""
    put(tmp_path / "in", ("a", 1, 1, 1), ("a", 2_000_000_000, 1, 2))
    with pytest.raises(SqlExtError) as caught:
        run(tmp_path, [QUERIES[1], "SELECT k, CAST(v * 2 AS BIGINT), CAST(w AS BIGINT) FROM t"])
    assert caught.value.code == "RUN-041"
    assert caught.value.span is not None
    assert "INTO s1" in caught.value.span.text
    assert [len(rows) for rows in written(tmp_path, 2)] == [1, 0]


def test_what_the_set_writes_is_read_when_its_turn_comes(tmp_path: Path) -> None:
    put(tmp_path / "in", *LINES)
    variables = {"IN": str(tmp_path / "in"), "OUT": str(tmp_path)}
    copied = script(["SELECT k, CAST(v AS BIGINT), CAST(w AS BIGINT) FROM t", "SELECT k, a, b FROM s0"])
    sqlext.connect(catalog=tmp_path / "catalog").run(copied, variables=variables)
    first, second = written(tmp_path, 2, ".")
    assert first == second
    assert len(first) == len(LINES)


def test_explain_says_what_is_shared(tmp_path: Path) -> None:
    put(tmp_path / "in", *LINES)
    variables = {"IN": str(tmp_path / "in"), "OUT": str(tmp_path)}
    plans = sqlext.connect().explain(script(QUERIES[:2]), variables=variables)
    assert all("Shared:\n  t: read and decoded once for s0, s1" in plan for plan in plans)
