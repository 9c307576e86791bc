"""A session that has run fifty queries on Spark has left no folder, file or stream behind, and no thread of ours."""

from __future__ import annotations

import gc
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.workspace import COUNTS, EVENTS, WINDOWED, Workspace

_SELECT = "SELECT k, SUM(v) FROM events GROUP BY k;"
_EARLY = f"{WINDOWED.rstrip().rstrip(';')} EMIT AFTER WATERMARK EARLY EVERY ROW;"
_KEYED = COUNTS.replace("s BIGINT)", "s BIGINT, PRIMARY KEY (k, w) NOT ENFORCED)").replace("counts", "early")
#: How many queries run before the first look: pools and caches have their places by then.
_WARM, _ALL = 12, 50
#: py4j keeps a connection for each thread of Java's that has called Python, and a thread of Python's that serves it
#: until the JVM ends. A stream has such a thread of its own.
_OF_PY4J, _SOCKET = "Thread- (run)", "socket"


def _threads() -> Counter[str]:
    """Return the threads by their names without numbers."""
    return Counter("".join(c for c in thread.name if not c.isdigit()) for thread in threading.enumerate())


def _files() -> Iterator[str]:
    """Yield what this process has open; sockets without their numbers."""
    for entry in Path("/proc/self/fd").iterdir():
        try:
            target = str(entry.readlink())
        except OSError:  # that of this look itself
            continue
        yield target.partition(":[")[0]


@pytest.mark.costly
def test_fifty_queries(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = workspace.folder / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    workspace.put("a.csv", "a,1,1", "b,2,12")
    session = workspace.session()
    catch_up = "SET 'sqlext.bounded' = 'catch-up';"
    workspace.run(EVENTS, COUNTS, _KEYED, catch_up, session=session)
    inserts = (WINDOWED, _EARLY.replace("INTO counts", "INTO early"))
    before: tuple[Counter[str], Counter[str]] | None = None
    for number in range(_ALL):
        if number == _WARM:
            gc.collect()
            before = _threads(), Counter(_files())
        if number % 5 == 4:
            workspace.put(f"{number:03}.csv", f"a,1,{20 + number}")
            workspace.run(inserts[number % 2], session=session)
        else:
            assert len(workspace.run(_SELECT, session=session)[-1].rows) == 2
    gc.collect()
    assert before is not None
    threads, files = _threads() - before[0], Counter(_files()) - before[1]
    assert threads.pop(_OF_PY4J, 0) <= _ALL - _WARM
    assert files.pop(_SOCKET, 0) <= _ALL - _WARM
    assert (threads, files) == (Counter(), Counter())
    assert list(temporary.rglob("*")) == []
    assert session.spark.streams.active == []
