"""Jars of Maven for tests, fetched by the Ivy that pyspark brings along, once, into ``~/.cache/sqlext``. Needs Java."""

from __future__ import annotations

import fcntl
import importlib.util
import os
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "sqlext"

_FETCH_SECONDS = 600


def java() -> str:
    """Return the java command."""
    home = os.environ.get("JAVA_HOME")
    return str(Path(home) / "bin" / "java") if home else shutil.which("java") or "java"


def fetched(name: str, modules: tuple[tuple[str, str, str], ...], *, transitive: bool) -> Path:
    """Return a folder of jars, by its name in the cache; it appears only when it is complete."""
    folder = CACHE / name
    if folder.is_dir():
        return folder
    with _alone():  # Ivy's cache, which all of them share, takes no two at once
        return folder if folder.is_dir() else _fetch(folder, modules, transitive=transitive)


def _fetch(folder: Path, modules: tuple[tuple[str, str, str], ...], *, transitive: bool) -> Path:
    partial = folder.with_name(f"{folder.name}.{uuid.uuid4().hex}")
    for organisation, module, version in modules:
        command = [java(), "-jar", str(_ivy()), "-cache", str(CACHE / "ivy"), "-confs", "default", "-warn"]
        command += ["-dependency", organisation, module, version, *([] if transitive else ["-notransitive"])]
        command += ["-retrieve", f"{partial}/[artifact]-[revision](-[classifier]).[ext]"]
        said = subprocess.run(command, capture_output=True, text=True, timeout=_FETCH_SECONDS, check=False)
        if not (partial / f"{module}-{version}.jar").exists():
            raise RuntimeError(f"cannot fetch {module} {version}:\n{said.stdout[-2000:]}{said.stderr[-2000:]}")
    partial.rename(folder)
    return folder


@contextmanager
def _alone() -> Iterator[None]:
    """Let one process at a time into the block."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _ivy() -> Path:
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise RuntimeError("pyspark is not installed")
    (ivy,) = (Path(spec.origin).parent / "jars").glob("ivy-*.jar")
    return ivy
