"""A query that is to leave its state behind, killed (kill -9) on the way: the old one is there, or the new one is."""

from __future__ import annotations

import pytest

from sqlext.session.notices import ChangedTimeNotice
from sqlext.settings import LEAVES_STATE
from tests.workspace import EVENTS, Workspace

pytestmark = [pytest.mark.slow, pytest.mark.sampled]

HEAD = f"""SET 'sqlext.bounded' = 'catch-up'; SET 'pipeline.name' = 'q'; SET '{LEAVES_STATE}' = 'true';
{EVENTS}
CREATE TABLE counts (k STRING, n BIGINT) WITH ('connector' = 'delta', 'path' = '${{OUT}}/counts');
"""
QUERY = """INSERT INTO counts SELECT k, {} FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY k, window_start, window_end;"""
OLD, NEW = HEAD + QUERY.format("COUNT(*)"), HEAD + QUERY.format("CAST(SUM(v) AS BIGINT)")


@pytest.mark.parametrize("moment", ["set-aside:1", "carried-over:1", "begin:1", "before-commit:1", "after-commit:1"])
def test_no_row_is_lost_or_taken_twice(workspace: Workspace, moment: str) -> None:
    workspace.put("1.csv", "a,1,1", "a,2,2", "b,3,12", "b,4,13")
    workspace.run(OLD)
    workspace.put("2.csv", "b,5,31", "b,6,32", "a,9,43")
    workspace.killed(NEW, moment)
    began = moment.startswith(("begin", "before-commit", "after-commit"))
    if began:
        workspace.run(NEW)
    else:  # as if nobody had asked: it can still be done
        with pytest.warns(ChangedTimeNotice, match="without its state"):
            workspace.run(NEW)
    assert workspace.delta() == [("a", "2"), ("b", "11")]


@pytest.mark.parametrize("moment", ["set-aside:1", "carried-over:1", "begin:1", "before-commit:1", "after-commit:1"])
def test_state_that_is_divided_is_the_old_one_or_the_new_one(workspace: Workspace, moment: str) -> None:
    divided = QUERY.replace("window_end;", "window_end EMIT AFTER WATERMARK EARLY EVERY 99 ROWS;")
    head = HEAD.replace("n BIGINT)", "w TIMESTAMP(3), n BIGINT, PRIMARY KEY (k, w) NOT ENFORCED)")
    query = divided.format("window_start, COUNT(*)")
    old, new = (f"SET 'sqlext.state.buckets' = '{n}';\n{head}{query}" for n in (2, 5))
    workspace.put("1.csv", "a,1,1", "a,2,2", "b,3,12", "c,4,13", "d,4,14")
    workspace.run(old)
    workspace.put("2.csv", "b,5,16", "z,0,1", "a,9,43")
    workspace.killed(new, moment)
    workspace.run(new)
    assert [(row[0], row[2]) for row in workspace.delta()] == [("a", "2"), ("b", "2"), ("c", "1"), ("d", "1")]
