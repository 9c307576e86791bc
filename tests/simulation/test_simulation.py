"""Whatever a driver dies of, and however rows are cut, the answer is that of one run over all rows.

``make simulate`` tries as many scenarios as one likes.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, assume, given, note, settings

from sqlext import SqlExtError
from tests.simulation.scenario import Scenario, scenarios
from tests.simulation.world import World

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: A run in this process takes about a fiftieth of one on Spark.
_LOCAL = 5


def check(spark: SparkSession | None, scenario: Scenario) -> None:
    """Let a scenario happen, and hold what came of it against one run over all rows."""
    with TemporaryDirectory() as folder:
        world = World(spark, Path(folder), scenario)
        try:
            expected = [world.expected(number) for number, _ in enumerate(scenario.questions)]
        except SqlExtError as error:
            # What only Spark does is simulated there.
            assume(spark is not None or error.code != "OPT-036")
            raise
        world.happen()
        note(f"drivers: {world.ended} ended, {world.died} died, {world.rivals} rivals were refused")
        for number, question in enumerate(scenario.questions):
            assert world.answer(number) == expected[number], question.select


def tried(config: pytest.Config, happens: Callable[[Scenario], None], times: int = 1) -> None:
    """Try scenarios: always the same ones, unless a seed is given. One that fails is shrunk and shown."""
    chosen = settings(
        max_examples=config.getoption("--scenarios") * times,
        derandomize=config.getoption("--hypothesis-seed") is None,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
    )
    chosen(given(scenarios())(happens))()


def test_on_spark(spark: SparkSession, pytestconfig: pytest.Config) -> None:
    """Rows come between the lives of drivers, and each catches up."""
    tried(pytestconfig, lambda scenario: check(spark, scenario))


def test_in_this_process(pytestconfig: pytest.Config) -> None:
    """All rows are there from the beginning, and no Spark runs."""
    tried(pytestconfig, lambda scenario: check(None, scenario.all_at_first), _LOCAL)
