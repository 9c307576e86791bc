"""Refuse a Delta table whose log is damaged, and say which file of it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlext.errors import SqlExtError
from sqlext.locations import is_remote, on_disk
from sqlext.stores.access import object_settings
from sqlext.stores.checksums import damaged_file
from sqlext.stores.opening import open_store
from sqlext_catalog.log_damage import LOG, damage_of_log, damaged, first_commit


def refuse_emptied(path: str) -> None:
    """Refuse a table of this machine with an empty commit: each reader would take it for one without rows.

    A disk that was full, or lost its power, leaves such files. Only names and sizes are looked at.

    Raises:
        SqlExtError: RUN-093.
    """
    folder = Path(on_disk(path)) / LOG
    if is_remote(path) or not folder.is_dir():
        return
    if any(file.suffix == ".json" and not file.stat().st_size for file in folder.iterdir()):
        # What lies before a checkpoint of the log is not read.
        _refuse(path, _damage_of_log(path))


@contextmanager
def telling_damage(path: str) -> Iterator[None]:
    """Let whatever the block raises say which file of the table's log is damaged, if one is.

    Args:
        path: of the table, or its URL.

    Raises:
        SqlExtError: RUN-093.
    """
    try:
        yield
    except SqlExtError:
        raise
    except Exception as error:
        _refuse(path, damage_at(path), error)
        raise


def _refuse(path: str, what: str | None, cause: Exception | None = None) -> None:
    if what is not None:
        raise damaged(on_disk(path), what) from cause


def _damage_of_log(path: str) -> str | None:
    place = on_disk(path).rstrip("/")
    try:
        return damage_of_log(open_store(place, object_settings() if is_remote(path) else None), place)
    except (OSError, SqlExtError):
        return None


def damage_at(path: str) -> str | None:
    """Return which file of the log is damaged, and how, as ``damage_of_log``; None too where nobody can look."""
    place, found = on_disk(path).rstrip("/"), _damage_of_log(path)
    if found is not None or is_remote(path):
        return found
    if _is_without_commits(Path(place)):
        return f"`{place}/{first_commit()}` is not there"
    return damaged_file(Path(place) / LOG)


def _is_without_commits(folder: Path) -> bool:
    """Whether a folder has a log without a commit, and rows beside it."""
    if not (folder / LOG).is_dir() or any((folder / LOG).glob("*.json")):
        return False
    return any(file for file in folder.rglob("*.parquet") if LOG not in file.parts)
