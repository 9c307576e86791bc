"""Spark's failures in the user's terms."""

from __future__ import annotations

from pyspark.errors import AnalysisException

from sqlext.spark.failures import run_error


def test_a_table_that_spark_does_not_know() -> None:
    found = run_error(
        AnalysisException("[TABLE_OR_VIEW_NOT_FOUND] The table `t` cannot be found. SQLSTATE: 42P01"), None
    )
    assert (found.code, found.message) == ("RUN-100", "[TABLE_OR_VIEW_NOT_FOUND] The table `t` cannot be found.")
    assert (
        found.hint
        == "Spark runs this statement, and it knows no tables of this catalog: they are for SELECT and INSERT"
    )


def test_a_row_that_spark_cannot_decode() -> None:
    text = "[MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION] Malformed records are detected in record parsing: [null]."
    found = run_error(AnalysisException(text), None)
    assert found.hint is not None
    assert "SET 'sqlext.bad-rows' = 'fail'" in found.hint


def test_a_damaged_checkpoint() -> None:
    found = run_error(OSError("cannot read /x/checkpoint/offsets/3"), None)
    assert found.hint is not None
    assert "DROP QUERY" in found.hint
