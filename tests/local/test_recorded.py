"""Recorded cases that run in this process give the rows that Flink gave."""

from __future__ import annotations

from pathlib import Path

import pytest

import sqlext
from sqlext import SqlExtError
from tests.conformance import exceptions
from tests.conformance.cases import Case, find_cases
from tests.conformance.compare import difference, read_rows
from tests.conformance.test_cases import right_rows

_FOLDER = Path(__file__).parent.parent / "conformance" / "cases" / "flink"
_CASES = [case for case in find_cases(_FOLDER) if case.reads_tables and not (case.refused or case.unrepeatable)]


@pytest.mark.sampled
@pytest.mark.parametrize("source", ["auto", "arrow"])
@pytest.mark.parametrize("case", _CASES, ids=lambda case: case.key)
def test_rows_are_flink_s(case: Case, source: str, tmp_path: Path) -> None:
    """Rows that are combined where they are read, as those of large tables are (``arrow``), are the same."""
    settings = {"sqlext.engine": "local", "sqlext.source": source}
    session = sqlext.connect(catalog=tmp_path / "catalog", settings=settings)
    variables = {"IN": str(case.folder.resolve() / "in"), "OUT": str(tmp_path / "out")}
    try:
        session.run(case.script, variables=variables)
    except SqlExtError as error:
        if error.code == "OPT-036" or case.key in (*exceptions.GAPS, *exceptions.AT_RUN, *exceptions.TIES):
            pytest.skip("only Spark runs it")
        raise
    for sink, rows in right_rows(case).items():
        folder = tmp_path / "out" / sink
        found = difference(rows, read_rows(folder) if folder.is_dir() else [], case.ignored_columns)
        assert found is None, f"sink {sink}: {found}"
