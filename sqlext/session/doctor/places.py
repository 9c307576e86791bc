"""Say where catalogs, checkpoints and tables can lie, by asking the rules themselves."""

from __future__ import annotations

import fcntl
import os
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from sqlext.errors import SqlExtError
from sqlext.locations import PathOrText, catalog_place, checkpoint_place, is_object_store
from sqlext.session.doctor.findings import Finding, refusal, refused
from sqlext.session.offline.checking import errors_of
from sqlext.session.offline.compilation import new_state
from sqlext.session.opening import IN_TABLE
from sqlext.source import SourceText
from sqlext.spark.workers.folders import existing
from sqlext.stores.location import Location, StoreSettings

_AREA = "places"
#: What the lines of the two places are called.
CATALOG, _CHECKPOINT = "this catalog", "this checkpoint"
#: A place of each kind, by the scheme of its URL. Nothing is opened.
URLS = {
    "s3": "s3://bucket/folder",
    "s3a": "s3a://bucket/folder",
    "abfss": "abfss://container@account.dfs.core.windows.net/folder",
    "gs": "gs://bucket/folder",
    "hdfs": "hdfs://host/folder",
    "dbfs": "dbfs:/folder",
}
_FILES = ("filesystem", "'connector' = 'filesystem', 'format' = 'json'")
_DELTA = ("delta", "'connector' = 'delta'")
_NULL = "CREATE TABLE no (a INT) WITH ('connector' = 'blackhole');"

Check = Callable[[str], object]
PathRule = Callable[[PathOrText], PathOrText]


def places(
    catalog: PathOrText, checkpoint: PathOrText | None = None, stores: StoreSettings | None = None
) -> Iterator[Finding]:
    """Yield a line for each folder, and for each use of URLs: the schemes that are taken, those that are refused.

    Args:
        catalog, checkpoint: the places that are to be used; None puts checkpoints into the catalog's.
        stores: settings of object stores, by the names of Spark or Hadoop.
    """
    if not _is_folder(catalog):
        yield _catalog(catalog, stores)
    if checkpoint is not None and is_object_store(checkpoint):
        yield _tried(_CHECKPOINT, checkpoint, stores)
    for name, place, rule in _given(catalog, checkpoint):
        yield _folder(name, place, rule)
    yield from _by_scheme("catalog", lambda url: new_state(catalog_place(url)))
    yield from _by_scheme("checkpoints", checkpoint_place)
    for name, options in (_FILES, _DELTA):
        yield from _by_scheme(f"{name} source", _reads(options))
        yield from _by_scheme(f"{name} sink", _writes(options))


def folders(catalog: PathOrText, checkpoint: PathOrText | None = None) -> dict[str, Path]:
    """Return the folders that are to be used and can be, by their lines' names; where one is not there, one above."""
    given = _given(catalog, checkpoint)
    return {
        name: existing(Path(rule(place))) for name, place, rule in given if _folder(name, place, rule).state == "ok"
    }


def urls(catalog: PathOrText, checkpoint: PathOrText | None = None) -> dict[str, str]:
    """Return the URL at which queries would keep their state, by the name of its line; none where that is a folder."""
    name, place = (CATALOG, catalog) if checkpoint is None else (_CHECKPOINT, checkpoint)
    return {name: os.fspath(place)} if is_object_store(place) else {}


def _given(catalog: PathOrText, checkpoint: PathOrText | None) -> Iterator[tuple[str, PathOrText, PathRule]]:
    if _is_folder(catalog):
        yield CATALOG, catalog, catalog_place
    if checkpoint is not None and not is_object_store(checkpoint):
        yield _CHECKPOINT, checkpoint, checkpoint_place


def _reads(options: str) -> Check:
    return lambda url: _check(f"{_NULL} {_table(options, url)} INSERT INTO no SELECT a FROM t;")


def _writes(options: str) -> Check:
    return lambda url: _check(f"{_table(options, url)} INSERT INTO t VALUES (1);")


def _table(options: str, url: str) -> str:
    return f"CREATE TABLE t (a INT) WITH ({options}, 'path' = '{url}');"


def _check(script: str) -> None:
    """Raise what the session's own check finds in a script."""
    for error in errors_of(SourceText.of(script), new_state(None)):
        raise error


def _by_scheme(use: str, check: Check) -> Iterator[Finding]:
    """Yield a line for the schemes that a use takes, and one for each reason of refusal."""
    name = f"{use} at a URL"
    errors = {scheme: refusal(partial(check, url)) for scheme, url in URLS.items()}
    taken = [scheme for scheme, error in errors.items() if error is None]
    if taken:
        yield Finding(_AREA, name, "ok", f"{', '.join(taken)}: taken; not opened here")
    refusals = {scheme: error for scheme, error in errors.items() if error is not None}
    for code in dict.fromkeys(error.code for error in refusals.values()):
        first, *others = (scheme for scheme, error in refusals.items() if error.code == code)
        line = refused(_AREA, name, refusals[first])
        yield replace(line, found=f"{line.found}; so with {', '.join(others)}") if others else line


def _is_folder(catalog: PathOrText) -> bool:
    return not is_object_store(catalog) and not os.fspath(catalog).startswith(IN_TABLE)


def _catalog(catalog: PathOrText, stores: StoreSettings | None) -> Finding:
    """Return whether a catalog that is no folder can be read; nothing is written."""
    name, text = CATALOG, os.fspath(catalog)
    if text.startswith(IN_TABLE):
        table = text.removeprefix(IN_TABLE)
        return Finding(_AREA, name, "ok", f"the table {table} of Spark's catalog; not opened here")
    if error := refusal(lambda: new_state(catalog, stores).catalog.snapshot()):
        return refused(_AREA, name, error, needed=True)
    return Finding(_AREA, name, "ok", f"{text} answers")


def _tried(name: str, place: PathOrText, stores: StoreSettings | None) -> Finding:
    """Return whether an object store takes what a query keeps: an object is made under a condition, and deleted."""
    location, key = Location.of(place, stores), f"doctor/{uuid.uuid4().hex}"

    def try_out() -> None:
        if location.store.create(key, b"") is None or location.store.create(key, b"") is not None:
            raise SqlExtError("RUN-015", f"the store of `{location.place}` knows no conditional writes")

    try:
        error = refusal(try_out)
    finally:
        with suppress(SqlExtError):
            location.store.delete(key)
    if error is not None:
        return refused(_AREA, name, error, needed=True)
    return Finding(_AREA, name, "ok", f"{location.place} takes objects, and writes under a condition")


def _folder(name: str, place: PathOrText, rule: PathRule) -> Finding:
    """Return whether a folder can hold what a query keeps; the folder itself is not made."""
    if error := refusal(lambda: new_state(rule(place))):
        return refused(_AREA, name, error, needed=True)
    folder = Path(rule(place)).absolute()
    try:
        _try_out(existing(folder))
    except OSError as failed:
        message = f"`{folder}` takes no files, hard links or locks: {failed.strerror or failed}"
        error = SqlExtError("CAT-035", message, hint="a folder of a local disk that this user may write")
        return refused(_AREA, name, error, needed=True)
    return Finding(_AREA, name, "ok", f"{folder} takes files, hard links and locks")


def _try_out(folder: Path) -> None:
    """Do in a folder what a catalog and a query do there, and take it away; raises OSError."""
    with tempfile.TemporaryDirectory(dir=folder, prefix=".sqlext-doctor-") as made:
        file = Path(made) / "file"
        with file.open("wb") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.link(file, file.with_name("link"))
