"""What DESCRIBE, SHOW CREATE TABLE and SHOW CREATE VIEW said in Flink 2.3.0 against ours, without Spark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sqlext.errors import SqlExtError
from sqlext_catalog.information_schema import system_view

from .conftest import Definitions

DESCRIBED = Path(__file__).parent / "described"
TABLES = (DESCRIBED / "tables.sql").read_text("utf-8")


def _answers() -> dict[str, dict[str, Any]]:
    lines = (DESCRIBED / "described.jsonl").read_text("utf-8").splitlines()
    return {record["script"]: record for record in map(json.loads, lines)}


def _differences() -> dict[str, str]:
    lines = (DESCRIBED / "differences.txt").read_text("utf-8").splitlines()
    pairs = (line.partition("  -->  ") for line in lines if line and not line.startswith("#"))
    return {script: reason for script, _, reason in pairs}


ANSWERS = _answers()
DIFFERENT = _differences()


def ours(definitions: Definitions, script: str) -> list[list[object]] | str:
    """Return what the last statement gives, or the code of the refusal."""
    try:
        return [list(row) for row in definitions.run(f"{TABLES};{script}")]
    except SqlExtError as error:
        return error.code


@pytest.mark.parametrize("script", ANSWERS)
def test_as_flink(flink: Definitions, script: str) -> None:
    answer, found = ANSWERS[script], ours(flink, script)
    same = found == answer["rows"] if "rows" in answer else isinstance(found, str)
    assert same != (script in DIFFERENT), f"{found}, Flink: {answer.get('rows', answer.get('refused'))}"


def test_every_difference_was_asked() -> None:
    assert DIFFERENT.keys() <= ANSWERS.keys()


def test_the_information_schema_has_the_same_types(flink: Definitions) -> None:
    flink.run("CREATE TABLE t (a VARCHAR, b VARBINARY, c CHAR, d ROW<x VARCHAR>) WITH ('connector' = 'datagen')")
    found = system_view("columns", flink.catalog.snapshot())
    assert found is not None
    assert [row[5] for row in found.rows] == ["STRING", "BYTES", "CHAR(1)", "ROW<`x` STRING>"]
