"""Made-up tables without an end: streams read them, batches do not."""

from __future__ import annotations

import pytest

from .conftest import Analysis

FAKER = "'connector' = 'faker', 'fields.k.expression' = '#{Name.fullName}'"


@pytest.fixture
def tables() -> Analysis:
    found = Analysis()
    found.run(f"CREATE TABLE endless (k STRING) WITH ({FAKER});")
    found.run(f"CREATE TABLE counted (k STRING) WITH ({FAKER}, 'number-of-rows' = '5');")
    return found


def test_a_stream_reads_both(tables: Analysis) -> None:
    assert tables.columns("SELECT k FROM endless") == tables.columns("SELECT k FROM counted") == {"k": "STRING"}


def test_a_batch_reads_what_ends(tables: Analysis) -> None:
    tables.refuse("SELECT k FROM endless /*+ OPTIONS('scan.mode' = 'snapshot') */", "OPT-015", "endless /*+")
    tables.run("SET 'execution.runtime-mode' = 'batch'")
    tables.refuse("SELECT k FROM endless", "OPT-015", "endless")
    assert tables.columns("SELECT k FROM counted") == {"k": "STRING"}
