"""Resolve paths of tables: relative ones are of Python's working directory.

The JVM has a working directory of its own that ``os.chdir`` does not move, and Delta takes no relative path.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

_SCHEME = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]+:")


def absolute(path: str | None) -> str | None:
    """Return a path that means the same everywhere; a URL (``s3://...``, ``file:/...``) as it is."""
    if not path or _SCHEME.match(path):
        return path
    return str(Path(path).absolute())


def holds_bytes(path: str | None, enough: int) -> bool:
    """Return whether a local file, or the files of a folder, have so many bytes together; a URL is not looked at."""
    place = (absolute(path) or "").removeprefix("file:")
    if not place or _SCHEME.match(place):
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
