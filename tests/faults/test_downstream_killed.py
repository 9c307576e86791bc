"""A deployment that renews a reader, and its way back, killed (kill -9) on the way: old rows or new ones everywhere."""

from __future__ import annotations

import pytest

from sqlext import SqlExtError
from sqlext.session.deploying.report import SAME, SWITCHED
from tests.faults.replaced_rows import AFTER, BEFORE, ENDED, OLD_ENDED, Rows, tables
from tests.workspace import EVENTS, Workspace

pytestmark = [pytest.mark.slow, pytest.mark.sampled(16)]

HEAD = "SET 'sqlext.bounded' = 'catch-up'; SET 'pipeline.name' = '{}';\n"
SINK = "CREATE TABLE IF NOT EXISTS {0} (k STRING, n BIGINT{1}) WITH ('connector' = 'delta', 'path' = '${{OUT}}/{0}');\n"
PLAIN, SUMS = SINK.format("plain", ""), SINK.format("sums", ", PRIMARY KEY (k) NOT ENFORCED")
WRITER = HEAD.format("w") + EVENTS.replace("TABLE", "TABLE IF NOT EXISTS", 1) + PLAIN
WRITER += "INSERT INTO plain SELECT k, CAST(v AS BIGINT) FROM events WHERE v > %d;"
OLD, NEW = WRITER % 0, WRITER % 1
READER = HEAD.format("r") + PLAIN + SUMS + "INSERT INTO sums SELECT k, SUM(n) FROM plain GROUP BY k;"
#: Each query gets a version beside, is being switched, and is switched.
MOMENTS = ["versions:1", "planned:1", "versions:2", "planned:2", "versions:3", "versions:4", "replaced:1", "moved:1"]
LAST = ["recorded:1", "versions:5", "replaced:2", "recorded:2", "versions:6"]


def require_whole(workspace: Workspace) -> None:
    """Each table has all old rows or all new ones; while they are not of one kind, the reader does not begin."""
    found = tables(workspace)
    assert all(found[name] in (BEFORE[name], AFTER[name]) for name in found), found
    if found not in (BEFORE, AFTER):
        with pytest.raises(SqlExtError) as refused:
            workspace.run(READER)
        assert refused.value.code == "RUN-083"


def begun(workspace: Workspace) -> None:
    workspace.put("1.csv", "a,1,1", "b,2,2", "b,3,12")
    workspace.run(OLD)
    workspace.run(READER)
    assert tables(workspace) == BEFORE


def ended(workspace: Workspace, writer: str, rows: dict[str, Rows]) -> None:
    """Let both go on: each row is in the tables once."""
    workspace.put("2.csv", "a,7,14")
    workspace.run(writer)
    workspace.run(READER)
    assert tables(workspace) == rows


@pytest.mark.parametrize("moment", MOMENTS + LAST)
def test_the_same_command_ends_it(workspace: Workspace, moment: str) -> None:
    begun(workspace)
    workspace.killed(NEW, moment, variables={"COMMAND": "deploy"})
    require_whole(workspace)
    found = workspace.session().deploy(NEW, workspace.variables, allow_differences="100%")
    assert {q.outcome for q in found.queries} <= {SWITCHED, SAME}
    assert tables(workspace) == AFTER
    ended(workspace, NEW, ENDED)


@pytest.mark.parametrize("moment", ["versions:4", "replaced:1", "moved:1", "versions:5", "replaced:2"])
def test_a_rollback_undoes_it(workspace: Workspace, moment: str) -> None:
    begun(workspace)
    workspace.killed(NEW, moment, variables={"COMMAND": "deploy"})
    workspace.session().roll_back(OLD, workspace.variables)
    assert tables(workspace) == BEFORE
    ended(workspace, OLD, OLD_ENDED)


@pytest.mark.parametrize("moment", ["versions:1", "versions:2", "restored:1", "versions:3", "restored:2"])
def test_a_rollback_is_ended(workspace: Workspace, moment: str) -> None:
    begun(workspace)
    workspace.session().deploy(NEW, workspace.variables, allow_differences="100%")
    assert tables(workspace) == AFTER
    workspace.killed(NEW, moment, variables={"COMMAND": "roll_back"})
    require_whole(workspace)
    workspace.session().roll_back(OLD, workspace.variables)
    assert tables(workspace) == BEFORE
    ended(workspace, OLD, OLD_ENDED)
