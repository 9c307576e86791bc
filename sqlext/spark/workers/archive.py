"""Pack our packages as one archive that Python imports from."""

from __future__ import annotations

import hashlib
import tempfile
import zipfile
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.abc import Traversable

#: What the processes of Spark import of ours.
PACKAGES = ("sqlext", "sqlext_udfs", "sqlext_catalog")
#: The same for every file and run, so that the same code is the same archive.
_DATE = (1980, 1, 1, 0, 0, 0)
_KEPT: list[tempfile.TemporaryDirectory[str]] = []


@cache
def archive() -> Path:
    """Return the archive of this process, made when it is first asked for. It is there until the process ends.

    Its name has a hash of what is in it: Spark takes one file of a name.
    """
    packed = _packed()
    folder = tempfile.TemporaryDirectory(prefix="sqlext-workers-")
    _KEPT.append(folder)
    path = Path(folder.name) / f"sqlext-{hashlib.sha256(packed).hexdigest()[:12]}.zip"
    path.write_bytes(packed)
    return path


def _packed() -> bytes:
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for package in PACKAGES:
            # By resources, and not by paths: our packages may lie in an archive themselves.
            for name, module in _modules(package, files(package)):
                archive.writestr(zipfile.ZipInfo(name, _DATE), module.read_bytes(), zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _modules(name: str, folder: Traversable) -> Iterator[tuple[str, Traversable]]:
    for entry in sorted(folder.iterdir(), key=lambda e: e.name):
        path = f"{name}/{entry.name}"
        if entry.is_dir():
            yield from _modules(path, entry)
        elif entry.name.endswith(".py"):
            yield path, entry
