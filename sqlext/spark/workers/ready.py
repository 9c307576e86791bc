"""Make workers ready for a query, once for each Spark: refuse those that cannot run it, ship our code to the others."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from sqlext.errors import SqlExtError
from sqlext.locations import local_path, scheme_of
from sqlext.spark.failures import run_error
from sqlext.spark.quiet import quiet
from sqlext.spark.sessions import file_name, is_connect, on_this_machine
from sqlext.spark.workers.archive import archive
from sqlext.spark.workers.folders import count_seen, existing, signs
from sqlext.spark.workers.look import WorkerReport, hosts, reports
from sqlext.spark.workers.needs import ASKED, OURS, Need, check, has_ours
from sqlext.spark.workers.places import in_this_python

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PATH = "PYTHONPATH"


@dataclass
class _Known:
    """What has been found out about the workers of a Spark."""

    python: bool = False
    packages: set[str] = field(default_factory=set)
    folders: set[Path] = field(default_factory=set)
    targets: set[Path] = field(default_factory=set)


#: By the SparkContext, which all sessions of a process share. Over Spark Connect each session has files of its own.
_KNOWN: WeakKeyDictionary[Any, _Known] = WeakKeyDictionary()
_LOCK = threading.Lock()


def require_python(spark: SparkSession, *more: Need) -> None:
    """Let the Python of workers have our code. It has it where workers run this process's own Python.

    Args:
        more: what else workers must have for a query.

    Raises:
        SqlExtError: ENV-015 where packages are missing, ENV-016 for a Python that is another version or does not start,
            ENV-018 where our code does not reach it.
    """
    if in_this_python(spark):
        return
    with _LOCK:
        known = _known(spark)
        if not known.python:
            _prepare(spark)
            known.python = True
        wanted = [need for need in more if need.package not in known.packages]
        if wanted:
            check(asked(spark, more=wanted), wanted)
            known.packages.update(need.package for need in wanted)


def require_folder(spark: SparkSession, folder: Path) -> None:
    """Check that workers see a folder: the state of a query lies there, and rows that a sink has not finished.

    Raises:
        SqlExtError: ENV-017 if they do not.
    """
    if on_this_machine(spark):
        return
    with _LOCK:
        known = _known(spark)
        if folder not in known.folders:
            _try(spark, folder)
            known.folders.add(folder)


def require_target(spark: SparkSession, path: str | None) -> None:
    """Check that workers see where a sink writes, if that is a folder of the driver: else rows stay on their disks.

    A path without a scheme may be of another file system, by Spark's settings. A Connect server's folders are its own.

    Raises:
        SqlExtError: ENV-017 if the driver sees it and workers do not.
    """
    inside = local_path(path) if path else None
    if not inside or is_connect(spark) or on_this_machine(spark):
        return
    folder = existing(Path(inside))
    with _LOCK:
        known = _known(spark)
        if folder not in known.targets:
            _try_target(spark, folder, plain=scheme_of(path or "") is None)
            known.targets.add(folder)


def _known(spark: SparkSession) -> _Known:
    return _KNOWN.setdefault(spark if is_connect(spark) else spark.sparkContext, _Known())


def _prepare(spark: SparkSession) -> None:
    found = asked(spark)
    check(found)
    if has_ours(found):
        return
    _ship(spark, archive())
    without = [r.host for r in asked(spark) if r.version(OURS[1]) is None]
    if without:
        raise SqlExtError(
            "ENV-018",
            f"sqlext does not reach the Python of workers on {', '.join(sorted(set(without)))}",
            hint="pip install sqlext-spark into that Python",
        )


def asked(spark: SparkSession, file: Path | None = None, more: Sequence[Need] = ()) -> list[WorkerReport]:
    """Return what workers say of their packages, and whether they see a file.

    Args:
        more: packages beside those that all our code needs.

    Raises:
        SqlExtError: ENV-016 for a Python that is another version or does not start.
    """
    try:
        with quiet():
            return reports(spark, (*ASKED, *((need.module, need.package) for need in more)), file)
    except Exception as error:
        raise _named(spark, run_error(error, None)) from error


def _named(spark: SparkSession, error: SqlExtError) -> SqlExtError:
    """Say where workers are, if Spark did not say on which of them a Python failed."""
    if error.code != "ENV-016" or " on " in error.message:
        return error
    try:
        with quiet():
            found = hosts(spark)
    except Exception:  # noqa: BLE001 - what is wrong is known; where it is may stay unknown
        return error
    return SqlExtError(error.code, f"{error.message}; workers run on {', '.join(found)}", hint=error.hint)


def _ship(spark: SparkSession, packed: Path) -> None:
    if is_connect(spark):
        spark.addArtifacts(str(packed), pyfile=True)
        return
    context = spark.sparkContext
    context.addPyFile(str(packed))
    # Spark hands no such file to the process that begins an operator's state, which runs beside the driver. Elsewhere
    # the path does not exist, and Python passes over it.
    before = context.environment.get(_PATH)
    context.environment[_PATH] = os.pathsep.join(filter(None, (str(packed), before)))


def _try(spark: SparkSession, folder: Path) -> None:
    what = "where a query keeps its state"
    hint = "a folder that driver and workers share: sqlext.connect(spark, catalog='/shared/folder'), or checkpoint="
    with signs(folder) as files:
        try:
            seen = _count(spark, [file_name(file) for file in files])
        except Exception as error:
            raise _unseen(folder, "the server of Spark", what, hint) from error
        if seen < len(files):
            raise _unseen(folder, _blind(spark, files[0]), what, hint)


def _try_target(spark: SparkSession, folder: Path, *, plain: bool) -> None:
    from pyspark.errors import PySparkException  # not before: the doctor also works where there is none

    try:
        with signs(folder) as files:
            seen = _count(spark, [str(file) if plain else file_name(file) for file in files])
            if seen < len(files):
                hint = "a path that driver and workers share, or a URL"
                raise _unseen(folder, _blind(spark, files[0]), "where a sink puts its rows", hint)
    except (OSError, PySparkException):
        return  # no folder of the driver's; what writes there says what is wrong with it


def _count(spark: SparkSession, names: list[str]) -> int:
    with quiet():
        return count_seen(spark, names)


def _blind(spark: SparkSession, file: Path) -> str:
    """Say which workers do not see a file, if their Python can tell."""
    try:
        hosts = {report.host for report in asked(spark, file) if not report.sees}
    except SqlExtError:
        hosts = set()
    return f"the workers on {', '.join(sorted(hosts))}" if hosts else "some workers"


def _unseen(folder: Path, who: str, what: str, hint: str) -> SqlExtError:
    return SqlExtError("ENV-017", f"{who} cannot see the folder `{folder}`, {what}", hint=hint)
