"""Decide what SQL of others may use: connectors, places, hosts, options, settings, functions, and how much.

A session has one policy. It is asked where a table, an option, a setting, a statement of Spark's or a script is bound.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from fnmatch import fnmatchcase
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from sqlext.errors import SqlExtError
from sqlext.locations import local_path

_NUMBERS = ("seconds", "rows", "state_bytes")


class Denial(NamedTuple):
    """Why something may not be used, and what to do."""

    code: str
    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class Restrictions:
    """What SQL of others may use; everything else is refused.

    Attributes:
        connectors: by name.
        paths: folders and URLs; tables lie there, or in folders below.
        hosts: ``host`` or ``host:port``, with ``*``; of brokers and databases.
        options: keys of options beyond those that connectors and formats list, with ``*``.
        settings: keys of SET beyond the harmless ones, with ``*``; those of Spark too.
        secrets: references in options, with ``*``: ``env:SHOP_*``.
        seconds: how long a query may run.
        rows: how many rows a SELECT may show.
        state_bytes: how much memory a query's state may take.
    """

    connectors: tuple[str, ...] = ("filesystem", "delta", "datagen", "rate", "print", "blackhole", "dataframe")
    paths: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    seconds: float | None = 600
    rows: int | None = 10_000
    state_bytes: int | None = 1 << 30

    @classmethod
    def parse(cls, pairs: Iterable[tuple[str, str]]) -> Restrictions:
        """Return the restrictions with what a command line adds: ``path=data``, ``host=broker:9092``, ``rows=100``.

        Raises:
            ValueError: for a name that is none, a number that is none.
        """
        made = cls()
        lists = {f.name.removesuffix("s"): f.name for f in fields(cls) if isinstance(getattr(made, f.name), tuple)}
        for name, value in pairs:
            if name in lists:
                changed: dict[str, Any] = {lists[name]: (*getattr(made, lists[name]), value)}
            elif name in _NUMBERS:
                changed = {name: int(value)}
            else:
                raise ValueError(f"`{name}` is none of {', '.join([*lists, *_NUMBERS])}")
            made = replace(made, **changed)
        return made

    def within(self, folder: str | os.PathLike[str]) -> Restrictions:
        """Return them with a folder where tables may lie too."""
        return replace(self, paths=(*self.paths, os.fspath(folder)))


class Policy:
    """Allows everything: the policy of a session whose SQL is the user's own.

    Attributes:
        spark_settings: what Spark is told.
        limits: how much a query may take; None without limits.
    """

    restricted = False
    spark_settings: Mapping[str, str] = MappingProxyType({})
    limits: Restrictions | None = None

    def connector(self, name: str) -> Denial | None:
        """Return why tables may not have a connector."""
        return None

    def place(self, path: str) -> Denial | None:
        """Return why no table may lie at a path or URL."""
        return None

    def host(self, host: str) -> Denial | None:
        """Return why a host, ``name:port``, may not be asked."""
        return None

    def option(self, key: str) -> Denial | None:
        """Return why an option may not be given that no connector or format lists."""
        return None

    def reference(self, value: str) -> Denial | None:
        """Return why a reference to a secret may not be followed."""
        return None

    def require_setting(self, key: str | None) -> None:
        """Refuse a key of SET or RESET; None stands for all keys."""

    def require_own(self) -> None:
        """Refuse a statement that Spark alone runs."""

    def function(self, name: str) -> Denial | None:
        """Return why a function, in lower case, may not be called."""
        return None


OPEN = Policy()

#: Keys of SET that say how SQL is meant, and reach nothing.
_HARMLESS = (
    "sqlext.expressions",
    "sqlext.match-recognize",
    "sqlext.sink.updates",
    "sqlext.bounded",
    "sqlext.source",
    "sqlext.bad-rows",
    "sqlext.dead-letters.*",
    "sqlext.late-rows.table",
    "sqlext.fill.limit",
    "sqlext.idle.close-windows",
    "sqlext.trigger.real-time",
    "sqlext.watermark.max-future",
    "sqlext.shell.format",
    "sql-client.execution.result-mode",
    "execution.runtime-mode",
    "pipeline.name",
    "pipeline.auto-watermark-interval",
    "table.local-time-zone",
    "table.exec.*",
)
#: Functions that call any code, read files, ask hosts or tell secrets; some of them are a platform's.
_REFUSED = frozenset(
    "reflect java_method try_reflect identifier from_protobuf to_protobuf from_avro to_avro schema_of_avro from_xml"
    " schema_of_xml input_file_name input_file_block_start input_file_block_length cloud_files_state event_log secret"
    " try_secret list_secrets http_request remote_query vector_search".split()
)
#: How names of more of them begin.
_REFUSED_KINDS = ("read_", "ai_")
_HINT = "the owner of the session says what may be used: docs/restricted.md"


class RestrictedPolicy(Policy):
    """Allows what ``Restrictions`` name.

    Args:
        kept: places that no table may lie in, whatever is allowed: the session's own.
    """

    restricted = True
    #: No files by name; no ``${env:NAME}`` in a text of SQL, which Spark would replace.
    spark_settings = MappingProxyType({"spark.sql.runSQLOnFiles": "false", "spark.sql.variable.substitute": "false"})

    def __init__(self, restrictions: Restrictions, kept: Iterable[str | os.PathLike[str]] = ()) -> None:
        self.limits = restrictions
        self._allowed = restrictions
        self._roots = tuple(map(_real, restrictions.paths))
        self._kept = tuple(map(_real, kept))

    def connector(self, name: str) -> Denial | None:
        """Allow those that are named."""
        if name in self._allowed.connectors:
            return None
        return Denial("RESTRICT-001", f"connector '{name}' may not be used here", _HINT)

    def place(self, path: str) -> Denial | None:
        """Allow what lies in one of the roots once links and ``..`` are followed, and in no place of the session.

        Who reads a folder reads those below it as well, and follows links there.
        """
        real = _real(path)
        if not self._holds(real):
            return Denial("RESTRICT-002", f"`{path}` lies in no place that tables may lie in here", _HINT)
        if any(_is_shown_below(kept, real) for kept in self._kept):
            return Denial("RESTRICT-002", f"the session's own files lie below `{path}`", _HINT)
        link = next((link for link, to in _links_below(real) if not self._holds(to)), None)
        if link is not None:
            message = f"`{link}` is a link to a place that tables may not lie in here"
            return Denial("RESTRICT-002", message, "remove the link, or name its place as one where tables may lie")
        return None

    def _holds(self, real: str) -> bool:
        inside = any(_is_below(real, root) for root in self._roots)
        return inside and not any(_is_below(real, kept) for kept in self._kept)

    def host(self, host: str) -> Denial | None:
        """Allow those that are named, with or without their port."""
        if any(fnmatchcase(text, known) for known in self._allowed.hosts for text in (host, host.rpartition(":")[0])):
            return None
        return Denial("RESTRICT-003", f"host `{host}` may not be asked here", _HINT)

    def option(self, key: str) -> Denial | None:
        """Allow those that are named."""
        if _matches(key, self._allowed.options):
            return None
        return Denial("RESTRICT-004", f"option '{key}' may not be given here", _HINT)

    def reference(self, value: str) -> Denial | None:
        """Allow those that are named."""
        if _matches(value, self._allowed.secrets):
            return None
        return Denial("RESTRICT-004", f"the secret '{value}' may not be read here", _HINT)

    def require_setting(self, key: str | None) -> None:
        """Allow the harmless ones, and those that are named.

        Raises:
            SqlExtError: RESTRICT-005.
        """
        if key is None:
            hint = "RESET 'key' takes back a single one"
            raise SqlExtError("RESTRICT-005", "RESET of all settings may not be used here", hint=hint)
        if not _matches(key, (*_HARMLESS, *self._allowed.settings)):
            raise SqlExtError("RESTRICT-005", f"'{key}' may not be set here", hint=_HINT)

    def require_own(self) -> None:
        """Allow none: Spark reads such a text by rules of its own.

        Raises:
            SqlExtError: RESTRICT-006.
        """
        message = "a statement that Spark alone runs may not be used here"
        hint = "statements about tables of this catalog may: SELECT, INSERT, CREATE TABLE"
        raise SqlExtError("RESTRICT-006", message, hint=hint)

    def function(self, name: str) -> Denial | None:
        """Allow all but those that leave SQL."""
        if name not in _REFUSED and not name.startswith(_REFUSED_KINDS):
            return None
        return Denial("RESTRICT-007", f"function `{name}` may not be used here", _HINT)


def require_rows(count: int, most: int | None) -> None:
    """Refuse more rows than a SELECT may show; ``most`` is None for any number.

    Raises:
        SqlExtError: RESTRICT-009.
    """
    if most is not None and count > most:
        message = f"a SELECT may show {most:,} rows here, and this one has more"
        raise SqlExtError("RESTRICT-009", message, hint="LIMIT, or INSERT INTO a table")


def policy_of(restricted: bool | Restrictions, kept: Iterable[str | os.PathLike[str]] = ()) -> Policy:
    """Return the policy of a session; ``kept`` are places of its own."""
    if restricted is False:
        return OPEN
    return RestrictedPolicy(Restrictions() if restricted is True else restricted, kept)


def _matches(text: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(text, pattern) for pattern in patterns)


def _real(place: str | os.PathLike[str]) -> str:
    """Return where a path leads once links and ``..`` are followed, a URL in one spelling; empty where none is sure."""
    local = local_path(place)
    if local is not None:
        # To the system a path ends at such a character.
        return "" if "\0" in local else os.path.realpath(Path(local).absolute())
    parts = urlsplit(os.fspath(place))
    path = unquote(parts.path)
    # Stores and Hadoop differ in what such a part means.
    if ".." in path.split("/") or unquote(path) != path:
        return ""
    scheme = {"s3a": "s3", "s3n": "s3"}.get(parts.scheme.lower(), parts.scheme.lower())
    return f"{scheme}://{parts.netloc}{posixpath.normpath(path or '/')}"


def _is_below(place: str, root: str) -> bool:
    return bool(root) and (place == root or place.startswith(root.rstrip("/") + "/"))


def _is_shown_below(place: str, folder: str) -> bool:
    """Return whether those who read a folder read a place below it: names that begin with a dot are left out."""
    return _is_below(place, folder) and not any(p[:1] in (".", "_") for p in place[len(folder) :].split("/"))


def _links_below(folder: str) -> Iterator[tuple[str, str]]:
    """Yield the links in a folder of this machine and below it, also behind links, each with where it leads."""
    seen, left = {folder}, [folder]
    while left:
        try:
            with os.scandir(left.pop()) as entries:
                found = list(entries)
        except OSError:  # a file, a URL, one that is not there, or that nobody may read
            continue
        for entry in found:
            if entry.is_symlink():
                to = os.path.realpath(entry.path)
                yield entry.path, to
            elif entry.is_dir(follow_symlinks=False):
                to = entry.path
            else:
                continue
            if to not in seen:
                seen.add(to)
                left.append(to)
