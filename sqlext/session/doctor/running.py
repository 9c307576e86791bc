"""Ask a Spark session what it is, and what it can read and write."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sqlext.databricks import PlatformRules
from sqlext.errors import SqlExtError
from sqlext.locations import for_spark
from sqlext.session.doctor.findings import Finding, refusal, refused
from sqlext.session.doctor.places import CATALOG, URLS
from sqlext.session.doctor.workers import workers
from sqlext.spark.object_urls import require_file_system
from sqlext.spark.packages import DELTA_EXTENSION, EXTENSIONS, has_delta, require_avro
from sqlext.spark.sessions import is_connect, platform_rules

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_AREA = "Spark"
_PLATFORM = "platform"
_SCHEMES = "file systems"


def running(
    start: Callable[[], SparkSession], folders: Mapping[str, Path], urls: Mapping[str, str]
) -> Iterator[Finding]:
    """Yield what a Spark session says of itself and of its workers.

    Args:
        start: returns the session, or raises a SqlExtError that says why there is none.
        folders: what workers must see, by what each is called.
        urls: what Spark must reach, by what each is called.
    """
    try:
        spark = start()
    except SqlExtError as error:
        yield refused(_AREA, "session", error, needed=True)
        return
    kind = "Spark Connect" if is_connect(spark) else f"classic, {spark.conf.get('spark.master', None)}"
    yield Finding(_AREA, "session", "ok", f"Spark {spark.version}, {kind}")
    yield from platform(platform_rules(spark))
    yield _delta(spark)
    yield _avro(spark)
    yield from _file_systems(spark, urls)
    yield from workers(spark, folders, by_url=bool(urls))


def platform(rules: PlatformRules) -> Iterator[Finding]:
    """Yield what the platform under the session takes and refuses; nothing where it has no rules."""
    if not rules.platform:
        return
    yield Finding(_PLATFORM, "name", "note", f"{rules.platform}; its rules are known from its documents alone")
    if error := refusal(lambda: rules.require_place("/folder", "a catalog or a checkpoint")):
        yield refused(_PLATFORM, "folders of this machine", error)
    if not rules.endless:
        advice = "a job that runs the script again and again"
        yield Finding(_PLATFORM, "endless queries", "note", "they take what is there, and end", advice)
    if rules.settings is not None:
        found = (
            f"a session may set {', '.join(sorted(rules.settings))}; what queries would set beside these is left out"
        )
        yield Finding(_PLATFORM, "settings", "note", found, "compare names in one case; no TIME")
    store = "RocksDB, by the platform" if rules.rocksdb else "RocksDB, named for each query with an operator of ours"
    yield Finding(_PLATFORM, "state", "ok", store)


def _delta(spark: SparkSession) -> Finding:
    if has_delta(spark):
        return Finding(_AREA, "Delta", "ok", "connector 'delta' works")
    advice = (
        f"start Spark with delta-spark and {EXTENSIONS}={DELTA_EXTENSION}, unless the platform has a Delta of its own"
    )
    return Finding(_AREA, "Delta", "note", f"{EXTENSIONS} does not name Delta", advice)


def _file_systems(spark: SparkSession, urls: Mapping[str, str]) -> Iterator[Finding]:
    """Yield a line for the schemes that Spark knows, one for each package that it lacks, and one for each given URL."""
    errors = {scheme: refusal(partial(require_file_system, spark, url)) for scheme, url in URLS.items()}
    known = [scheme for scheme, error in errors.items() if error is None]
    if known:
        yield Finding(_AREA, _SCHEMES, "ok", f"there are those for {', '.join(known)}")
    lacking = {scheme: error for scheme, error in errors.items() if error is not None}
    for hint in dict.fromkeys(error.hint for error in lacking.values()):
        first, *others = (scheme for scheme, error in lacking.items() if error.hint == hint)
        line = refused(_AREA, _SCHEMES, lacking[first])
        yield replace(line, found=f"{line.found}; so with {', '.join(others)}") if others else line
    for name, url in urls.items():
        if error := refusal(partial(require_file_system, spark, for_spark(url))):
            # Queries that keep no state run with such a catalog.
            yield refused(_AREA, f"{_SCHEMES}, {name}", error, needed=name != CATALOG)


def _avro(spark: SparkSession) -> Finding:
    try:
        require_avro(spark)
    except SqlExtError as error:
        return Finding(_AREA, "format 'avro'", "note", error.message, error.hint, error.code)
    return Finding(_AREA, "format 'avro'", "ok", "there")
