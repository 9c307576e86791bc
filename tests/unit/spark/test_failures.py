"""Spark's failures in the user's terms."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.errors import AnalysisException

import sqlext
import sqlext_udfs
from sqlext.errors import SqlExtError
from sqlext.source import SourceText
from sqlext.spark.failures import refused, run_error, sentence
from sqlext.spark.passing import may_pass


def test_a_row_that_spark_cannot_decode() -> None:
    text = "[MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION] Malformed records are detected in record parsing: [null]."
    found = run_error(AnalysisException(text), None)
    assert found.code == "RUN-066"
    assert found.hint is not None
    assert "SET 'sqlext.bad-rows' = 'fail'" in found.hint


def test_a_delta_table_that_was_made_anew() -> None:
    text = "[DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE] The streaming query was reading from an unexpected table."
    found = run_error(AnalysisException(text), None)
    assert found.code == "RUN-075"
    assert found.hint is not None
    assert found.hint.startswith("DROP QUERY starts the query anew")


def test_columns_that_delta_s_source_cannot_follow() -> None:
    found = run_error(
        AnalysisException("[DELTA_SCHEMA_CHANGED_WITH_VERSION] Detected schema change in version 7:"), None
    )
    assert (found.code, found.message) == (
        "RUN-082",
        "version 7 of a Delta table changes columns, while the query reads it",
    )


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        (
            (
                "[DELTA_SOURCE_TABLE_IGNORE_CHANGES] Detected a data update (for example DELETE (Map())) in the source"
                " table at version 2. This is currently not supported. The source table can be found at path file:/d/t."
            ),
            "RUN-069",
            "version 2 of delta `/d/t` takes rows away or changes them, after they were read",
        ),
        (
            (
                "[DELTA_SOURCE_IGNORE_DELETE] Detected deleted data (for example a.parquet) from streaming source at"
                " version 12. This is currently not supported."
            ),
            "RUN-069",
            "version 12 of a Delta table takes rows away or changes them, after they were read",
        ),
        (
            (
                "[DELTA_MISSING_FILES_UNEXPECTED_VERSION] Delta stream cannot resume from version 3; transaction log"
                " starts at 10. Log files may have been deleted by log retention."
            ),
            "RUN-068",
            "version 3 of a Delta table is not in its log, which begins with version 10",
        ),
        (
            "[DELTA_LOG_FILE_NOT_FOUND_FOR_STREAMING_SOURCE] If you never deleted it, it's likely your query",
            "RUN-068",
            "a version of a Delta table that the query goes on from is not in its log",
        ),
        # Of our own reader, from a process of Spark's.
        (
            (
                "Traceback (most recent call last)\nsqlext.errors.SqlExtError: RUN-069: version 2 of delta `/t` takes"
                " rows away or changes them, after they were read"
            ),
            "RUN-069",
            "version 2 of delta `/t` takes rows away or changes them, after they were read",
        ),
    ],
)
def test_history_that_a_delta_table_does_not_have(text: str, code: str, message: str) -> None:
    """Both readers say the same, with what can be done."""
    found = run_error(AnalysisException(text), None)
    assert (found.code, found.message) == (code, message)
    assert found.hint is not None
    assert ("skipChangeCommits" if code == "RUN-069" else "startingVersion") in found.hint


def test_a_damaged_checkpoint() -> None:
    found = run_error(OSError("cannot read /x/checkpoint/offsets/3"), None)
    assert found.hint is not None
    assert "DROP QUERY" in found.hint
    found = run_error(OSError("[STREAMING_STATEFUL_OPERATOR_MISSING_STATE_DIRECTORY] Cannot restart the query."), None)
    assert found.hint is not None
    assert "DROP QUERY" in found.hint


def test_a_python_process_that_died() -> None:
    """Behind it stands only what the JVM met then."""
    text = (
        "Job aborted: Lost task 0.0 in stage 1.0 (TID 1) (vm executor driver): org.apache.spark.SparkException: Python "
        "worker exited unexpectedly (crashed)\nCaused by: java.io.EOFException\n\tat java.base"
    )
    found = run_error(AnalysisException(text), None)
    assert (found.code, may_pass(found)) == ("RUN-100", True)
    assert found.message == "a Python process of Spark died: Python worker exited unexpectedly"
    assert "run it again" in (found.hint or "")


def test_a_full_disk_and_a_file_that_is_gone() -> None:
    full = run_error(OSError(28, "No space left on device", "/x/y"), None)
    assert (full.code, "/x/y" in full.message, "make room" in (full.hint or "")) == ("RUN-100", True, True)
    for text in (
        "[Errno 2] Failed to open local file '/t/a.parquet'. Detail: [errno 2] No such file or directory",
        "Job aborted\nCaused by: java.io.FileNotFoundException: File /t/a.parquet does not exist\n",
        "[FAILED_READ_FILE.FILE_NOT_EXIST] Encountered error while reading file /t/a.parquet. File does not exist. ",
    ):
        gone = run_error(AnalysisException(text), None)
        assert (gone.code, gone.message) == ("RUN-094", "a file that is to be read is gone: `/t/a.parquet`")
        assert "VACUUM" in (gone.hint or "")


def test_what_a_reader_of_ours_met() -> None:
    """Spark puts a line of its own before what Python says, which names no cause; no user's function is to blame."""
    text = (
        "[PYTHON_STREAMING_DATA_SOURCE_RUNTIME_ERROR] Failed when Python streaming data source perform latestOffset: "
        "Traceback (most recent call last):\n"
        f'  File "{Path(sqlext.__file__).parent}/stores/folder.py", line 52, in create\n    file.write(data)\n'
        "OSError: [Errno 28] No space left on device: '/x/y'\n SQLSTATE: 38000\n"
    )
    found = run_error(AnalysisException(text), None)
    assert (found.code, found.message) == ("RUN-100", "OSError: [Errno 28] No space left on device: '/x/y'")
    assert "make room" in (found.hint or "")
    assert may_pass(found)


def test_a_file_that_spark_cannot_read() -> None:
    text = (
        "[FAILED_READ_FILE.NO_HINT] Encountered error while reading file file:///t/a.parquet.  SQLSTATE: KD001\n"
        "Caused by: java.io.EOFException: Read past End of File\n\tat x"
    )
    found = run_error(AnalysisException(text), None)
    assert found.message == "`/t/a.parquet` cannot be read: EOFException: Read past End of File"
    assert "remove `.a.parquet.crc`" in (found.hint or "")


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
    found = run_error(AnalysisException(text), None)
    assert found.code == "RUN-047"
    assert found.message == ('ValueError: no price (/home/user/prices.py:3: `raise ValueError("no price")`)')
    plain = text.replace("/home/user/", "/usr/lib/python3/dist-packages/")
    assert run_error(AnalysisException(plain), None).message == "ValueError: no price"


CONTEXT = """[{condition}] {said} SQLSTATE: 22012
== SQL (line 1, position 25) ==
SELECT `x` FROM (SELECT {part} AS `x` FROM (SELECT item, amoun...
                        {carets}
"""
MET = {
    "zero": ("DIVIDE_BY_ZERO", "Division by zero. Use `try_divide`.", "a / b", "RUN-040", "division by zero"),
    "overflow": ("ARITHMETIC_OVERFLOW", "overflow.", "a + b", "RUN-041", "a number is too large for its type"),
    "cast": (
        "CAST_INVALID_INPUT",
        'The value \'pen\' of the type "STRING" cannot be cast to "INT" because it is malformed.',
        "CAST(a AS INT)",
        "RUN-046",
        "'pen' cannot be cast to INT",
    ),
    "index": (
        "INVALID_ARRAY_INDEX",
        "The index 5 is out of bounds. The array has 2 elements. Use the SQL function `get()`.",
        "a[5]",
        "RUN-048",
        "The index 5 is out of bounds. The array has 2 elements",
    ),
}


@pytest.mark.parametrize(("condition", "said", "part", "code", "message"), MET.values(), ids=MET)
def test_what_an_expression_meets_stands_at_the_expression(
    condition: str, said: str, part: str, code: str, message: str
) -> None:
    text = CONTEXT.format(condition=condition, said=said, part=part, carets="^" * len(part))
    source = SourceText.of(f"SELECT\n  {part} AS x FROM t")
    found = run_error(AnalysisException(text), source.span(0, len(source.text)))
    assert (found.code, found.message, found.line, found.column) == (code, message, 2, 3)
    assert found.hint is not None
    # Where the expression stands twice, or was written anew, nobody knows which one it was.
    for other in (f"SELECT {part}, {part} FROM t", "SELECT y FROM t"):
        source = SourceText.of(other)
        assert run_error(AnalysisException(text), source.span(0, len(other))).column == 1


def test_what_a_statement_raises() -> None:
    found = run_error(AnalysisException("[USER_RAISED_EXCEPTION] no such luck SQLSTATE: P0001"), None)
    assert (found.code, found.message) == ("RUN-049", "no such luck")


def test_a_refused_query_stands_at_the_name_that_spark_says() -> None:
    source = SourceText.of("SELECT item, lpad(item) AS x FROM t")
    text = "[WRONG_NUM_ARGS.WITHOUT_SUGGESTION] The `lpad` requires [2, 3] parameters but the actual number is 1."
    found = refused(AnalysisException(text), source.span(0, len(source.text)))
    assert (found.code, found.column) == ("RUN-101", 14)
    assert found.message == "Spark refuses the query: The `lpad` requires [2, 3] parameters but the actual number is 1."


def test_what_nobody_foresaw() -> None:
    assert run_error(AnalysisException("[SOMETHING_NEW] It is so."), None).code == "RUN-100"


def test_py4j_names_the_call_before_the_failure() -> None:
    text = """An error occurred while calling o3701.save.
: org.apache.hadoop.fs.UnsupportedFileSystemException: No FileSystem for scheme "unheard-of"
\tat org.apache.hadoop.fs.FileSystem.getFileSystemClass(FileSystem.java:3585)
"""
    assert sentence(text) == 'UnsupportedFileSystemException: No FileSystem for scheme "unheard-of"'


def test_what_is_said_of_a_bad_row_is_said_once() -> None:
    said = SqlExtError("RUN-066", "[MALFORMED_RECORD] a.csv:2: it has 1 fields, not 2 in b")
    once = run_error(said, None)
    assert run_error(once, None).message == once.message
    assert once.message.count("cannot be decoded") == 1
