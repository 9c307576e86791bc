"""Every recorded case gives Flink's rows, or is refused where Flink refuses it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import exceptions
from .cases import Case, Printed, rows_per_sink
from .compare import Row, difference, equal, normal, read_rows
from .runner import Outcome, run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OURS = Path(__file__).parent / "ours"


def test_case(case: Case, source: str, spark: SparkSession, tmp_path: Path) -> None:
    """Run the script and compare with what was recorded."""
    outcome = run(case, spark, tmp_path, source)
    if case.refused and case.key not in exceptions.OURS:
        check_refused(case, outcome)
        return
    if outcome.error:
        # What waits for later work is refused while planning; a query that breaks is a bug.
        at_run = case.key in exceptions.AT_RUN
        assert at_run or not outcome.started, f"the query failed: {outcome.error}"
        raise outcome.error
    check_rows(case, outcome)
    check_printed(case, outcome)


def check_refused(case: Case, outcome: Outcome) -> None:
    """Expect our own error, and before anything ran where Flink finds it while planning."""
    error = outcome.error
    assert error is not None, f"Flink refuses this script: {flinks_error(case)}"
    if error.code == "ENV-014":  # not for Flink's reason
        raise error
    assert error.message, "an error without a message"
    if not case.fails_late:
        assert not outcome.started, f"a query ran before the error: {error}"
        assert not outcome.written, f"rows were written before the error: {error}"


def check_rows(case: Case, outcome: Outcome) -> None:
    """Expect the recorded rows in each sink, written by a streaming query."""
    expected = right_rows(case)
    for sink, rows in expected.items():
        folder = outcome.out / sink
        actual = read_rows(folder) if folder.is_dir() else []
        found = difference(rows, actual, case.ignored_columns)
        if found is not None and case.key in exceptions.TIES:
            found = difference(rows_per_sink(OURS / case.key)[sink], actual, case.ignored_columns)
        assert found is None, f"sink {sink}: {found}"
    if expected and case.reads_tables:
        assert outcome.started, "no streaming query ran: the answer is that of a batch job"


def check_printed(case: Case, outcome: Outcome) -> None:
    """Expect what DESCRIBE and SHOW printed, statement by statement, rows in order."""
    expected = case.expected_printed()
    if not expected:
        return
    assert len(outcome.printed) == len(expected), (
        f"{len(expected)} statements print rows, but {len(outcome.printed)} results have columns"
    )
    pairs = zip(expected, outcome.printed, strict=True)
    wrong = [found for pair in pairs if (found := printed_difference(case, *pair))]
    assert not wrong, "\n".join(wrong)


def right_rows(case: Case) -> dict[str, list[Row]]:
    """Return the rows to expect: Flink's, or ours where we differ on purpose."""
    if case.key in exceptions.OURS:
        return rows_per_sink(OURS / case.key)
    return case.expected_rows()


def printed_difference(case: Case, expected: Printed, result: Any) -> str | None:
    """Return how a printed result differs from Flink's, or None."""
    columns = list(result.columns)
    rows = [[printed_value(case, value) for value in row] for row in result.rows]
    if columns == expected.columns and equal(normal(rows), normal(expected.rows)):
        return None
    return "\n".join(
        [expected.statement, *_table("expected", expected.columns, expected.rows), *_table("found", columns, rows)]
    )


def _table(title: str, columns: list[str], rows: list[list[Any]]) -> list[str]:
    return [f"  {title} {columns}", *(f"    {row}" for row in rows)]


def printed_value(case: Case, value: Any) -> Any:
    """Return a printed value as it was recorded: texts, with the input folder as a variable."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return str(value).replace(str(case.folder.resolve() / "in"), "${IN}")


def flinks_error(case: Case) -> str:
    """Return the first line of what Flink said."""
    return (case.folder / "expected_error.txt").read_text("utf-8").split("\n", 1)[0]
