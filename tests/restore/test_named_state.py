"""A query goes on with other aggregates: those that stay have all rows, one that is new has the rows to come."""

from __future__ import annotations

from tests.workspace import EVENTS, Workspace

CATCH_UP = "SET 'sqlext.bounded' = 'catch-up';"
SINK = """
CREATE OR REPLACE TABLE counts (k STRING, w TIMESTAMP(3), n BIGINT{0}, PRIMARY KEY (k, w) NOT ENFORCED)
WITH ('connector' = 'delta', 'path' = '${OUT}/counts', 'mergeSchema' = 'true');
"""
QUERY = """
INSERT INTO counts SELECT k, window_start, {0} FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY k, window_start, window_end {1} EMIT AFTER WATERMARK EARLY EVERY 1h;
"""


def query(columns: str, selected: str, having: str = "") -> tuple[str, ...]:
    return CATCH_UP, EVENTS, SINK.replace("{0}", columns), QUERY.replace("{0}", selected).replace("{1}", having)


def test_aggregates_come_and_go(workspace: Workspace) -> None:
    workspace.put("1.csv", "a,1,1", "b,2,2", "a,4,11")
    workspace.run(*query(", s BIGINT", "COUNT(*), SUM(CAST(v AS BIGINT))"))
    assert workspace.delta() == []
    more = query(", s BIGINT, m INT", "COUNT(*), SUM(CAST(v AS BIGINT)), MAX(v)")
    (planned,) = workspace.session().plan("\n".join(more), workspace.variables).queries
    assert (planned.outcome, planned.sink.columns) == ("goes on", ("m",))
    workspace.put("2.csv", "a,3,3", "a,9,12", "b,1,14")
    workspace.run(*more)
    window = "2024-01-01 00:00:00"
    closed = [("a", window, "2", "4", "3"), ("b", window, "1", "2", "None")]
    assert workspace.delta() == closed
    # The sum goes, what is selected is another expression, and HAVING leaves out groups of one row.
    fewer = query(", s BIGINT, m INT", "COUNT(*) * 10, CAST(NULL AS BIGINT), MAX(v)", "HAVING COUNT(*) > 1")
    workspace.put("3.csv", "a,2,13", "a,1,44")
    results = workspace.run(*fewer)
    told = [notice for result in results for notice in result.notices]
    assert any("an aggregate that is new counts rows from now on" in notice for notice in told)
    assert workspace.delta() == [closed[0], ("a", "2024-01-01 00:00:10", "30", "None", "9"), closed[1]]
