"""A query goes from catch-up to endless and back on one checkpoint: no row twice, none missing, windows stay open."""

from __future__ import annotations

import pytest

from tests.workspace import COUNTS, EVENTS, WINDOWED, Workspace

SCHEDULED = ("SET 'sqlext.bounded' = 'catch-up';", EVENTS.replace("CREATE TABLE", "CREATE OR REPLACE TABLE"))
LIVE = (SCHEDULED[1].replace("'format'", "'source.monitor-interval' = '1 s', 'format'"),)
KINDS = {
    "native": (COUNTS, WINDOWED),
    "EMIT": (
        COUNTS.replace("n BIGINT, s BIGINT", "n BIGINT, s BIGINT, PRIMARY KEY (k, w) NOT ENFORCED"),
        WINDOWED.replace("window_end;", "window_end EMIT AFTER WATERMARK EARLY EVERY 100 ROWS;"),
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_it_goes_on(kind: str, workspace: Workspace) -> None:
    query = KINDS[kind]
    workspace.put("1.csv", "a,1,1", "b,1,2", "a,2,13")
    workspace.run(*SCHEDULED, *query)
    first = [("a", "2024-01-01 00:00:00", "1", "1"), ("b", "2024-01-01 00:00:00", "1", "1")]
    assert workspace.delta() == first
    workspace.put("2.csv", "a,4,14", "b,8,24")
    session = workspace.session()
    workspace.run(*LIVE, *query, session=session)
    second = [first[0], ("a", "2024-01-01 00:00:10", "2", "6"), first[1]]
    workspace.until(lambda: workspace.delta() == second)
    workspace.put("3.csv", "b,16,25", "a,1,44")
    third = [*second, ("b", "2024-01-01 00:00:20", "2", "24")]
    workspace.until(lambda: workspace.delta() == third)
    session.stop()
    workspace.put("4.csv", "a,2,45", "b,1,54")
    workspace.run(*SCHEDULED, *query)
    assert workspace.delta() == [*second[:2], ("a", "2024-01-01 00:00:40", "2", "3"), *third[2:]]
