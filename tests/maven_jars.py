"""Jars of Maven for tests, fetched by the Ivy that pyspark brings along, once, into ``~/.cache/sqlext``. Needs Java."""

from __future__ import annotations

import fcntl
import importlib.util
import os
import shutil
import subprocess
import tempfile
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


def fetched_archive(organisation: str, module: str, version: str, classifier: str) -> Path:
    """Return the folder of an archive (.tar.gz) that a module has beside its jar, unpacked."""
    folder = CACHE / f"{module}-{version}-{classifier}"
    if folder.is_dir():
        return folder
    with _alone():
        return folder if folder.is_dir() else _unpack(folder, organisation, module, version, classifier)


#: What Ivy fetches, where that is no jar.
_ARCHIVE = """<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven">
<info organisation="sqlext" module="tests"/><configurations><conf name="default"/></configurations>
<dependencies><dependency org="{0}" name="{1}" rev="{2}" transitive="false" conf="default->*">
<artifact name="{1}" type="tar.gz" ext="tar.gz" m:classifier="{3}"/></dependency></dependencies></ivy-module>
"""


def _unpack(folder: Path, organisation: str, module: str, version: str, classifier: str) -> Path:
    with tempfile.TemporaryDirectory(dir=CACHE) as partial:
        wanted = Path(partial) / "ivy.xml"
        wanted.write_text(_ARCHIVE.format(organisation, module, version, classifier), "utf-8")
        # A cache of its own, removed with the rest: the archive is needed unpacked alone.
        command = [java(), "-jar", str(_ivy()), "-cache", f"{partial}/ivy", "-ivy", str(wanted), "-confs", "default"]
        command += ["-warn", "-retrieve", f"{partial}/[artifact].[ext]"]
        said = subprocess.run(command, capture_output=True, text=True, timeout=_FETCH_SECONDS, check=False)
        archive = Path(partial, f"{module}.tar.gz")
        if not archive.exists():
            raise RuntimeError(f"cannot fetch {module} {version}:\n{said.stdout[-2000:]}{said.stderr[-2000:]}")
        shutil.unpack_archive(archive, Path(partial, "unpacked"))
        Path(partial, "unpacked").rename(folder)
    return folder


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
