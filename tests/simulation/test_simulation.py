"""Whatever a driver dies of, and however rows are cut, the answer is that of one run over all rows.

``make simulate`` tries as many scenarios as one likes, or for as many minutes.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, assume, given, note, seed, settings

from sqlext import SqlExtError
from tests.simulation.scenario import Scenario, scenarios
from tests.simulation.world import World

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: How many scenarios have one seed. Whether there is time for more is asked between them.
_ROUND = 5


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


def tried(config: pytest.Config, happens: Callable[[Scenario], None], share: float) -> None:
    """Try so many scenarios, or as many as a share of the minutes has time for. One that fails is shrunk and shown.

    Round after round has the next seed, from the one that is given, or from 0: the same rounds in each run.
    """
    first = int(config.getoption("--hypothesis-seed") or 0)
    wanted: int | None = config.getoption("--scenarios")
    until = time.monotonic() + 60 * share * config.getoption("--minutes")
    for number in itertools.count(first):
        # Shown with a failure.
        print(f"seed {number}: pytest tests/simulation --scenarios={wanted or _ROUND} --hypothesis-seed={number}")
        _round(happens, number, wanted or _ROUND)
        if wanted is not None or time.monotonic() >= until:
            print(f"{number - first + 1} rounds of {wanted or _ROUND} scenarios")
            return


def _round(happens: Callable[[Scenario], None], number: int, many: int) -> None:
    """Try the scenarios of a seed."""
    chosen = settings(
        max_examples=many,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
    )
    seed(number)(chosen(given(scenarios())(happens)))()


def test_on_spark(spark: SparkSession, pytestconfig: pytest.Config) -> None:
    """Rows come between the lives of drivers, and each catches up."""
    tried(pytestconfig, lambda scenario: check(spark, scenario), 2 / 3)


def test_in_this_process(pytestconfig: pytest.Config) -> None:
    """All rows are there from the beginning, and no Spark runs."""
    tried(pytestconfig, lambda scenario: check(None, scenario.all_at_first), 1 / 3)
