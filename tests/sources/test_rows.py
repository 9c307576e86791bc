"""Rows that are made, and written, where Arrow reads their table are those that Spark makes and writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlext.connectors.filesystem.sink import commit
from sqlext.errors import SqlExtError
from tests.workspace import Workspace

from .run_by import Case

_TABLE = """CREATE TABLE t (k STRING, v INT, r ROW<a BIGINT, s STRING, w TIMESTAMP(3)>) WITH (
  'connector' = 'filesystem', 'path' = '${IN}', 'format' = 'json');"""
_LINES = [
    '{"k": "a/b", "v": 1, "r": {"a": 5, "s": "x", "w": "2024-01-01 00:00:01.5"}}',
    '{"k": null, "v": 2, "r": {"a": null, "s": "\\"y\\u0001", "w": "2024-01-01 00:00:02"}}',
    '{"k": "", "v": -7, "r": null}',
    '{"k": "a/b", "v": 4}',
    '{"k": "z", "v": 3, "r": {"a": 9, "s": "ä"}}',
]
_COLUMNS = "v INT, a DECIMAL(22, 2), w TIMESTAMP(3), s STRING, k STRING"
_QUERY = "SELECT v + 1, CAST(r.a AS DECIMAL(22, 2)), r.w, UPPER(r.s), k FROM t WHERE v > 0"
_JSON = "'connector' = 'filesystem', 'format' = 'json'"


def _tree(folder: Path) -> dict[str, list[bytes]]:
    """Return the lines of the files of each folder."""
    found: dict[str, list[bytes]] = {}
    for file in folder.rglob("part-*"):
        found.setdefault(str(file.parent.relative_to(folder)), []).extend(file.read_bytes().splitlines())
    return {name: sorted(lines) for name, lines in found.items()}


def _put(workspace: Workspace, *more: str) -> None:
    for number in range(3):
        (workspace.input / f"{number}.json").write_text("\n".join([*_LINES, *more]) + "\n")


@pytest.mark.parametrize("kept", [_JSON, f"{_JSON}, 'json.encode.ignore-null-fields' = 'true'"])
@pytest.mark.parametrize("partitions", ["", ") PARTITIONED BY (k"])
def test_files(kept: str, partitions: str, workspace: Workspace) -> None:
    _put(workspace)
    case = Case(_TABLE, f"{_COLUMNS}{partitions}", _QUERY, kept)
    assert "t: Spark reads it" not in case.run_by("spark", workspace)
    assert "rows are made where they are read, all in one batch without state" in case.run_by("arrow", workspace)
    by_arrow, by_spark = (_tree(workspace.folder / "out" / name) for name in ("arrow", "spark"))
    assert by_arrow == by_spark
    assert sum(map(len, by_arrow.values())) == 12


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_other_sinks(form: str, workspace: Workspace) -> None:
    """Of which one writes where rows are made, and the other takes them from Spark."""
    _put(workspace)
    case = Case(_TABLE, _COLUMNS, _QUERY, f"'connector' = 'filesystem', 'format' = '{form}'")
    found = []
    for name in ("spark", "arrow"):
        case.run_by(name, workspace)
        rows = workspace.spark.read.format(form).load(str(workspace.folder / "out" / name)).collect()
        found.append(sorted(map(str, rows)))
    assert found[0] == found[1]
    assert len(found[0]) == 12


def test_a_value_that_does_not_fit_fails_both_though_nobody_looks_at_it(workspace: Workspace) -> None:
    _put(workspace, '{"k": "a", "v": 1, "r": {"a": "x", "s": "x", "w": "2024-01-01 00:00:01"}}')
    for name in ("spark", "arrow"):
        with pytest.raises(SqlExtError):
            Case(_TABLE, "v INT, s STRING", "SELECT v, r.s FROM t", _JSON).run_by(name, workspace)
        assert _tree(workspace.folder / "out" / name) == {}


@pytest.mark.parametrize("step", ["staged", "manifest written", "file renamed", "files renamed", "done written"])
def test_a_batch_that_was_cut_off_is_written_once(
    step: str, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    _put(workspace)
    case = Case(_TABLE, _COLUMNS, _QUERY, _JSON)
    case.run_by("spark", workspace)
    monkeypatch.setattr(commit, "at_step", lambda name: 1 / (name != step))
    with pytest.raises(SqlExtError):
        case.run_by("arrow", workspace)
    monkeypatch.undo()
    session = workspace.session("arrow")
    insert = f"SET 'sqlext.source' = 'arrow'; SET 'pipeline.name' = 'arrow'; INSERT INTO o {_QUERY};"
    workspace.run(insert, session=session)
    assert _tree(workspace.folder / "out" / "arrow") == _tree(workspace.folder / "out" / "spark")
