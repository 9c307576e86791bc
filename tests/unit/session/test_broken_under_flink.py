"""Broken statements under Flink's expressions are refused at check, without Spark, each at its place.

``broken_under_flink.txt`` has one in each line, behind the code of its refusal and the column of the word at fault.
``right_under_flink.txt`` has neighbours of them that Flink 2.3 takes.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlext.session.offline.checking import errors_of
from sqlext.session.offline.compilation import new_state
from sqlext.source import SourceText

TABLES = """SET 'sqlext.expressions' = 'flink';
CREATE TABLE t (
  id INT, k STRING, v INT, d DOUBLE, m DECIMAL(10, 2), b BOOLEAN, dt DATE, tm TIME, arr ARRAY<INT>,
  mp MAP<STRING, INT>, r ROW<x INT, y STRING>, ts TIMESTAMP(3), pt AS PROCTIME(),
  WATERMARK FOR ts AS ts - INTERVAL '1' SECOND
) WITH ('connector' = 'filesystem', 'path' = '/in/t', 'format' = 'json');
CREATE TABLE s (id INT, n BIGINT) WITH ('connector' = 'filesystem', 'path' = '/out/s', 'format' = 'json');
CREATE TABLE u (id INT, k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '/in/u', 'format' = 'json');
"""
BROKEN = [
    line.split(" ", 2) for line in Path(__file__).with_name("broken_under_flink.txt").read_text("utf-8").splitlines()
]
RIGHT = Path(__file__).with_name("right_under_flink.txt").read_text("utf-8").splitlines()


@pytest.mark.parametrize(("code", "column", "text"), BROKEN)
def test_broken(code: str, column: str, text: str) -> None:
    (error,) = errors_of(SourceText.of(f"{TABLES}{text};"), new_state(None).fork())
    assert (error.code, error.line, error.column) == (code, TABLES.count("\n") + 1, int(column)), error.render()
    assert error.hint, error.render()
    assert "`__" not in error.render()


def test_there_are_many() -> None:
    assert len({text for _, _, text in BROKEN}) >= 1300


@pytest.mark.parametrize("text", RIGHT)
def test_right_ones_pass(text: str) -> None:
    assert list(errors_of(SourceText.of(f"{TABLES}{text};"), new_state(None).fork())) == []
