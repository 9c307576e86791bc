"""Write the commits of the catalog's Delta table: each replaces the table's single data file.

The table is the plainest that Delta knows, so a commit is two files: the rows as parquet, and a few lines of the log
that name them. delta-rs plans a query over the rows for it, which takes three times as long. Whatever is not as our
first commit makes it is left to delta-rs (``is_plain``), which knows what else a table may ask of its writers.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlext.stores.base import ByteStore
from sqlext_catalog.log_damage import commit_name

if TYPE_CHECKING:
    from deltalake import DeltaTable

#: Definitions stay readable at every version: nothing expires.
PROPERTIES = {
    "delta.logRetentionDuration": "interval 36500 days",
    "delta.deletedFileRetentionDuration": "interval 36500 days",
    "delta.enableExpiredLogCleanup": "false",
}
#: What a reader and a writer must know of Delta: its first versions, which ask for nothing more.
_READER, _WRITER = 1, 2


class DataFile(NamedTuple):
    """A file of rows: its name within the table's folder, and its size in bytes."""

    path: str
    size: int


class MadeCommit(NamedTuple):
    """What a commit has left: the file of its rows, and the stamp of its lines in the log."""

    file: DataFile
    stamp: object


def is_plain(table: DeltaTable) -> bool:
    """Whether a table asks nothing more of its writers than the one that ``commit`` makes."""
    protocol, metadata = table.protocol(), table.metadata()
    asked = (protocol.min_reader_version, protocol.min_writer_version)
    features = protocol.reader_features or protocol.writer_features
    return (
        asked == (_READER, _WRITER)
        and not features
        and not metadata.partition_columns
        and metadata.configuration == PROPERTIES
    )


def commit(
    files: ByteStore, version: int, rows: Any, before: DataFile | None, info: Mapping[str, str]
) -> MadeCommit | None:
    """Put rows in place of those of the version before, in one step.

    Args:
        files: of the table's folder.
        version: of the commit; 0 makes the table.
        rows: all of them, an Arrow table.
        before: the file that goes; None at version 0.
        info: kept with the commit.

    Returns:
        None if that version is there already. After a failure of the network it may be this commit.
    """
    from sqlext_catalog.arrow import to_parquet

    data = to_parquet(rows)
    file = DataFile(f"part-00000-{uuid.uuid4()}-c000.snappy.parquet", len(data))
    now = int(time.time() * 1000)
    files.create(file.path, data)
    first = () if before is not None else _of_table(rows, now)
    lines = [_info(info, now, first=before is None), *first, *_replaced(file, before, len(rows), now)]
    stamp = files.create(commit_name(version), "\n".join(map(_line, lines)).encode())
    return None if stamp is None else MadeCommit(file, stamp)


def commit_by_delta_rs(table: DeltaTable, rows: Any, info: Mapping[str, str], *, new_columns: bool) -> None:
    """Put rows in place of those of a table, in one step, if nobody else has committed since it was read.

    Args:
        table: as it was read.
        rows: all of them, an Arrow table.
        info: kept with the commit.
        new_columns: whether the table gets other columns.

    Raises:
        DeltaError, OSError: for a commit that was not made.
    """
    from deltalake import CommitProperties, PostCommitHookProperties, write_deltalake

    write_deltalake(
        table,
        rows,
        mode="overwrite",
        schema_mode="overwrite" if new_columns else None,
        # A retry of delta-rs would put our rows on top of a version that its caller has never seen.
        commit_properties=CommitProperties(custom_metadata=dict(info), max_commit_retries=0),
        # A checkpoint that fails after the commit would look like a commit that failed.
        post_commithook_properties=PostCommitHookProperties(create_checkpoint=False, cleanup_expired_logs=False),
    )


def _info(info: Mapping[str, str], now: int, *, first: bool) -> Mapping[str, Any]:
    parameters = {"mode": "ErrorIfExists" if first else "Overwrite"}
    told = {"timestamp": now, "operation": "WRITE", "operationParameters": parameters, "engineInfo": "sqlext"}
    return {"commitInfo": {**told, **info}}


def _of_table(rows: Any, now: int) -> Sequence[Mapping[str, Any]]:
    """Return what makes a table."""
    from deltalake import Schema

    return (
        {"protocol": {"minReaderVersion": _READER, "minWriterVersion": _WRITER}},
        {
            "metaData": {
                "id": str(uuid.uuid4()),
                "format": {"provider": "parquet", "options": {}},
                "schemaString": Schema.from_arrow(rows.schema).to_json(),
                "partitionColumns": [],
                "createdTime": now,
                "configuration": PROPERTIES,
            }
        },
    )


def _replaced(file: DataFile, before: DataFile | None, rows: int, now: int) -> Iterator[Mapping[str, Any]]:
    if before is not None:
        gone = {"deletionTimestamp": now, "dataChange": True, "extendedFileMetadata": True}
        yield {"remove": {"path": before.path, **gone, "partitionValues": {}, "size": before.size}}
    statistics = _line({"numRecords": rows})
    added = {"size": file.size, "modificationTime": now, "dataChange": True, "stats": statistics}
    yield {"add": {"path": file.path, "partitionValues": {}, **added}}


def _line(action: Mapping[str, Any]) -> str:
    return json.dumps(action, separators=(",", ":"))
