"""EXPLAIN ROW of the examples: computing again from the input rows that it names gives the row of the result.

Rows are chosen at random, with a seed. With ``--all`` these are more than a hundred.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from .examples import DEMO, FOLDER, examples, servers
from .explained import Explained, run_example, same

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: How many rows of each query are explained.
ROWS = 3
#: Examples with queries that this process runs, over tables whose lines can be named.
HERE = [script for script in examples() if script.stem != DEMO and not servers(script)]
#: Of what only Spark runs: joins with static tables, lookups, panes, and sub-queries.
BY_SPARK = ["17_static_join", "37_early_results", "47_temporal_joins"]


def check(example: Explained, folder: Path) -> int:
    """Explain rows of an example's queries, and compute them again; return how many."""
    chance = random.Random(example.script.stem)
    explained = 0
    for query in example.queries:
        names, rows = example.rows(query)
        for row in chance.sample(rows, min(ROWS, len(rows))):
            lines = example.named(query, names, row)
            # A window without rows is made of none; a notice says so.
            if not example.has_lines(lines) or (not lines and " FILL FOR " in query.text):
                continue
            explained += 1
            again = example.again(query, lines, folder / str(explained))
            assert any(same(row, other) for other in again), (query.text, row, lines, again)
    return explained


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.sampled(6)
@pytest.mark.parametrize("script", HERE, ids=lambda script: script.stem)
def test_rows_are_computed_again(script: Path, tmp_path: Path) -> None:
    example = run_example(script, tmp_path / "first")
    if not check(example, tmp_path):
        pytest.skip("only Spark runs its queries, or nothing came out")


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", BY_SPARK)
def test_rows_that_spark_has_made_are_computed_again(name: str, spark: SparkSession, tmp_path: Path) -> None:
    example = run_example(FOLDER / f"{name}.sql", tmp_path / "first", spark)
    assert check(example, tmp_path)
