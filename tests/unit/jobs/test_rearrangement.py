"""Sources of a checkpoint get other numbers; a driver that dies on the way leaves what puts everything back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sqlext.analysis.inserts.fingerprint import Fingerprint, digest
from sqlext.jobs.checkpoint import QueryHome
from sqlext.jobs.decisions import Starting, decide
from sqlext.jobs.rearrangement import rearrange
from sqlext.jobs.runs import QueryRun

SCHEDULED: Fingerprint = {"end of input": ("catch-up", "1")}
LIVE: Fingerprint = {"end of input": ("none", "2"), "heartbeats": ("of each input", "1")}


@pytest.fixture
def home(tmp_path: Path) -> QueryHome:
    """A scheduled query of two tables and ticks, after two micro-batches."""
    home = QueryHome(tmp_path, "q")
    home.begin(QueryRun("run", SCHEDULED))
    for batch in (0, 1):
        home.location.put(f"checkpoint/offsets/{batch}", "\n".join(["v1", "{}", f"a{batch}", "t", f"b{batch}"]))
        home.location.put(f"checkpoint/commits/{batch}", "v1")
    home.location.put("checkpoint/sources/0/0", "v1\nfile a")
    home.location.put("checkpoint/sources/1/0", "v1\ntick")
    home.location.put("checkpoint/sources/2/0", "v1\nfile b")
    home.location.put("ticks/start.txt", "5")
    home.note_own_sources([1])
    return home


def there(home: QueryHome) -> dict[str, str | None]:
    return {key: home.location.text(key) for key in sorted(home.location.names()) if not key.startswith("lease")}


def moved(home: QueryHome) -> None:
    rearrange(home.location, {1: 0, 3: 2}, 5, digest(LIVE))


def test_places_go_with_their_sources(home: QueryHome) -> None:
    moved(home)
    home.begin(QueryRun("run", LIVE))
    found = there(home)
    assert found["checkpoint/offsets/1"] == "v1\n{}\n-\na1\n-\nb1\n-"
    assert found["checkpoint/offsets/0"] == "v1\n{}\n-\na0\n-\nb0\n-"
    assert found["checkpoint/sources/1/0"] == "v1\nfile a"
    assert found["checkpoint/sources/3/0"] == "v1\nfile b"
    assert not [key for key in found if key.startswith(("ticks", "checkpoint/sources/0", "checkpoint/sources/2"))]
    assert json.loads(found["checkpoint/sqlext-own-sources"] or "") == [0, 2, 4]
    assert "rearranged.json" not in found
    home.close()
    assert there(home) == found


def test_it_is_put_back_unless_the_query_has_begun(home: QueryHome, tmp_path: Path) -> None:
    before = there(home)
    moved(home)
    assert there(home) != before
    home.close()
    with QueryHome(tmp_path, "q"):  # the next driver
        assert there(home) == before


@pytest.mark.parametrize("to", ["live", "scheduled"])
def test_it_is_a_change_that_the_checkpoint_bears(to: str, home: QueryHome) -> None:
    old, new = (SCHEDULED, LIVE) if to == "live" else (LIVE, SCHEDULED)
    home.begin(QueryRun("run", old))
    (decision,) = decide([Starting(home, new)], restart_finished=False)
    assert decision.verdict.value == "goes on"
    home.location.put("checkpoint/offsets/2", "v1\n{}\n-")  # begun, and not finished
    (decision,) = decide([Starting(home, new)], restart_finished=False)
    assert decision.refusal is not None
    assert decision.refusal.code == "RUN-026"


def test_what_nobody_has_noted(home: QueryHome) -> None:
    home.location.store.delete("checkpoint/sqlext-own-sources")
    (decision,) = decide([Starting(home, LIVE)], restart_finished=False)
    assert decision.refusal is not None
    assert decision.refusal.code == "RUN-027"


def test_an_input_that_has_ended_stays_ended(home: QueryHome) -> None:
    home.begin(QueryRun("run", {"end of input": ("finish", "3")}))
    (decision,) = decide([Starting(home, LIVE)], restart_finished=False)
    assert decision.refusal is not None
    assert decision.refusal.code == "RUN-020"
