"""Read the log of a Delta table, on a local disk or at a URL: its files at a version, and those of each commit.

By the protocol of Delta (github.com/delta-io/delta, PROTOCOL.md): a commit is a file of JSON actions, of which ``add``
and ``remove`` with ``dataChange`` change the table's rows; without it they only store the same rows otherwise.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import pyarrow as pa
from deltalake import DeltaTable

from sqlext.connectors.delta.damage import telling_damage
from sqlext.errors import SqlExtError
from sqlext.locations import is_remote
from sqlext.sources.file_log import FoundFile
from sqlext.stores.files import LOCAL, FileAccess

_LOG = "_delta_log"
_MAPPING = "delta.columnMapping.mode"
#: Features that our reader follows or can pass over; the first one counts where a table makes use of it.
_HARMLESS = frozenset(
    {"columnMapping", "deletionVectors", "timestampNtz", "typeWidening", "v2Checkpoint", "vacuumProtocolCheck"}
)
_VECTORS = "deletionVectors"
#: Of a column in the log: its name in the files, which is its own where the table maps no columns.
_PHYSICAL = "delta.columnMapping.physicalName"
#: Of the statistics of a file, which are JSON in a text: all of them would be read for one number.
_RECORDS = re.compile(r'"numRecords"\s*:\s*(\d+)')
_BY_SPARK = "SET 'sqlext.source' = 'spark' reads it as Spark does"


class LogFile(NamedTuple):
    """A file of a version: where it is, and whether a deletion vector marks some of its rows as deleted.

    Attributes:
        rows: how many it has, those that are marked too; None where the log does not say it.
    """

    found: FoundFile
    marked: bool
    rows: int | None = None


@dataclass(frozen=True, slots=True)
class LogCommit:
    """What a commit does to a table.

    Attributes:
        added: files that it adds.
        removes: whether it takes others away.
        columns: the name and type of each column from then on, by its name in the files; None where they stay.
    """

    added: tuple[LogFile, ...]
    removes: bool
    columns: Mapping[str, tuple[str, str]] | None = None


class LogColumns(NamedTuple):
    """The columns that the files of a table have, those of folders left out.

    Attributes:
        schema: under their names in the table.
        held: the name and type of each column, by its name in the files; of all, also those of folders.
        version: at which they are so.
    """

    schema: pa.Schema
    held: Mapping[str, tuple[str, str]]
    version: int

    @property
    def stored(self) -> Mapping[str, str]:
        """The names in the files of columns that have another one there."""
        return {name: held for held, (name, _) in self.held.items() if name != held}


@dataclass(frozen=True)
class DeltaLog:
    """The log of a table.

    Attributes:
        path: of the table, absolute, or its URL.
        access: opens its files.
    """

    path: str
    access: FileAccess = LOCAL

    def version(self) -> int:
        """Return the latest version."""
        return int(self._table().version())

    def identity(self) -> str:
        """Return the id of the table: another table at the same place has another one."""
        return str(self._table().metadata().id)

    def transaction(self, identity: str) -> int | None:
        """Return the last number of a writer's transactions, None if it has made none."""
        return self._table().transaction_version(identity)

    def declared(self) -> Mapping[str, Any]:
        """Return the columns as the log has them: Spark's JSON of a schema."""
        found: Mapping[str, Any] = json.loads(self._table().schema().to_json())
        return found

    def columns(self) -> LogColumns:
        """Return the columns that its files have.

        Raises:
            SqlExtError: RUN-067 for a table whose rows are not what its files say.
        """
        table = self._table()
        self._require_plain(table.metadata().configuration)
        unknown = sorted(set(table.protocol().reader_features or ()) - _HARMLESS)
        if unknown:
            raise self._refused(f"has the feature {unknown[0]}")
        text = table.schema().to_json()
        fields = json.loads(text)["fields"]
        if _maps_within([field["type"] for field in fields]):
            raise self._refused("has fields of columns under other names in its files")
        # The values of partitions stand in the log alone, not in the files.
        folders = set(table.metadata().partition_columns)
        schema = pa.schema([f for f in pa.schema(table.schema().to_arrow()) if f.name not in folders])
        return LogColumns(schema, _columns_of(text), int(table.version()))

    def files(self, version: int) -> tuple[LogFile, ...]:
        """Return the files at a version, oldest first, then by path.

        Raises:
            SqlExtError: RUN-068 if that version is gone.
        """
        table = self._at(version)
        actions = pa.table(table.get_add_actions(flatten=True))
        wanted = [c for c in ("path", "modification_time", "size_bytes", "num_records") if c in actions.column_names]
        rows = actions.select(wanted).to_pylist()
        marked = self._kept_rows(table)
        files = []
        for row in rows:
            found = FoundFile(self._place(row["path"]), row["modification_time"], row["size_bytes"])
            files.append(LogFile(found, found.path in marked, row.get("num_records")))
        # A fixed order: a position counts files, and must mean the same ones after a restart.
        return tuple(sorted(files, key=lambda f: (f.found.modified, f.found.path)))

    def kept_rows(self, version: int) -> Mapping[str, pa.BooleanArray]:
        """Return which rows a version has of each file that a deletion vector marks: path -> a value for each row.

        Raises:
            SqlExtError: RUN-068 if that version is gone.
        """
        return self._kept_rows(self._at(version))

    def _kept_rows(self, table: DeltaTable) -> dict[str, pa.BooleanArray]:
        features = set(table.protocol().reader_features or ())
        if _VECTORS not in features:
            return {}
        if "typeWidening" in features:
            raise self._refused("has deletion vectors and type widening at once")
        found = pa.table(table.deletion_vectors()).combine_chunks()
        masks = zip(found["filepath"].to_pylist(), found["selection_vector"], strict=True)
        return {self._place(unquote(path)): mask.values for path, mask in masks}

    def commit(self, version: int) -> LogCommit | None:
        """Return what a commit does; None if it is not there yet.

        Raises:
            SqlExtError: RUN-067 for what a reader of plain files cannot follow; RUN-093 if it is damaged.
        """
        try:
            lines = self.access.text(self._file(version)).splitlines()
        except FileNotFoundError:
            return None
        with telling_damage(self.path):
            actions = [json.loads(line) for line in lines if line]
            if not actions:
                raise ValueError(f"version {version} is empty")
        for action in actions:
            # ALTER TABLE can turn such a feature on while a query reads.
            self._require_plain(action.get("metaData", {}).get("configuration") or {})
        # OPTIMIZE stores the same rows in other files: its actions have a false ``dataChange``.
        adds = [a["add"] for a in actions if "add" in a and a["add"]["dataChange"]]
        removes = any(a["remove"].get("dataChange", True) for a in actions if "remove" in a)
        columns = [_columns_of(a["metaData"]["schemaString"]) for a in actions if "metaData" in a]
        return LogCommit(tuple(self._added(a) for a in adds), removes, columns[-1] if columns else None)

    def require(self, version: int) -> None:
        """Check that a commit is there, or is still to come.

        Raises:
            SqlExtError: RUN-068 if it has been cleaned away.
        """
        # A version above the latest is one that is still to come.
        if not self.access.is_there(self._file(version)) and self.version() >= version:
            raise self.gone(version)

    def gone(self, version: int) -> SqlExtError:
        """Return what is told of a version that has been cleaned away."""
        hint = (
            "DROP QUERY starts the query anew, with all that is there, or from a version of its own with"
            " 'startingVersion'; 'delta.logRetentionDuration' of the table keeps commits longer"
        )
        return SqlExtError("RUN-068", f"version {version} of delta `{self.path}` is not in its log", hint=hint)

    def _at(self, version: int) -> DeltaTable:
        try:
            return self._table(version)
        except SqlExtError:
            raise
        except Exception as error:
            raise self.gone(version) from error

    def _table(self, version: int | None = None) -> DeltaTable:
        with telling_damage(self.path):
            return DeltaTable(self.path, version=version, storage_options=self.access.delta_options(self.path))

    def _file(self, version: int) -> str:
        # PROTOCOL.md: versions are padded to twenty digits.
        return self._below(f"{_LOG}/{version:020}.json")

    def _below(self, name: str) -> str:
        return f"{self.path.rstrip('/')}/{name}" if is_remote(self.path) else str(Path(self.path) / name)

    def _added(self, add: Mapping[str, Any]) -> LogFile:
        rows = _RECORDS.search(add.get("stats") or "")
        marked = add.get("deletionVector") is not None
        return LogFile(self._found(add), marked, int(rows[1]) if rows is not None else None)

    def _found(self, add: Mapping[str, Any]) -> FoundFile:
        # PROTOCOL.md: paths in the log are URL-encoded.
        return FoundFile(self._place(unquote(add["path"])), add["modificationTime"], add["size"])

    def _place(self, path: str) -> str:
        """Return where a file lies: below the table, or elsewhere for a shallow clone."""
        place = path.removeprefix("file://") if path.startswith("file:///") else path.removeprefix("file:")
        if is_remote(place):
            raise self._refused(f"has a file at `{place}`")
        return self._below(place)

    def _require_plain(self, configuration: Mapping[str, str]) -> None:
        # By name, the columns of the files have the names that the log says.
        if configuration.get(_MAPPING, "none") not in ("none", "name"):
            raise self._refused(f"has '{_MAPPING}' = '{configuration[_MAPPING]}'")

    def _refused(self, what: str) -> SqlExtError:
        return SqlExtError("RUN-067", f"delta `{self.path}` {what}: no reader of ours follows that", hint=_BY_SPARK)


def _columns_of(schema: str) -> dict[str, tuple[str, str]]:
    found = {}
    for column in json.loads(schema)["fields"]:
        name, type_ = column["name"], column["type"]
        found[column.get("metadata", {}).get(_PHYSICAL, name)] = (name, type_ if isinstance(type_, str) else "nested")
    return found


def _maps_within(found: object) -> bool:
    """Return whether types, as the log has them, have a field under another name in the files."""
    if isinstance(found, list):
        return any(map(_maps_within, found))
    if not isinstance(found, dict):
        return False
    name = found.get("name")
    return found.get("metadata", {}).get(_PHYSICAL, name) != name or _maps_within(
        [value for key, value in found.items() if key != "metadata"]
    )
