"""Which files lie in a folder, as Spark's own file source sees them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from sqlext.sources.file_log import Found


def listed(path: str, pattern: str | None) -> list[Found]:
    """Return the files of a folder and of the folders in it (or the one file), oldest first, then by path.

    Hidden ones are left out: names that begin with ``.`` or ``_``, and what is being copied.

    Args:
        path: absolute.
        pattern: a regular expression that a whole path must match; None for all.
    """
    matches = re.compile(pattern).fullmatch if pattern else None
    found = [f for f in _walk(path) if matches is None or matches(f.path)]
    return sorted(found, key=lambda f: (f.modified, f.path))


def _walk(path: str) -> Iterator[Found]:
    if not Path(path).is_dir():
        state = Path(path).stat()
        yield Found(path, state.st_mtime_ns // 1_000_000, state.st_size)
        return
    folders = [path]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if _is_hidden(entry.name):
                    continue
                if entry.is_dir():
                    folders.append(entry.path)
                    continue
                try:
                    state = entry.stat()
                except FileNotFoundError:  # removed since it was listed
                    continue
                yield Found(entry.path, state.st_mtime_ns // 1_000_000, state.st_size)


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or (name.startswith("_") and "=" not in name) or name.endswith("._COPYING_")
