"""A run remembers up to where windows are closed for good, through every change of its lateness."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sqlext.analysis.inserts.changes import ChangeKind, changes, lengthened
from sqlext.analysis.inserts.fingerprint import Fingerprint
from sqlext.jobs.checkpoint import QueryHome
from sqlext.jobs.decisions import Starting, decide
from sqlext.jobs.runs import QueryRun
from sqlext.plan.grouping import ANY_TRIGGER
from sqlext.session.notices import foretold


def of_lateness(ms: int, *more: str) -> Fingerprint:
    found = {"EMIT": (f"ALLOW LATENESS {ms}", str(ms)), "open windows": (json.dumps([ms, []]), "form")}
    return {**found, **dict.fromkeys(more, ("other", "1"))}


@pytest.fixture
def home(tmp_path: Path) -> QueryHome:
    home = QueryHome(tmp_path, "q")
    home.begin(QueryRun("run", of_lateness(4_000)))
    return home


def reached(home: QueryHome, batch: int, watermark: int) -> None:
    """Let a micro-batch be done."""
    for log in ("offsets", "commits"):
        (Path(home.checkpoint) / log).mkdir(exist_ok=True)
        (Path(home.checkpoint) / log / str(batch)).write_text(f'v1\n{{"batchWatermarkMs":{watermark}}}\n-')


def go_on(home: QueryHome, prints: Fingerprint, *, leaves_state: bool = False) -> int | None:
    (decision,) = decide([Starting(home, prints)], restart_finished=False, leaves_state=leaves_state)
    assert decision.run is not None, decision.refusal
    home.begin(decision.run)
    return decision.run.closed


def test_each_change_of_lateness(home: QueryHome) -> None:
    assert go_on(home, of_lateness(5_000)) is None  # nothing is closed yet
    reached(home, 0, 60_000)
    assert go_on(home, of_lateness(9_000)) == 55_000
    assert go_on(home, of_lateness(9_000)) == 55_000
    reached(home, 1, 62_000)
    assert go_on(home, of_lateness(1_000)) == 55_000
    assert go_on(home, of_lateness(20_000)) == 61_000
    # What a longer lateness holds open never takes back what a shorter one has closed.
    reached(home, 2, 70_000)
    assert go_on(home, of_lateness(30_000)) == 61_000
    assert home.run() == QueryRun("run", of_lateness(30_000), closed=61_000)


def test_it_is_foretold(home: QueryHome) -> None:
    said = [foretold(d) for d in decide([Starting(home, of_lateness(9_000))], restart_finished=False)]
    assert str(said[0]).endswith("a longer lateness holds for all windows: none is gone yet")
    reached(home, 0, 1_704_067_210_000)
    said = [foretold(d) for d in decide([Starting(home, of_lateness(9_000))], restart_finished=False)]
    assert "a longer lateness holds for windows that end after 2024-01-01 00:00:06 (UTC)" in str(said[0])


def test_without_its_state_nothing_is_closed(home: QueryHome) -> None:
    reached(home, 0, 60_000)
    assert go_on(home, of_lateness(9_000)) == 56_000
    home.note_own_sources([])
    assert go_on(home, {**of_lateness(9_000), "WHERE": ("v > 1", "2")}, leaves_state=True) is None


def test_another_trigger_with_a_longer_lateness(home: QueryHome) -> None:
    """It is known up to where windows are closed, however the rest of the clause has changed."""

    def under(trigger: str, ms: int) -> Fingerprint:
        found = of_lateness(ms)
        return {
            **found,
            "open windows": (found["open windows"][0], trigger),
            ANY_TRIGGER: (json.dumps([ms, []]), "any"),
        }

    home.begin(QueryRun("run", under("early", 4_000)))
    reached(home, 0, 60_000)
    assert go_on(home, under("late", 9_000)) == 56_000


def test_of_several_operators_with_windows_it_stays_a_deployment() -> None:
    old, new = (of_lateness(ms, "EMIT (2)", "open windows (2)") for ms in (4_000, 9_000))
    assert [c.kind for c in changes(old, new)] == [ChangeKind.STATE]
    shorter = [c.kind for c in changes(new, old)]
    assert shorter == [ChangeKind.PANES]
    assert lengthened(new, old) is None
