"""A Spark home whose Python processes start in a fifth of the time.

Spark puts ``$SPARK_HOME/python/lib/pyspark.zip`` first on the path of each Python process that it starts, one and more
for every query. Python keeps no byte code of what it imports from a zip, so each process compiles pyspark anew: that
takes 1.3 s of CPU time, where the installed package takes 0.25 s. A home of links to the installed Spark that has no
such zip lets them import the installed package, which is the same one: workers run this very interpreter.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pyspark

_HOME = Path(sys.prefix) / "share" / "sqlext" / "spark"
#: What a JVM is started by; ``conf`` is where somebody has made one.
_LINKED = ("bin", "jars", "conf")


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
