"""A deployment of two queries and its way back, killed (kill -9) on the way: old rows or new ones, and it is ended."""

from __future__ import annotations

import pytest

from sqlext import SqlExtError
from sqlext.session.deploying.report import ROLLED_BACK, SAME, SWITCHED
from tests.faults.replaced_rows import AFTER, BEFORE, ENDED, OLD_ENDED, tables
from tests.workspace import EVENTS, Workspace

pytestmark = [pytest.mark.slow, pytest.mark.sampled(8)]

SINK = "CREATE TABLE {} (k STRING, n BIGINT{}) WITH ('connector' = 'delta', 'path' = '${{OUT}}/{}');"
SCRIPT = f"""SET 'sqlext.bounded' = 'catch-up'; SET 'pipeline.name' = 'q';
{EVENTS}
{SINK.format("sums", ", PRIMARY KEY (k) NOT ENFORCED", "sums")}
{SINK.format("plain", "", "plain")}
EXECUTE STATEMENT SET BEGIN
INSERT INTO sums SELECT k, CAST(SUM(v) AS BIGINT) FROM events WHERE v > %d GROUP BY k;
INSERT INTO plain SELECT k, CAST(v AS BIGINT) FROM events WHERE v > %d;
END;"""
OLD, NEW = SCRIPT % (0, 0), SCRIPT % (1, 1)


def require_whole(workspace: Workspace) -> None:
    """Each table has all old rows or all new ones; where both are not of one kind, nobody may begin."""
    found = tables(workspace)
    assert all(found[name] in (BEFORE[name], AFTER[name]) for name in found), found
    if found not in (BEFORE, AFTER):
        for script in (OLD, NEW):
            with pytest.raises(SqlExtError) as refused:
                workspace.run(script)
            # Of one query the other version may be the current one by now.
            assert refused.value.code in ("RUN-083", "RUN-020")


def begun(workspace: Workspace) -> None:
    workspace.put("1.csv", "a,1,1", "b,2,2", "b,3,12")
    workspace.run(OLD)
    assert tables(workspace) == BEFORE


#: ``versions`` changes thrice for each query: one is beside, it is switched, it is the current one.
MOMENTS = ["versions:1", "planned:1", "planned:2", "versions:3", "versions:4", "replaced:1", "recorded:1", "versions:5"]
LAST = ["replaced:2", "recorded:2", "versions:6"]


@pytest.mark.parametrize("moment", MOMENTS + LAST)
def test_the_same_command_ends_it(workspace: Workspace, moment: str) -> None:
    begun(workspace)
    workspace.killed(NEW, moment, variables={"COMMAND": "deploy"})
    require_whole(workspace)
    # Once rows are replaced, nobody is asked again which may differ.
    decided = moment in ("replaced:1", "recorded:1", "versions:5", *LAST)
    found = workspace.session().deploy(NEW, workspace.variables, allow_differences="0" if decided else "100%")
    assert {q.outcome for q in found.queries} <= {SWITCHED, SAME}
    assert tables(workspace) == AFTER
    workspace.put("2.csv", "a,7,14")
    workspace.run(NEW)
    assert tables(workspace) == ENDED


@pytest.mark.parametrize("moment", ["versions:3", "replaced:1", "versions:5", "replaced:2"])
def test_a_rollback_undoes_it(workspace: Workspace, moment: str) -> None:
    begun(workspace)
    workspace.killed(NEW, moment, variables={"COMMAND": "deploy"})
    found = workspace.session().roll_back(OLD, workspace.variables)
    assert ROLLED_BACK in {q.outcome for q in found.queries}
    assert tables(workspace) == BEFORE
    workspace.put("2.csv", "a,7,14")
    workspace.run(OLD)
    assert tables(workspace) == OLD_ENDED


@pytest.mark.parametrize("moment", ["versions:1", "restored:1", "versions:2", "versions:3", "restored:2"])
def test_a_rollback_is_ended(workspace: Workspace, moment: str) -> None:
    begun(workspace)
    workspace.session().deploy(NEW, workspace.variables, allow_differences="100%")
    assert tables(workspace) == AFTER
    workspace.killed(NEW, moment, variables={"COMMAND": "roll_back"})
    require_whole(workspace)
    workspace.session().roll_back(OLD, workspace.variables)
    assert tables(workspace) == BEFORE
    workspace.put("2.csv", "a,7,14")
    workspace.run(OLD)
    assert tables(workspace) == OLD_ENDED


FILES = """CREATE TABLE {} (k STRING, n BIGINT) WITH ('connector' = 'filesystem', 'format' = 'csv',
'path' = '${{OUT}}/{}');"""
FILLED = SCRIPT.replace(SINK.format("plain", "", "plain"), FILES.format("plain", "plain"))


@pytest.mark.parametrize("moment", ["versions:1", "planned:1", "versions:3", "versions:4", "recorded:1", "versions:5"])
def test_state_is_filled_in_the_end(workspace: Workspace, moment: str) -> None:
    """The sinks, a Delta table by key and files, keep their rows; each row that comes is written once."""
    old, new = FILLED % (0, 0), FILLED % (1, 1)
    workspace.put("1.csv", "a,1,1", "b,2,2", "b,3,12")
    workspace.run(old)
    lines = workspace.files("plain")
    workspace.killed(new, moment, variables={"COMMAND": "fill"})
    found = workspace.session().deploy(new, workspace.variables, keep_rows=True)
    assert {q.outcome for q in found.queries} <= {SWITCHED, SAME}
    assert (workspace.delta("sums"), workspace.files("plain")) == (BEFORE["sums"], lines)
    workspace.put("2.csv", "a,7,14", "b,1,15", "b,2,16")
    workspace.run(new)
    assert workspace.delta("sums") == [("a", "7"), ("b", "7")]
    assert workspace.files("plain") == sorted([*lines, "a,7", "b,2"])
