"""Keep what a Python worker has loaded out of its garbage collections.

A PySpark worker collects garbage after each task, over all that it holds (``pyspark/daemon.py``). The 100,000 objects
of pandas, Arrow and our modules never go, and looking at them takes 20 ms and more. At the end of a stage all workers
would do so at once, when the next stage needs the processors.
"""

from __future__ import annotations

import gc
import sys
from functools import cache


def spare_what_is_loaded() -> None:
    """Leave what is loaded by now out of later collections. In a process that is no worker it does nothing.

    Call it at the end of a task: by then everything is loaded that such a task needs.
    """
    pyspark = sys.modules.get("pyspark")  # a process without it runs no task of Spark's
    if pyspark is not None and pyspark.TaskContext.get() is not None:
        _spare(len(sys.modules))


@cache
def _spare(modules: int) -> None:
    """Freeze once for a number of modules, and again when another kind of task has loaded more."""
    # First, or garbage would be frozen with the rest and never be freed.
    gc.collect()
    gc.freeze()
