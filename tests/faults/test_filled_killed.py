"""FILL FOR EACH KEY OF a table: stopped or killed (kill -9), it gives each window once, whichever reader it has."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.workspace import Workspace

SCRIPT = """SET 'sqlext.bounded' = 'catch-up'; SET 'sqlext.source' = '{0}';
CREATE TABLE events (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${{IN}}/ev', 'format' = 'csv'{1});
CREATE TABLE items (k STRING) WITH ('connector' = 'filesystem', 'path' = '${{IN}}/keys', 'format' = 'csv'{1});
CREATE TABLE counts (k STRING, w TIMESTAMP(3), n BIGINT, s BIGINT)
WITH ('connector' = 'delta', 'path' = '${{OUT}}/counts');
INSERT INTO counts SELECT k, window_start, COUNT(*), SUM(v) AS s
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY k, window_start, window_end EMIT FILL FOR EACH KEY OF items WITH (s = LAST);
"""
ONE_FILE = ", 'maxFilesPerTrigger' = '1'"
EVENTS = (("a,1,1", "b,1,12"), ("b,1,14", "b,1,35"), ("a,1,41", "x,1,55"))
KEYS = (("a", "c"), ("d",), ())
#: Key, second of the start, count, and the sum of the last window with rows. The window from 50 on is still open.
WINDOWS = [("a", 0, 1, 1), ("a", 10, 0, 1), ("a", 20, 0, 1), ("a", 30, 0, 1), ("a", 40, 1, 1)]
WINDOWS += [("b", 10, 2, 2), ("b", 30, 1, 1)]
WINDOWS += [("c", start, 0, None) for start in (0, 10, 20, 30, 40)]
#: Its key came when the first window was over.
WINDOWS += [("d", start, 0, None) for start in (10, 20, 30, 40)]


def put(workspace: Workspace, number: int) -> None:
    for folder, files in (("ev", EVENTS), ("keys", KEYS)):
        (workspace.input / folder).mkdir(exist_ok=True)
        if files[number]:
            workspace.put(f"{folder}/{number}.csv", *files[number])


def shown(windows: Sequence[tuple[str, int, int, int | None]]) -> list[tuple[str, ...]]:
    """Return windows as the table shows them."""
    return sorted((k, f"2024-01-01 00:00:{start:02}", str(n), str(s)) for k, start, n, s in windows)


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize("reader", ["arrow", "spark"])
def test_stopped_and_restarted(workspace: Workspace, reader: str) -> None:
    """Each run reads what has come since the last one."""
    for number in range(len(EVENTS)):
        put(workspace, number)
        workspace.run(SCRIPT.format(reader, ""))
        until = (0, 20, 40)[number]
        assert workspace.delta("counts") == shown([w for w in WINDOWS if w[1] <= until])


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize("moment", ["before-commit:2", "after-commit:2", "after-commit:3"])
def test_killed_and_restarted(workspace: Workspace, moment: str) -> None:
    for number in range(len(EVENTS)):
        put(workspace, number)
    script = SCRIPT.format("arrow", ONE_FILE)
    workspace.killed(script, moment, seconds=400)
    workspace.run(script)
    # The second file of keys comes with the micro-batch that closes the first window.
    assert workspace.delta("counts") == shown([*WINDOWS, ("d", 0, 0, None)])
