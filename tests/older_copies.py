"""Put a folder back as it was, as somebody who restores a backup does."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def put_back(folder: Path) -> Iterator[None]:
    """Copy a folder; at the end of the block the copy takes its place."""
    older = folder.with_name("older")
    shutil.copytree(folder, older)
    yield
    shutil.rmtree(folder)
    older.rename(folder)
