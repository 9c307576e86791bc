"""What the plan says of a changed query becomes of it; then its rows are those of the new query over all rows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from deltalake import DeltaTable

from sqlext import SqlExtError
from tests.restore.query_changes import DEPLOYED, FILLED, GOES_ON, Change, cells, script
from tests.workspace import Workspace

CELLS = {f"{kind}: {name}": (kind, change) for kind, name, change in cells()}
#: Key, value and second. Nothing comes out of the first rows, but for those of a changelog.
FIRST = (("a", 1, 2), ("b", 2, 3), ("a", 3, 3))
SECOND = (("a", -1, 4), ("b", -2, 5), ("a", 5, 6), ("c", 7, 12), ("a", 2, 13), ("z", 1, 58), ("z", 1, 59))


def put(workspace: Workspace, name: str, rows: tuple[tuple[str, int, int], ...]) -> None:
    workspace.put(name, *(json.dumps({"k": k, "v": v, "ts": f"2024-01-01 00:00:{s:02}"}) for k, v, s in rows))


def rows(folder: Path) -> list[dict[str, str]]:
    """Return the rows of the sink, none where it is not there."""
    if not DeltaTable.is_deltatable(str(folder / "results")):
        return []
    found = DeltaTable(str(folder / "results")).to_pyarrow_table().to_pylist()
    return sorted(({name: str(value) for name, value in sorted(row.items())} for row in found), key=str)


def of_all_rows(workspace: Workspace, text: str) -> list[dict[str, str]]:
    """Return the rows of a query that reads all that is there, and knows nothing of before."""
    folder = workspace.folder / "anew"
    workspace.run(text, session=workspace.session("other catalog"), variables={"OUT": str(folder)})
    return rows(folder)


def renew(workspace: Workspace, text: str, outcome: str) -> None:
    """Let a new version take the place of a query that cannot go on."""
    with pytest.raises(SqlExtError) as refused:
        workspace.run(text)
    assert refused.value.code == "RUN-020"
    keeps = outcome == FILLED
    options = {"keep_rows": True} if keeps else {"allow_differences": "100%"}
    found = workspace.session().deploy(text, workspace.variables, **options)
    assert "switched" in [query.outcome for query in found.queries], str(found)


def checked(workspace: Workspace, kind: str, change: Change) -> None:
    """Change a query in the middle of its rows."""
    put(workspace, "1.json", FIRST)
    workspace.run(script(kind))
    assert bool(rows(workspace.folder / "out")) == (kind == "Top-N")
    text, outcome = script(kind, change), change.becomes(kind)
    planned = workspace.session().plan(text, workspace.variables).queries[-1]
    possible = [way.name for way in planned.ways if way.refusal is None]
    if outcome == GOES_ON:
        assert planned.outcome == GOES_ON
    else:
        assert possible == (["deploy"] if outcome == DEPLOYED else ["deploy", "deploy --keep-rows"])
        renew(workspace, text, outcome)
    put(workspace, "2.json", SECOND)
    workspace.run(text)
    found = rows(workspace.folder / "out")
    assert found
    if not change.partly:
        assert found == of_all_rows(workspace, text)


@pytest.mark.sampled(40)
@pytest.mark.parametrize("cell", CELLS)
def test_it_does_what_the_plan_says(workspace: Workspace, cell: str) -> None:
    checked(workspace, *CELLS[cell])
