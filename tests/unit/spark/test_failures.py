"""Spark's failures in the user's terms."""

from __future__ import annotations

from pathlib import Path

from pyspark.errors import AnalysisException

import sqlext_udfs
from sqlext.spark.failures import run_error


def test_a_row_that_spark_cannot_decode() -> None:
    text = "[MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION] Malformed records are detected in record parsing: [null]."
    found = run_error(AnalysisException(text), None)
    assert found.hint is not None
    assert "SET 'sqlext.bad-rows' = 'fail'" in found.hint


def test_a_damaged_checkpoint() -> None:
    found = run_error(OSError("cannot read /x/checkpoint/offsets/3"), None)
    assert found.hint is not None
    assert "DROP QUERY" in found.hint


def test_the_line_of_a_hook_is_shown() -> None:
    ours = Path(sqlext_udfs.__file__ or "").parent / "windows" / "operator.py"
    text = f"""Job aborted: org.apache.spark.api.python.PythonException: Traceback (most recent call last):
  File "/usr/lib/python3.11/site-packages/pyspark/worker.py", line 2044, in main
    process()
  File "{ours}", line 7, in add
    state = self.hook.add(state, *values)
  File "/home/user/hooks.py", line 12, in add
    return state + price(value)
  File "/home/user/prices.py", line 3, in price
    raise ValueError("no price")
ValueError: no price

\tat org.apache.spark.api.python.BasePythonRunner"""
    assert run_error(AnalysisException(text), None).message == (
        'ValueError: no price (/home/user/prices.py:3: `raise ValueError("no price")`)'
    )
    plain = text.replace("/home/user/", "/usr/lib/python3/dist-packages/")
    assert run_error(AnalysisException(plain), None).message == "ValueError: no price"
