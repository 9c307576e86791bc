"""The harness itself: rows are compared as documented, and no exception is stale."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from . import exceptions
from .cases import find_cases
from .compare import difference, read_rows

CASES = Path(__file__).parent / "cases"


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ([{"a": 1, "b": None}], [{"a": 1}]),
        ([{"a": 1, "b": 2}], [{"b": 2, "a": 1}]),
        ([{"a": 1}, {"a": 2}], [{"a": 2}, {"a": 1}]),
        ([{"t": "2024-01-01 08:00:30"}], [{"t": "2024-01-01T08:00:30.000"}]),
        ([{"t": "2024-01-01 08:00:30Z"}], [{"t": "2024-01-01T09:00:30.000+01:00"}]),
        ([{"t": "2024-01-01 08:00:30.1205"}], [{"t": "2024-01-01 08:00:30.120500"}]),
        ([{"x": 0.1}], [{"x": 0.1 + 1e-12}]),
        ([{"x": 4}], [{"x": 4.0}]),
        ([{"x": {"y": [1, None]}}], [{"x": {"y": [1, None], "z": None}}]),
    ],
)
def test_equal_rows(expected: list[dict[str, Any]], actual: list[dict[str, Any]]) -> None:
    """Rows that mean the same are the same."""
    assert difference(expected, actual) is None


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ([{"a": 1}], [{"a": 2}]),
        ([{"a": 1}, {"a": 1}], [{"a": 1}]),
        ([{"a": 1}], [{"a": True}]),
        ([{"a": "1"}], [{"a": 1}]),
        ([{"a": 2**60}], [{"a": 2**60 + 1}]),
        ([{"a": [1, 2]}], [{"a": [2, 1]}]),
        ([{"t": "2024-01-01 08:00:30.001"}], [{"t": "2024-01-01 08:00:30"}]),
        ([{"a": None}], []),
    ],
)
def test_different_rows(expected: list[dict[str, Any]], actual: list[dict[str, Any]]) -> None:
    """Rows that mean something else are told apart."""
    assert difference(expected, actual) is not None


def test_difference_names_the_column() -> None:
    """A person sees which column is wrong, not only which row."""
    found = difference([{"id": 1, "x": "a"}, {"id": 2, "x": "b"}], [{"id": 2, "x": "b"}, {"id": 1, "x": "z"}])
    assert found is not None
    assert 'differ: x: "a" -> "z"' in found


def test_read_rows_folds_partitions_and_ignores_hidden_files(tmp_path: Path) -> None:
    """A sink's folder holds part files, folders of partitions, and files of its writer's own."""
    part = tmp_path / "day=2024-01-01"
    part.mkdir()
    (part / "part-0.json").write_text(json.dumps({"id": 1}) + "\n")
    (tmp_path / "_SUCCESS").write_text("")
    (tmp_path / ".part-0.json.crc").write_text("x")
    (tmp_path / "_spark_metadata").mkdir()
    (tmp_path / "_spark_metadata" / "0").write_text("v1")
    assert read_rows(tmp_path) == [{"id": 1, "day": "2024-01-01"}]


def test_every_case_is_complete() -> None:
    """A case without an answer would pass whatever we write."""
    for case in find_cases(CASES / "flink", CASES / "own"):
        answer = "expected_error.txt" if case.refused else "expected"
        assert (case.folder / answer).exists(), case.key
        assert case.meta["area"] == case.area


def test_exceptions_name_cases_that_exist() -> None:
    """An exception without its case is stale."""
    keys = {case.key for case in find_cases(CASES / "flink", CASES / "own")}
    named = {*exceptions.LATER, *exceptions.OURS, *exceptions.TIES}
    assert named <= keys
