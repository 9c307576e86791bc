"""Tell URLs from local paths, by one rule for every path that a user gives, and resolve the local ones.

A text is a URL if it begins with a scheme and a slash: ``s3a://b/ck``, ``dbfs:/ck``, and ``s3a:/b/ck``, which
``pathlib`` makes of the first. It also is one if it begins with a known scheme (``s3a:b``). ``file:///x`` and
``file:/x`` are the local path ``/x``; a ``%20`` in them is a blank, as ``Path.as_uri`` writes it. All else is a local
path, also with a colon in it: ``./s3a:/b`` is the folder ``s3a:`` here.

Scripts must be local. Catalogs, checkpoints and files that sinks write may lie in an object store. What Spark opens
(sources, Delta tables) may be any URL. No URL becomes a folder in the working directory.

Relative paths of tables are of Python's working directory: the JVM has one of its own that ``os.chdir`` does not move,
and Delta takes no relative path. Spark reads a URL literally: ``file:///a%20b`` is told to it as ``file:///a b``.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import unquote

from sqlext.errors import SqlExtError, did_you_mean

PathOrText = str | os.PathLike[str]

#: One letter is no scheme: ``C:\\x`` is the name of a file here.
_SCHEME = re.compile(r"\s*([A-Za-z][A-Za-z0-9+.-]+):")
#: Schemes that say enough without a slash behind them.
_KNOWN = frozenset(
    "abfs abfss adl az azure blob cosn dbfs file ftp gcs gs har hdfs http https jar jdbc maprfs mem memory o3fs obs ofs"
    " oss r2 s3 s3a s3n sftp swebhdfs swift viewfs volumefs wasb wasbs webhdfs".split()
)
#: URLs of object stores: with two slashes, and a bucket or container.
_OBJECTS = re.compile(r"(?:s3|s3a|gs|abfss?)://[^/]+(?:/.*)?", re.IGNORECASE)
#: Behind ``file:``: no host, or this one, and an absolute path.
_FILE = re.compile(r"\s*file:(?://(?:localhost)?(/.*)|(/(?!/).*))", re.IGNORECASE | re.DOTALL)


def scheme_of(place: PathOrText) -> str | None:
    """Return the scheme of a URL in lower case, ``file`` too; None of a plain path."""
    text = os.fspath(place)
    found = _SCHEME.match(text)
    if found is None:
        return None
    scheme = found.group(1).lower()
    return scheme if text[found.end() :].startswith("/") or scheme in _KNOWN else None


def local_path(place: PathOrText) -> str | None:
    """Return a place as a path of the local file system, as it was given if it was a path; None of a URL elsewhere."""
    scheme = scheme_of(place)
    if scheme is None:
        return os.fspath(place)
    found = _FILE.fullmatch(os.fspath(place)) if scheme == "file" else None
    # Names of files are bytes and may be no UTF-8. A leading // would be another root to pathlib.
    return f"/{unquote(found.group(found.lastindex or 0), errors='surrogateescape').lstrip('/')}" if found else None


def is_remote(place: PathOrText) -> bool:
    """Return whether a place is a URL that is no path of the local file system."""
    return local_path(place) is None


def near(place: PathOrText | None) -> str | None:
    """Return a hint at what lies near a local path that is not there; None of a URL."""
    path = None if place is None else local_path(place)
    if path is None:
        return None
    missing = Path(path).absolute()
    while not missing.parent.is_dir():
        missing = missing.parent
    try:
        names = sorted(entry.name for entry in os.scandir(missing.parent))
    except OSError:
        return None
    return did_you_mean(missing.name, names) or f"`{missing.parent}` is there, and has no `{missing.name}`"


def is_object_store(place: PathOrText) -> bool:
    """Return whether a place is a URL of S3, Google Cloud or Azure, with a bucket or container."""
    return _OBJECTS.fullmatch(os.fspath(place)) is not None


def local(place: PathOrText, code: str, what: str, hint: str) -> Path:
    """Return the path of what must be local, as it was given.

    Args:
        code, what, hint: of the refusal: ``the catalog``, and what to do.

    Raises:
        SqlExtError: ``code`` for a URL elsewhere.
    """
    path = local_path(place)
    if path is None:
        text = os.fspath(place)
        message = f"{what} cannot lie at `{text}`: that is a URL with the scheme `{scheme_of(text)}`"
        raise SqlExtError(code, message, hint=_volume(text) or hint + _old_folder(text))
    return Path(path)


def local_file(place: PathOrText, what: str = "it") -> Path:
    """Return the path of a file or folder that this process reads or writes itself; raises RUN-014 for a URL."""
    return local(place, "RUN-014", what, "give a path of the local file system; file:///folder is one too")


def catalog_place(place: PathOrText) -> Path | str:
    """Return the absolute path of a catalog's folder, or its URL in an object store; raises CAT-038 for another URL."""
    if is_object_store(place):
        return os.fspath(place).rstrip("/")
    hint = (
        "give a folder of the local file system, or one that is mounted; or s3://, s3a://, gs://, abfss:// with a"
        " bucket or container"
    )
    return local(place, "CAT-038", "the catalog", hint).absolute()


def checkpoint_place(place: PathOrText) -> str:
    """Return where checkpoints lie: an absolute path, or the URL of an object store.

    Raises:
        SqlExtError: RUN-028 for another URL.
    """
    if is_object_store(place):
        return os.fspath(place).rstrip("/")
    hint = "give a local folder, or s3://, s3a://, gs://, abfss:// with a bucket or container"
    return str(
        local(place, "RUN-028", "checkpoints", f"{hint}; without --checkpoint they lie beside the catalog").absolute()
    )


def _volume(text: str) -> str:
    """Return what to say of a volume of Databricks by its URL, empty of all else."""
    path = text.strip().removeprefix("dbfs:")
    return f"a volume is named by its path: `{path}`" if path.startswith("/Volumes/") else ""


def _old_folder(text: str) -> str:
    """Return what to say of a folder that an older version made of a URL."""
    folder = Path(text)
    if scheme_of(text) == "file" or not folder.is_dir():
        return ""
    return f". An older version made the local folder `{folder.absolute()}` of it: that path still goes on from there"


def absolute(path: str | None) -> str | None:
    """Return a path that means the same everywhere; a URL (``s3://...``, ``file:/...``) as it is."""
    if not path:
        return path
    inside = local_path(path)
    if inside is None or path in (f"file:{inside}", f"file://{inside}"):
        return path
    return f"file://{inside}" if scheme_of(path) else str(Path(inside).absolute())


def beside(folder: Path, place: str) -> str:
    """Return a place whose path is relative to a folder; a URL as it is."""
    return str(folder / place) if scheme_of(place) is None else place


def for_spark(place: str) -> str:
    """Return a place as Spark names it: what Amazon calls ``s3`` is ``s3a`` to Hadoop, and ``s3`` is nothing there."""
    return f"s3a{place.lstrip()[2:]}" if scheme_of(place) == "s3" else place


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
