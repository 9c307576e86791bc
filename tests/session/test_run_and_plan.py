"""A run on Spark does what ``session.plan`` has said."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

import pytest

from sqlext import SqlExtError
from sqlext.session.offline.script_plan import QueryPlan
from tests.workspace import COUNTS, EVENTS, WINDOWED, Workspace

CATCH_UP = "SET 'sqlext.bounded' = 'catch-up';"
SCRIPT = (CATCH_UP, EVENTS, COUNTS, WINDOWED)
SEEN = """
CREATE TABLE seen (k STRING, n BIGINT) WITH ('connector' = 'delta', 'path' = '${OUT}/seen');
INSERT INTO seen SELECT k, n FROM counts;
"""


def planned(workspace: Workspace, *parts: str) -> Sequence[QueryPlan]:
    return workspace.session().plan("\n".join(parts), workspace.variables).queries


def test_a_run_does_what_was_said(workspace: Workspace) -> None:
    workspace.put("a.csv", "a,1,1", "a,2,12", "b,3,13")
    both = (*SCRIPT, SEEN)
    assert [q.outcome for q in planned(workspace, *both)] == ["begins", "begins"]
    workspace.run(*both)
    workspace.put("b.csv", "a,7,14", "a,1,40")
    counts, seen = planned(workspace, *both)
    assert str(counts.reads[0]) == "reads events: behind 1 file: 1 file, 56 bytes"
    assert [q.outcome for q in (counts, seen)] == ["goes on", "goes on"]
    assert seen.reads[0].begins == "with what `sql.counts` writes before"
    results = workspace.run(*both)
    assert next(r.query.progress["rows_in"] for r in results if r.query is not None) == 2
    # What `seen` reads is known where nothing writes it before.
    (alone,) = planned(workspace, CATCH_UP, SEEN)
    assert (alone.reads[0].files, alone.reads[0].rows) == (0, 0)


def test_a_table_that_was_made_anew(workspace: Workspace) -> None:
    workspace.put("a.csv", "a,1,1", "a,2,12", "b,3,40")
    workspace.run(*SCRIPT, SEEN)
    shutil.rmtree(workspace.folder / "out" / "counts")
    anew = ("DROP QUERY `sql.counts`;", *SCRIPT)
    (counts,) = planned(workspace, *anew)
    assert (counts.outcome, counts.sink.action) == ("begins anew", "created")
    workspace.run(*anew)
    (seen,) = planned(workspace, CATCH_UP, SEEN)
    assert seen.refusal is not None
    with pytest.raises(SqlExtError) as refused:
        workspace.run(CATCH_UP, SEEN)
    assert refused.value.code == seen.refusal.code == "RUN-075"
    workspace.run(CATCH_UP, "DROP QUERY `sql.seen`;", SEEN)
    assert len(workspace.delta("seen")) == 4
