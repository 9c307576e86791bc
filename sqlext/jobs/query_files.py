"""Find a query's folder, and write its files in one step."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from sqlext.locations import checkpoint_place


def folder_name(name: str) -> str:
    """Return a name as a folder's: readable, unique, never a path."""
    # The hash keeps apart names that read alike. 60 characters stay far below the 255 bytes of a file's name.
    readable = re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-")[:60] or "query"
    return f"{readable}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def query_folder(root: Path, name: str, checkpoint: str | None) -> Path:
    """Return the folder of a query below the catalog's folder ``root``, or below ``checkpoint`` where it is given."""
    place = checkpoint_place(checkpoint).absolute() if checkpoint else root / "queries"
    return place / folder_name(name)


def last_number(folder: Path) -> int:
    """Return the last batch in one of Spark's logs, -1 if there is none."""
    # Spark's logs also hold `.crc` and temporary files, whose names are no numbers.
    numbers = [int(f.name) for f in folder.iterdir() if f.name.isdigit()] if folder.is_dir() else []
    return max(numbers, default=-1)


def write_whole(path: Path, text: str) -> None:
    """Write a file so that it is there whole or not at all, also after a power cut."""
    temporary = path.with_name(f"{path.name}.tmp")
    with temporary.open("w", encoding="utf-8") as stream:
        stream.write(text)
        stream.flush()
        # Before the rename: a file system may store the new name earlier than the bytes.
        os.fsync(stream.fileno())
    temporary.replace(path)
