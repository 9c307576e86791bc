"""Which operators of one batch hand on packed rows, and whose rows are those of the result."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pyarrow as pa
import pytest

from sqlext.connectors.filesystem.local_sink import part_writer
from sqlext.connectors.filesystem.sink.part_files import FileSink
from sqlext.connectors.formats.changelog import JSON_CHANGELOG_FORMATS
from sqlext.connectors.spec import WriteColumn, WriteSpec
from sqlext.plan.nodes import KIND
from sqlext.rewrite.compiler.handed_on import HandedOn, handed_on
from sqlext.rewrite.compiler.narrowed import narrowed
from sqlext.rewrite.script.model import ArrowView, OperatorView, SqlView
from sqlext.session.offline.compilation import compile_source, new_state
from sqlext.sinks.base import SinkContext
from sqlext.source import SourceText
from sqlext.sources.program import Program
from sqlext.types import BIGINT
from sqlext_udfs.expressions.columns import Literal

_JOINED = "SELECT t.k, t.v, u.v AS w FROM t JOIN u ON t.k = u.k"
_TOP = f"""SELECT k, w FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY w DESC) AS place FROM ({_JOINED}) WHERE v > 0
) WHERE place <= 3"""
_WINDOWED = """SELECT k, MAX(v) AS most, window_start, window_end
FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end"""


def handed(folder: Path, query: str, settings: str = "SET 'sqlext.source' = 'arrow';") -> HandedOn:
    for name in "tu":
        (folder / name).mkdir()
        (folder / name / "0.json").write_bytes(b" " * (2 << 20))
    tables = "".join(
        f"""CREATE TABLE {name} (k BIGINT, v BIGINT, ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS ts) WITH (
          'connector' = 'filesystem', 'path' = '{folder / name}', 'format' = 'json');"""
        for name in "tu"
    )
    written = "'connector' = 'filesystem', 'path' = '/s', 'format' = 'debezium-json'"
    sink = f"CREATE TABLE s (k BIGINT, w BIGINT) WITH ({written});"
    text = f"{settings} {tables} {sink} INSERT INTO s {query};"
    (compiled,) = (c for _, queries in compile_source(SourceText.of(text), new_state(None)) for c in queries)
    return handed_on(compiled.script, "UTC", {"buckets": 8})


def onward(found: HandedOn) -> list[tuple[str, str]]:
    """Return the function of each operator that hands on, and of the one that takes it."""
    steps = [s for s in found.script.steps if isinstance(s, OperatorView)]
    return [(s.function, s.onward.function) for s in steps if s.onward is not None]


def test_a_join_packs_for_a_top_n(tmp_path: Path) -> None:
    found = handed(tmp_path, _TOP)
    assert onward(found) == [("join", "rank")]
    assert found.last is not None
    last = next(s for s in found.script.steps if s.view == found.last.view)
    assert isinstance(last, OperatorView)
    assert last.function == "rank"
    assert "packed" in dict(last.arguments)


def test_changes_are_written_where_they_come_out(tmp_path: Path) -> None:
    """Of each format in which a change is its rows before and after."""
    schema = pa.schema({"k": pa.int64(), "w": pa.int64(), KIND: pa.int8()})
    columns = tuple(WriteColumn(name, BIGINT) for name in "kw")
    for name, form in JSON_CHANGELOG_FORMATS.items():
        spec = WriteSpec("filesystem", columns, "s", format=name, path=str(tmp_path))
        writer = part_writer(FileSink(spec, SinkContext("q", "1", kind=KIND)), schema)
        assert (writer is not None) == (form.images != "old-lists"), name


def test_what_stood_between_is_gone(tmp_path: Path) -> None:
    found = handed(tmp_path, _TOP)
    texts = [s.sql for s in found.script.steps if isinstance(s, SqlView)]
    assert all(text.startswith("SELECT bucket, rows, now FROM") for text in texts)


def test_rows_beside_windows_are_packed_where_they_are_read(tmp_path: Path) -> None:
    query = f"SELECT a.k, a.v FROM t AS a JOIN ({_WINDOWED}) AS b ON a.v = b.most"
    found = handed(tmp_path, query)
    assert onward(found) == [("window", "join")]
    reads = [s.function for s in found.script.steps if isinstance(s, ArrowView)]
    assert reads == ["join", "window"]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT k, SUM(w) FROM (SELECT k, MAX(v) AS w, v FROM t GROUP BY k, v) GROUP BY k",
        f"SELECT k, COUNT(*) FROM ({_JOINED}) GROUP BY k",
    ],
)
def test_groups_of_what_operators_give(tmp_path: Path, query: str) -> None:
    assert len(onward(handed(tmp_path, query))) == 1


def test_what_arrow_does_not_know_stays_with_spark(tmp_path: Path) -> None:
    found = handed(tmp_path, _TOP.replace("WHERE v > 0", "WHERE LOG2(w) > 0"))
    assert onward(found) == []
    assert found.last is None


def test_windows_of_windows_are_grouped_where_they_come_out(tmp_path: Path) -> None:
    """The most of a window, joined with the windows that have it, as query 5 of Nexmark asks."""
    counted = f"SELECT window_start AS s, window_end AS e, k, most AS n FROM ({_WINDOWED})"
    most = f"SELECT MAX(n) AS most, s, e FROM ({counted}) GROUP BY s, e"
    query = f"SELECT a.k, a.n FROM ({counted}) AS a JOIN ({most}) AS b ON a.s = b.s AND a.e = b.e AND a.n = b.most"
    found = handed(tmp_path, query)
    assert found.script.at_once
    assert onward(found) == [("window", "join"), ("window", "window"), ("window", "join")]


def test_columns_that_nobody_looks_at_are_not_packed(tmp_path: Path) -> None:
    top = "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v) AS n FROM t) WHERE n = 1"
    found = handed(tmp_path, top)
    of = [narrowed(found, shares=lambda _: True), narrowed(found, shares=lambda _: False)]
    programs = [cast(Program, s.program) for h in of for s in h.script.steps if isinstance(s, ArrowView)]
    nulls = [sum(e == Literal(e.type) for _, e in program.branches[0][-1].columns) for program in programs]
    assert nulls == [0, 1]


def test_a_stream_stays_as_it_is(tmp_path: Path) -> None:
    found = handed(tmp_path, _TOP, "SET 'sqlext.source' = 'spark';")
    assert not found.script.at_once
    assert found.last is None
    assert onward(found) == []
