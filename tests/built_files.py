"""What is built with Node.js and kept: which sources it was built of."""

from __future__ import annotations

import hashlib
from pathlib import Path


def hash_of_sources(folder: Path) -> str:
    """Return the hash of a folder's sources, counted as its ``build.mjs`` does."""
    names = ["build.mjs", "package.json", "package-lock.json", *(f"src/{p.name}" for p in (folder / "src").iterdir())]
    counted = hashlib.sha256()
    for name in sorted(names):
        counted.update(name.encode() + b"\0" + (folder / name).read_bytes() + b"\0")
    return counted.hexdigest()
