"""A bounded stream gives the rows that batch mode gives, for recorded cases of every area that runs in both."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conformance import exceptions
from conformance.cases import Case, find_cases
from conformance.compare import difference, read_rows
from conformance.runner import run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[1] / "conformance" / "cases"
AREAS = (
    "ddl",
    "dedup",
    "functions",
    "group_agg",
    "interval_join",
    "legacy_window",
    "match_recognize",
    "over_agg",
    "regular_join",
    "topn",
    "tvf_agg",
    "window_dedup",
    "window_join",
    "window_topn",
)
#: What batch mode means otherwise, each with its reason.
OTHERWISE = re.compile(
    r"runtime-mode|PROCTIME|CURRENT_|LOCALTIME|NOW\(|RAND|UUID"  # no answer to compare, or a mode of its own
    r"|(debezium|canal|maxwell|ogg)-json|SYSTEM_TIME AS OF"  # changes and versions of rows: streams' alone
    r"|TO_CHANGELOG"  # the changes as rows: a batch has none but its last rows (as in Flink)
    r"|ARRAY_AGG\(DISTINCT"  # its order is nobody's
)
#: A batch has a row for a whole that is empty, a stream has none (as in Flink).
EMPTY = frozenset({"functions/aggregates_empty", "group_agg/global_empty"})
#: One of so many cases, so that the whole takes a few minutes; ``--cases`` runs of conformance run all of them.
STEP = {"functions": 6, "tvf_agg": 5, "ddl": 5}


def sample() -> list[Case]:
    """Return the cases that run in both modes."""
    cases = []
    for area in AREAS:
        fit = [c for c in find_cases(ROOT / "flink" / area, ROOT / "own" / area) if _fits(c)]
        cases += fit[:: STEP.get(area, 4)]
    return cases


def _fits(case: Case) -> bool:
    waits = exceptions.waits_for(case.key) or case.refused or case.unrepeatable
    return (
        not waits
        and case.key not in exceptions.GAPS
        and case.key not in EMPTY
        and case.reads_tables
        and "INSERT" in case.script
        and not OTHERWISE.search(case.script)
    )


class BatchCase(Case):
    """The same case in batch mode."""

    @property
    def script(self) -> str:  # type: ignore[override]
        """Return the script, with the mode before it."""
        return f"SET 'execution.runtime-mode' = 'batch'; {super().script}"


@pytest.mark.sampled
@pytest.mark.parametrize("case", sample(), ids=lambda c: c.key)
def test_stream_and_batch(case: Case, spark: SparkSession, tmp_path: Path) -> None:
    outs = []
    for one in (case, BatchCase(case.folder)):
        folder = tmp_path / type(one).__name__
        folder.mkdir()
        outcome = run(one, spark, folder)
        assert outcome.error is None, outcome.error
        assert bool(outcome.started) == (type(one) is Case)
        outs.append(outcome.out)
    stream, batch = outs
    sinks = {p.name for out in outs for p in out.iterdir()}
    assert sinks
    for sink in sinks:
        rows = [read_rows(out / sink) if (out / sink).is_dir() else [] for out in (batch, stream)]
        found = difference(rows[0], rows[1], case.ignored_columns)
        assert found is None, f"{sink}: {found}"
