"""Keep what a Python worker has loaded out of its garbage collections.

A worker of PySpark's collects garbage after each task, over all that it holds (``pyspark/daemon.py``). Of the 100,000
objects of pandas, Arrow and our own modules none ever goes, and looking at them takes 20 ms and more: at the end of a
stage all its workers do so at once, when the next stage wants the processors.
"""

from __future__ import annotations

import gc
import sys
from functools import cache


def spare_what_is_loaded() -> None:
    """Leave what is loaded by now out of later collections; in a process that is no worker, do nothing.

    To be called at the end of a task's work: by then all is loaded that work of its kind needs.
    """
    pyspark = sys.modules.get("pyspark")  # a process without it runs no task of Spark's
    if pyspark is not None and pyspark.TaskContext.get() is not None:
        _spare(len(sys.modules))


@cache
def _spare(modules: int) -> None:
    """Do so once for as many modules, and again when work of another kind has loaded more."""
    gc.collect()
    gc.freeze()
