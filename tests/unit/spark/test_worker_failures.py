"""What Spark says of a Python that cannot run our code, in the user's terms."""

from __future__ import annotations

import pytest
from pyspark.errors import PySparkException

from sqlext.errors import SqlExtError
from sqlext.source import SourceText, Span
from sqlext.spark.failures import refused, run_error

LOST = "Job aborted: Lost task 0.3 in stage 1.0 (TID 7) (10.0.0.7 executor 2): org.apache.spark.api.python"
TRACEBACK = 'Traceback (most recent call last):\n  File "/spark/worker.py", line 1, in main\n'


def said(text: str) -> tuple[str, str, str | None]:
    """Return what a failure of a running query becomes."""
    made = run_error(PySparkException(text), None)
    return made.code, made.message, made.hint


def test_another_version() -> None:
    code, message, hint = said(
        f"{LOST}\n[PYTHON_VERSION_MISMATCH] Python in worker has different version: 3.11 than that in driver: 3.12, "
        "PySpark cannot run with different minor versions."
    )
    assert (code, message) == ("ENV-016", "workers on 10.0.0.7 have Python 3.11, and the driver has Python 3.12")
    assert hint is not None
    assert "PYSPARK_PYTHON" in hint


def test_a_python_that_is_not_there() -> None:
    code, message, _ = said(f'{LOST}\njava.io.IOException: Cannot run program "python3.12": error=2, No such file')
    assert (code, message) == ("ENV-016", "Spark cannot start `python3.12` on 10.0.0.7")


def test_a_package_of_sparks() -> None:
    text = f"{LOST}\n{TRACEBACK}PySparkImportError: [PACKAGE_NOT_INSTALLED] PyArrow >= 18.0.0 must be installed;"
    code, message, hint = said(text)
    assert (code, hint) == ("ENV-015", "pip install 'pyarrow>=18.0.0' into it")
    assert message == "a Python that Spark started on 10.0.0.7 has no pyarrow 18.0.0 or newer"


@pytest.mark.parametrize(
    ("module", "package"), [("sqlext_udfs", "sqlext-spark"), ("sqlext.sinks", "sqlext-spark"), ("a.b", "`a.b`")]
)
def test_a_module(module: str, package: str) -> None:
    code, message, hint = said(f"{LOST}\n{TRACEBACK}ModuleNotFoundError: No module named '{module}'\n")
    assert (code, message) == ("ENV-018", f"a Python that Spark started on 10.0.0.7 has no module `{module}`")
    assert hint is not None
    assert package in hint


def test_a_process_beside_the_driver_has_no_host() -> None:
    assert said(f"{TRACEBACK}ModuleNotFoundError: No module named 'sqlext'")[1] == (
        "a Python that Spark started has no module `sqlext`"
    )


def test_before_a_query_runs_too() -> None:
    text, span = f"{TRACEBACK}ModuleNotFoundError: No module named 'sqlext'", Span(SourceText.of("SELECT 1"), 0, 6)
    made = refused(PySparkException(text), span)
    assert (made.code, made.span) == ("ENV-018", span)


def test_modules_of_this_process_are_its_own() -> None:
    assert run_error(ModuleNotFoundError("No module named 'duckdb'"), None).code == "RUN-100"


def test_our_own_failures_stay() -> None:
    assert run_error(SqlExtError("RUN-062", "records did not come"), None).code == "RUN-062"
