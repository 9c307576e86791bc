"""End sessions of Spark Connect that were cloned here in a thread that nothing waits for.

PySpark ends a session where it is collected: ``__del__`` closes its client, which waits for the threads that release
what the server keeps. Python collects in any thread, also in one of those. It then waits for itself and never ends
(seen with PySpark 4.1; 4.2 waits ten seconds at most). So a clone is kept until its owner is gone. Then it is let go
here, when whoever was about to leave it has left it.
"""

from __future__ import annotations

import gc
import threading
import time
import weakref
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: How long those may still have a clone who let it go: until their functions have returned.
_SECONDS_TO_LEAVE = 1
#: A queue that may be filled while Python collects, in whichever thread.
_gone: SimpleQueue[SparkSession] = SimpleQueue()
_starting = threading.Lock()
_ending: threading.Thread | None = None


def keep_for(owner: object, clone: SparkSession) -> None:
    """Keep a clone as long as its owner is there, which must not be reachable from the clone."""
    _start()
    weakref.finalize(owner, _gone.put, clone).atexit = False


def let_go(clone: SparkSession) -> None:
    """End a clone that nobody uses any more."""
    _start()
    _gone.put(clone)


def _start() -> None:
    global _ending
    with _starting:
        if _ending is None or not _ending.is_alive():
            _ending = threading.Thread(target=_end, name="sqlext clones", daemon=True)
            _ending.start()


def _end() -> None:
    while True:
        clones = [_gone.get()]
        with suppress(Empty):
            while True:
                clones.append(_gone.get_nowait())
        time.sleep(_SECONDS_TO_LEAVE)
        # What they refer to refers to them, so only a collection ends them: one in this thread.
        clones.clear()
        gc.collect()
