"""VARCHAR and VARBINARY without a length cut nothing: by both readers, and in batch mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .cases import Case
from .conftest import RECORDED_HERE
from .runner import run
from .test_cases import check_printed, check_rows

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

CASE = RECORDED_HERE / "functions" / "varchar_without_length"


class BatchCase(Case):
    """The same case in batch mode, where no streaming query runs."""

    @property
    def script(self) -> str:  # type: ignore[override]
        """Return the script, with the mode before it."""
        return f"SET 'execution.runtime-mode' = 'batch'; {super().script}"

    @property
    def reads_tables(self) -> bool:  # type: ignore[override]
        """Return that no streaming query must have run."""
        return False


@pytest.mark.parametrize(("kind", "source"), [(Case, "auto"), (Case, "arrow"), (BatchCase, "auto")])
def test_nothing_is_cut(kind: type[Case], source: str, spark: SparkSession, tmp_path: Path) -> None:
    case = kind(CASE)
    outcome = run(case, spark, tmp_path, source)
    assert outcome.error is None, outcome.error
    check_rows(case, outcome)
    check_printed(case, outcome)
