"""Paths of tables: relative ones are of Python's working directory, as users expect.

The JVM has a working directory of its own that ``os.chdir`` does not move, and Delta takes no relative path.
"""

from __future__ import annotations

import re
from pathlib import Path

_SCHEME = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]+:")


def absolute(path: str | None) -> str | None:
    """Return a path that means the same everywhere; a URL (``s3://...``, ``file:/...``) as it is."""
    if not path or _SCHEME.match(path):
        return path
    return str(Path(path).absolute())
