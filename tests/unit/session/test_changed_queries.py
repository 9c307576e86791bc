"""A table of changes: for queries of each kind and under both schedules the plan says what becomes of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlext.jobs.checkpoint import QueryHome
from sqlext.session.drafts import RunOptions
from sqlext.session.offline.compilation import new_state
from sqlext.session.offline.pace import ReadingPace
from sqlext.session.offline.planning import plan_source
from sqlext.session.offline.script_plan import QueryPlan, ReadPlan, Way
from sqlext.source import SourceText
from sqlext_catalog.ddl.queries import record_query
from sqlext_catalog.model import QueryRecord
from tests.restore.query_changes import DEPLOYED, FILLED, GOES_ON, REFUSED, cells, script
from tests.unit.session.test_plan import started

CELLS = {f"{kind}: {name}": (kind, change) for kind, name, change in cells()}


def placed(text: str, folder: Path) -> str:
    return text.replace("${IN}", str(folder / "in")).replace("${OUT}", str(folder / "out"))


def becomes(query: QueryPlan) -> str:
    """Return what a plan says of a query, as the table says it."""
    if query.refusal is None:
        return query.outcome
    possible = [way.name for way in query.ways if way.refusal is None]
    assert query.refusal.code == "RUN-020"
    if "deploy --keep-rows" in possible:
        return FILLED
    return DEPLOYED if possible else REFUSED


def planned(text: str, folder: Path) -> QueryPlan:
    found = plan_source(SourceText.of(text), new_state(folder / "catalog").fork(), RunOptions("sql"))
    return next(query for query in found.queries if query.sink.table.endswith(".results"))


def know(folder: Path) -> None:
    """Let the catalog know the query that has begun."""
    reads, writes = (f"default_catalog.default_database.{name}" for name in ("events", "results"))
    place = QueryHome(folder / "catalog", "q", looks=True).checkpoint
    record = QueryRecord("q", "INSERT INTO results", (reads,), writes, place, "f", "stopped", None, 0)
    new_state(folder / "catalog").catalog.apply(record_query(record), "INSERT")


@pytest.mark.parametrize("endless", [False, True], ids=["catch-up", "endless"])
@pytest.mark.parametrize("cell", CELLS)
def test_the_plan_says_what_becomes_of_it(cell: str, endless: bool, tmp_path: Path) -> None:
    kind, change = CELLS[cell]
    (tmp_path / "in").mkdir()
    assert started(placed(script(kind, endless=endless), tmp_path), tmp_path) == ["begins"]
    know(tmp_path)
    text = placed(script(kind, change, endless=endless), tmp_path)
    found = becomes(planned(text, tmp_path))
    assert found == change.becomes(kind)
    outcome = started(text, tmp_path)
    assert outcome[-1:] == [GOES_ON if found == GOES_ON else "RUN-020"]


def test_a_script_that_alters_tables_is_not_deployed(tmp_path: Path) -> None:
    """A deployment refuses such statements, so the plan offers it to no query of the script."""
    (tmp_path / "in").mkdir()
    assert started(placed(script("native"), tmp_path), tmp_path) == ["begins"]
    text = script("native").replace("v <> 0", "v <> 1").replace("INSERT", "ALTER TABLE results ADD (m INT);\nINSERT")
    text = text.replace("INTO results", "INTO results (k, t, n)")
    query = planned(placed(text, tmp_path), tmp_path)
    assert query.refusal is not None
    assert query.refusal.code == "RUN-020"
    assert [(way.name, "alters a table" in str(way.refusal)) for way in query.ways] == [
        ("deploy", True),
        ("deploy --keep-rows", True),
    ]


def test_how_long_a_catch_up_reads(tmp_path: Path) -> None:
    """By the rows of before, else by their bytes; where micro-batches are not in the history nothing is said."""
    read = ReadPlan("events", "", files=1, bytes=300, rows=30)
    sized = ReadPlan("events", "", files=1, bytes=300)
    before = [ReadPlan("events", "", files=1, bytes=100)]
    pace = ReadingPace(rows=10, busy_ms=2000, whole=True)
    assert pace.ms_for([read], before) == 6000
    assert pace.ms_for([sized], before) == 6000
    assert ReadingPace(10, 2000, whole=False).ms_for([sized], before) is None
    assert ReadingPace(0, 0, whole=True).ms_for([read], before) is None
    shown = [*Way("deploy", (sized,), 6000).lines(), *Way("deploy", (sized,), 400_000).lines()]
    assert shown[1::2] == ["  takes about 6 s at the pace of before", "  takes about 6 min at the pace of before"]
