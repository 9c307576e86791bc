"""Ctrl-C during a bounded job: it stops cleanly, and goes on from there."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from sqlext.connectors.delta.sink.tables import DeltaSink
from sqlext.jobs.query import Query
from tests.workspace import Workspace

SCRIPT = """
CREATE TABLE t (k STRING, v INT)
WITH ('connector' = 'spark', 'format' = 'csv', 'path' = '${IN}', 'maxFilesPerTrigger' = '1');
CREATE TABLE s (k STRING, v INT) WITH ('connector' = 'delta', 'path' = '${OUT}/s');
INSERT INTO s SELECT k, v FROM t;
"""


@pytest.mark.parametrize("after_commit", [False, True])
def test_interrupt(workspace: Workspace, monkeypatch: pytest.MonkeyPatch, after_commit: bool) -> None:
    for i in range(4):
        workspace.put(f"{i}.csv", f"a,{i}")
    stopping = threading.Event()
    original, original_stop = DeltaSink.write_new, Query.stop

    def stop(self: Query) -> None:
        stopping.set()
        original_stop(self)

    def interrupted(self: DeltaSink, df: object, batch_id: int) -> None:
        if batch_id == 1 and not after_commit:
            os.kill(os.getpid(), signal.SIGINT)
            assert stopping.wait(60)
        original(self, df, batch_id)  # type: ignore[arg-type]
        if batch_id == 1 and after_commit:
            os.kill(os.getpid(), signal.SIGINT)
            assert stopping.wait(60)

    session = workspace.session()
    with monkeypatch.context() as patched:
        patched.setattr(DeltaSink, "write_new", interrupted)
        patched.setattr(Query, "stop", stop)
        with pytest.raises(KeyboardInterrupt):
            workspace.run(SCRIPT, session=session)
    assert session.queries == ()
    assert workspace.queries()["sql.s"]["status"] == "stopped"
    again = workspace.run(SCRIPT)[-1].query
    assert workspace.delta("s") == [("a", "0"), ("a", "1"), ("a", "2"), ("a", "3")]
    assert again.progress["rows_in"] < 4
