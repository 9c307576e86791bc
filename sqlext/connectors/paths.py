"""Resolve paths of tables (``sqlext.locations``): relative ones are of Python\'s working directory.

The JVM has a working directory of its own that ``os.chdir`` does not move, and Delta takes no relative path. Spark
reads a URL literally: ``file:///a%20b`` is told to it as ``file:///a b``.
"""

from __future__ import annotations

import os
from pathlib import Path

from sqlext.locations import local_path, scheme_of


def absolute(path: str | None) -> str | None:
    """Return a path that means the same everywhere; a URL (``s3://...``, ``file:/...``) as it is."""
    if not path:
        return path
    inside = local_path(path)
    if inside is None or path in (f"file:{inside}", f"file://{inside}"):
        return path
    return f"file://{inside}" if scheme_of(path) else str(Path(inside).absolute())


def on_disk(path: str) -> str:
    """Return what ``absolute`` gave for a local path, as a path of the file system."""
    return path.removeprefix("file://" if path.startswith("file:///") else "file:")


def holds_bytes(path: str | None, enough: int) -> bool:
    """Return whether a local file, or the files of a folder, have so many bytes together; a URL is not looked at."""
    place = local_path(path) if path else None
    if not place:
        return False
    if Path(place).is_file():
        return Path(place).stat().st_size >= enough
    found = 0
    for folder, _, names in os.walk(place):
        for name in names:
            try:
                found += (Path(folder) / name).stat().st_size
            except FileNotFoundError:  # removed since it was listed
                continue
            if found >= enough:
                return True
    return False
