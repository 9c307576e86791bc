"""Tell classic Spark sessions from those of Spark Connect, and do what they differ in."""

from __future__ import annotations

import os
import re
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sqlext.capabilities import CLONE, has
from sqlext.databricks import RUNTIME_TAG, PlatformRules, is_volume, rules_of
from sqlext.errors import SqlExtError
from sqlext.locations import local
from sqlext.spark.clones import keep_for, let_go

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

T = TypeVar("T")
U = TypeVar("U")

_LOCAL = re.compile(r"local(\[.*\])?")

#: A Connect server gives the process that writes batches ten seconds to come up. A busy machine needs longer.
_TOO_LATE = "waiting for the Python worker to connect back"
_TRIES = 5
#: Settings that go to Hadoop's file systems: of a Spark, and of a session.
_OF_STORES = ("spark.hadoop.fs.", "fs.")


def is_connect(spark: object) -> bool:
    """Whether a Spark session is a client of Spark Connect (its class cannot be imported without grpc)."""
    return type(spark).__module__.startswith("pyspark.sql.connect.")


def on_this_machine(spark: SparkSession) -> bool:
    """Whether workers are threads of a JVM here, and so see the files that this process sees."""
    return not is_connect(spark) and _LOCAL.fullmatch(spark.sparkContext.master or "") is not None


def is_spark(value: object) -> bool:
    """Whether a value is a Spark session, of either kind."""
    return _is_sparks("SparkSession", value)


def check_spark(value: object) -> None:
    """Raise ENV-013 for what is no Spark session."""
    if not is_spark(value):
        hint = "a folder is the catalog: catalog='...'" if isinstance(value, (str, os.PathLike)) else None
        raise SqlExtError("ENV-013", f"this is no Spark session, but a {type(value).__name__}", hint=hint)


def check_frame(value: object) -> None:
    """Raise ENV-013 for what is no DataFrame of Spark's."""
    if not _is_sparks("DataFrame", value):
        what = f"{type(value).__module__}.{type(value).__name__}".removeprefix("builtins.")
        raise SqlExtError("ENV-013", f"this is no DataFrame of Spark, but a {what}", hint="spark.createDataFrame(...)")


def _is_sparks(name: str, value: object) -> bool:
    return any(kind.__name__ == name and kind.__module__.startswith("pyspark.sql.") for kind in type(value).__mro__)


def platform_rules(spark: SparkSession | None) -> PlatformRules:
    """Return what the platform under a session takes; None is a local Spark, which takes all."""
    return PlatformRules() if spark is None else rules_of(os.environ, _tags(spark), connect=is_connect(spark))


def _tags(spark: SparkSession) -> dict[str, str]:
    # A classic session runs where the environment tells it.
    if not is_connect(spark):
        return {}
    try:
        told = spark.conf.get(RUNTIME_TAG, None)
    except Exception:  # noqa: BLE001 - serverless compute refuses the question
        return {}
    return {RUNTIME_TAG: told} if told else {}


def own_session(spark: SparkSession, owner: object) -> SparkSession:
    """Return a further session on the same Spark: settings and views that are made in it stay in it.

    Spark Connect has no ``newSession``; a clone has copies of the views and settings that there are. Where it cannot
    clone one either, it is the given session: there is no public way to another on the same Spark.

    Args:
        spark: the session that there is.
        owner: whose it is: it ends after the owner.
    """
    own = _another(spark)
    if own is not spark and is_connect(own):
        keep_for(owner, own)
    return own


def _another(spark: SparkSession) -> SparkSession:
    if not is_connect(spark):
        return spark.newSession()
    if not has(CLONE):
        return spark
    client: Any = spark
    cloned: SparkSession = client.cloneSession()
    return cloned


@contextmanager
def session_with(spark: SparkSession, settings: Mapping[str, str]) -> Iterator[SparkSession]:
    """Give a session on the same Spark that has some settings; ``spark`` has its own again afterwards."""
    own = _another(spark)
    before: dict[str, str | None] = {}
    try:
        for name, value in settings.items():
            kept = spark.conf.get(name, None) if own is spark else None
            own.conf.set(name, value)
            if own is spark:
                before[name] = kept
        yield own
    finally:
        for name, old in before.items():
            if old is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, old)
        if own is not spark and is_connect(own):
            let_go(own)


def settled(frame: DataFrame) -> DataFrame:
    """Return the DataFrame of a SQL text as one that later views of the same names do not change.

    Spark Connect reads the text anew whenever the DataFrame is used. A view keeps what the text meant when it was made.
    """
    spark = frame.sparkSession
    if not is_connect(spark):
        return frame
    name = f"sqlext_{uuid.uuid4().hex}"
    frame.createOrReplaceTempView(name)
    return spark.table(name)


def store_settings(spark: SparkSession | None) -> dict[str, str]:
    """Return the settings of a session that say how object stores are reached: those of Hadoop's file systems."""
    if spark is None:
        return {}
    try:
        found = spark.conf.getAll
    except Exception:  # noqa: BLE001 - serverless compute refuses the question
        return {}
    return {name: value for name, value in found.items() if name.startswith(_OF_STORES)}


def file_name(file: Path) -> str:
    """Return what Spark reads a local file by: it has a volume under its plain path alone."""
    return str(file) if is_volume(file) else file.absolute().as_uri()


def require_shared_folder(spark: SparkSession, folder: Path | str) -> None:
    """Check that a Connect server sees the catalog's folder: checkpoints lie there, and files that a query reads.

    At a URL neither lies there.

    Raises:
        SqlExtError: ENV-008 if it does not.
    """
    if not is_connect(spark) or not isinstance(folder, Path):
        return
    folder.mkdir(parents=True, exist_ok=True)
    probe = folder / f"seen-{uuid.uuid4().hex}"
    probe.write_text("seen\n", encoding="utf-8")
    try:
        spark.read.text(file_name(probe)).count()
    except Exception as error:
        raise SqlExtError(
            "ENV-008",
            f"the Spark Connect server does not see the catalog's folder `{folder}`",
            hint="give a folder that client and server share: sqlext.connect(spark, catalog='/shared/folder')",
        ) from error
    finally:
        probe.unlink()


def temporary_folder(spark: SparkSession, catalog: Path | str) -> Path:
    """Return a new folder that Spark sees too: on other machines and on Databricks one in the catalog's folder.

    Raises:
        SqlExtError: RUN-028 where that is a URL.
    """
    if on_this_machine(spark) and platform_rules(spark).local:
        return Path(tempfile.mkdtemp(prefix="sqlext-"))
    hint = "INSERT the rows into a table, or give the catalog a folder that this process and Spark share"
    shared = local(catalog, "RUN-028", "what a SELECT of a stream keeps while it runs", hint)
    shared.mkdir(parents=True, exist_ok=True)
    return Path(tempfile.mkdtemp(prefix="sqlext-", dir=shared.absolute()))


def inheriting(spark: SparkSession, target: Callable[[T], U]) -> Callable[[T], U]:
    """Return a function for another thread, which has the properties and tags that this one has in Spark.

    A client of Spark Connect has no properties. Its tags stay with this thread: they do not reach streams.
    """
    from pyspark import inheritable_thread_target

    if is_connect(spark):
        return target
    found: Callable[[T], U] = inheritable_thread_target(spark)(target)
    return found


def patiently(start: Callable[[], T]) -> T:
    """Start a query; again where the process that writes its batches did not come up in time: nothing has begun."""
    for _ in range(_TRIES - 1):
        try:
            return start()
        except Exception as error:
            if _TOO_LATE not in str(error):
                raise
    return start()
