"""A script with a mistake behind an INSERT is refused before it runs: nothing has been written."""

from __future__ import annotations

from pathlib import Path

import pytest

import sqlext
from sqlext.errors import SqlExtError

from .test_broken_under_flink import BROKEN

#: One statement of each kind of mistake, by its code and the first word of its statement. A run asks Spark for a
#: function that is dropped: tests/session has that.
EACH = list(
    {
        (code, text.split()[0]): text for code, _, text in BROKEN if (code, text.split()[0]) != ("FUNC-001", "DROP")
    }.values()
)
SCRIPT = """SET 'sqlext.expressions' = 'flink';
SET 'sqlext.engine' = 'local';
CREATE TABLE t (
  id INT, k STRING, v INT, d DOUBLE, m DECIMAL(10, 2), b BOOLEAN, dt DATE, tm TIME, arr ARRAY<INT>,
  mp MAP<STRING, INT>, r ROW<x INT, y STRING>, ts TIMESTAMP(3), pt AS PROCTIME(),
  WATERMARK FOR ts AS ts - INTERVAL '1' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${IN}/t', 'format' = 'json');
CREATE TABLE s (id INT, n BIGINT) WITH ('connector' = 'filesystem', 'path' = '${OUT}/s', 'format' = 'json');
CREATE TABLE u (id INT, k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${IN}/u', 'format' = 'json');
CREATE TABLE w (id INT, v INT) WITH ('connector' = 'filesystem', 'path' = '${IN}/w', 'format' = 'json');
INSERT INTO s SELECT id, v FROM w;
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in" / "w").mkdir(parents=True)
    (tmp_path / "in" / "w" / "1.json").write_text('{"id": 1, "v": 2}\n')
    return tmp_path


def _run(text: str, folder: Path) -> None:
    variables = {"IN": str(folder / "in"), "OUT": str(folder / "out")}
    sqlext.connect(catalog=str(folder / "catalog")).run(text, variables=variables)


def test_without_a_mistake_rows_are_written(folder: Path) -> None:
    _run(SCRIPT, folder)
    assert [p.read_text() for p in (folder / "out" / "s").glob("*.json")] == ['{"id":1,"n":2}\n']


@pytest.mark.parametrize("text", EACH)
def test_nothing_has_been_written(text: str, folder: Path) -> None:
    with pytest.raises(SqlExtError) as caught:
        _run(f"{SCRIPT}{text};", folder)
    assert caught.value.line == SCRIPT.count("\n") + 1
    assert not (folder / "out").exists()


def test_there_are_many() -> None:
    assert len(EACH) >= 60
