"""Start Spark's Python processes faster: a home without pyspark.zip, and variables for malloc, numpy and Arrow.

**Home.** Spark puts ``$SPARK_HOME/python/lib/pyspark.zip`` first on the path of each Python process, one and more for
every query. Python keeps no byte code of a zip, so each process compiles pyspark anew: 1.3 s of CPU time in place of
0.25 s. A home of links to the installed Spark has no such zip, so processes import the installed package. It is the
same one, since workers run this interpreter.

**Variables.** Workers make and drop arrays of many megabytes in each task. glibc returns each to the system and gets it
back page by page: a third of a worker's CPU time in a job of many groups. ``sqlext.local.vector_units`` has the others.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pyspark

from sqlext.local.vector_units import vector_environment

_HOME = Path(sys.prefix) / "share" / "sqlext" / "spark"
#: What a JVM is started by; ``conf`` is where somebody has made one.
_LINKED = ("bin", "jars", "conf")

#: Memory of up to 128 MB comes from the heap, of which up to 256 MB stay when they are free.
_MALLOC = {"MALLOC_MMAP_THRESHOLD_": str(1 << 27), "MALLOC_TRIM_THRESHOLD_": str(1 << 28)}


def spark_home() -> Path:
    """Return the ``SPARK_HOME`` to start a JVM with: the one that is chosen, else ours, else the installed one.

    Ours always has the same place in an environment: the class archive knows Spark's jars by their path.
    """
    if chosen := os.environ.get("SPARK_HOME"):
        return Path(chosen)
    return linked_home(_HOME, Path(pyspark.__file__).parent)


def linked_home(home: Path, installed: Path) -> Path:
    """Return the home at a place, made now if it is not there or links to another Spark; else what is installed."""
    links = {name: installed / name for name in _LINKED if (installed / name).exists()}
    try:
        if not _has(home, links):
            _make(home, links)
    except OSError:  # no place to write, no links on this file system: the installed one is slower, and works
        pass
    return home if _has(home, links) else installed


def _has(home: Path, links: Mapping[str, Path]) -> bool:
    try:
        return {p.name: p.readlink() for p in home.iterdir()} == links
    except OSError:
        return False


def _make(home: Path, links: Mapping[str, Path]) -> None:
    """Make a home beside its place and move it there: another process may do the same."""
    home.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix="spark-", dir=home.parent))
    try:
        draft.chmod(0o755)
        for name, target in links.items():
            (draft / name).symlink_to(target, target_is_directory=True)
        shutil.rmtree(home, ignore_errors=True)
        draft.rename(home)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def worker_environment(cpuinfo: Path = Path("/proc/cpuinfo")) -> dict[str, str]:
    """Return the variables; where a variable is set, it stays.

    Args:
        cpuinfo: tells which processor this is.
    """
    if sys.platform != "linux":
        return {}
    return {**_MALLOC, **vector_environment(cpuinfo)}
