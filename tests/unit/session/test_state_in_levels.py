"""A bucket that keeps its state in levels gives the rows of one that keeps it as one value."""

from __future__ import annotations

import tempfile
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlext_udfs.kernel import levels
from sqlext_udfs.kernel.hashing import xxhash64
from sqlext_udfs.kernel.levelled import LevelRules
from sqlext_udfs.kernel.operator import Clock
from tests.unit.session.bucketed import GROUPED, MIDNIGHT, ROWS, Bucketed, script_for
from tests.unit.session.test_state_divided import QUERIES

#: States of which no level is worth it never have one.
WITHOUT_LEVELS = {"groups one by one", "FILL"}
BATCHES = st.lists(ROWS, min_size=1, max_size=8)
#: Bytes that the newest level may have: none, so that each micro-batch makes a level, or a few rows.
DELAYS = st.integers(0, 20)
_TWO = np.uint64(1 << 24)
NEWEST = st.sampled_from([0, 2_000])


@pytest.mark.parametrize("name", QUERIES)
@settings(deadline=None, max_examples=settings().max_examples // 10)
@given(BATCHES, NEWEST, st.sampled_from([1, 4]), st.integers(1, 2), st.tuples(st.booleans(), st.booleans()), DELAYS)
def test_levels_give_the_same_rows(
    name: str,
    batches: list[list[dict[str, object]]],
    newest: int,
    ratio: int,
    buckets: int,
    forgets_collide: tuple[bool, bool],
    delay: int,
) -> None:
    forgets, collide = forgets_collide
    # All keys have one of two hashes: what is stepped is more than was asked for, and the answer is the same.
    mask = _TWO if collide else ~np.uint64(0)
    hashing = patch.object(levels, "xxhash64", lambda keys, rows: xxhash64(keys, rows) & mask)
    with tempfile.TemporaryDirectory() as place, hashing:
        folder = Path(place)
        (folder / "in").mkdir()
        script = script_for(folder, QUERIES[name])
        plain = Bucketed(folder, script, buckets)
        levelled = Bucketed(folder, script, buckets, rules=LevelRules(0, newest, ratio, 0), forgets=forgets)
        before = Clock.BEGIN
        ends = [MIDNIGHT + 1000 * max(60 * n // len(batches) - delay, 0) for n in range(1, len(batches) + 1)]
        for rows, watermark in [*zip(batches, ends, strict=True), ([], Clock.END)]:
            clock = Clock(watermark, before, 1000 * len(rows))
            assert levelled.step(rows, clock) == plain.step(rows, clock)
            # At the end of input a match that can never end goes with the next call, which need not come.
            assert levelled.opened == plain.opened or watermark == Clock.END
            before = watermark
        assert not levelled.levels or name not in WITHOUT_LEVELS


TRIGGERS = ("EARLY EVERY 2 ROWS", "EARLY (EVERY 3 ROWS OR AFTER DELAY '5' SECOND)", "LATE EVERY 1 ROWS")


@settings(deadline=None, max_examples=settings().max_examples // 10)
@given(ROWS, ROWS, ROWS, st.sampled_from(TRIGGERS), st.sampled_from(TRIGGERS))
def test_levels_of_another_trigger_are_read(
    first: list[dict[str, object]], then: list[dict[str, object]], last: list[dict[str, object]], old: str, new: str
) -> None:
    """A state that was kept under another trigger is converted whole, whichever level it is in."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "in").mkdir()
        begun, changed = (
            script_for(folder, f"{GROUPED} EMIT AFTER WATERMARK {each} ALLOW LATENESS INTERVAL '9' SECOND")
            for each in (old, new)
        )
        outcomes = []
        for rules in (None, LevelRules(0, 0, 1, 0)):
            run = Bucketed(folder, begun, 1, rules=rules)
            for rows, watermark in ((first, 0), (then, 5)):
                run.step(rows, Clock(MIDNIGHT + 1000 * watermark, MIDNIGHT, 0))
            after = Bucketed(folder, changed, 1, run.states, rules=rules, shelves=run.shelves)
            found = [after.step(rows, Clock(MIDNIGHT + 9_000, MIDNIGHT + 5_000, 1_000)) for rows in (last, first)]
            outcomes.append([*found, after.step([], Clock(Clock.END, MIDNIGHT + 9_000, 9_000))])
        assert outcomes[0] == outcomes[1]
