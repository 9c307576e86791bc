"""Read tables of connector ``delta`` that have a path or URL by Arrow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import pyarrow as pa

from sqlext.connectors.base import physical_fields
from sqlext.connectors.delta.damage import refuse_emptied
from sqlext.connectors.delta.reader.log import DeltaLog, LogColumns
from sqlext.connectors.delta.reader.versions import (
    SPLIT,
    DeltaPosition,
    DeltaReader,
    DeltaStart,
    Tolerance,
    Watched,
    position_of,
)
from sqlext.connectors.formats.base import ReadField
from sqlext.connectors.options import OptionError
from sqlext.connectors.readers import FilePlace, Unread
from sqlext.errors import SqlExtError
from sqlext.locations import is_remote
from sqlext.sources.arrow_types import arrow_type
from sqlext.sources.decoding.parquet_decoder import fits
from sqlext.sources.file_log import FoundFile
from sqlext.sources.file_slices import FileDecoder
from sqlext.sources.file_tables import FileTables, path_of, require_path
from sqlext.sources.table_decoders import parquet_decoder
from sqlext.stores.access import are_reached
from sqlext.stores.files import file_access
from sqlext.stores.location import Location
from sqlext_catalog.model import Table


class DeltaTables(FileTables):
    """Delta tables with a path or URL, without what Delta's own reader is needed for."""

    def decoder(self, table: Table, needed: Sequence[str]) -> FileDecoder:
        """Return the decoder of the table's files; see ``FileTables.decoder``."""
        for option in ("startingTimestamp", "versionAsOf", "timestampAsOf", "readChangeFeed", "maxBytesPerTrigger"):
            if table.option(option) is not None:
                raise Unread(f"option '{option}' is for Delta's own reader")
        # Without columns that are looked at, nothing is to be known of the table yet.
        return replace(parquet_decoder(table, needed), stored=_stored_names(path_of(table)) if needed else {})

    def files(self, table: Table, decoder: FileDecoder, state: Location, tasks: int) -> DeltaReader:
        """Return the reader of the table's versions; the table itself remembers what there was."""
        log = log_of(path_of(table))
        columns = log.columns()
        _require_columns(table, columns.schema)
        version = table.option("startingVersion")
        start = (
            DeltaStart(latest=True)
            if version == "latest"
            else DeltaStart(int(version) if version is not None else None)
        )
        tolerance = Tolerance(*(_is_on(table, o) for o in ("ignoreDeletes", "ignoreChanges", "skipChangeCommits")))
        declared = {field.name for field in physical_fields(table)}
        watched = {held: column for held, column in columns.held.items() if column[0] in declared}
        return DeltaReader(log, decoder, start, tolerance, tasks, Watched(watched, columns.version))

    def stored(self, table: Table) -> Sequence[FoundFile]:
        """Return the files of the latest version, without those of which a deletion vector takes rows away."""
        log = log_of(path_of(table))
        return [file.found for file in log.files(log.version()) if not file.marked]

    def history(self, table: Table) -> Table:
        """Return the table as it is read from its first commit on, while the log has that; else from what is there."""
        log = log_of(path_of(table))
        if table.option("startingVersion") is not None or log.commit(0) is None:
            return table
        # Rows that were rewritten have come before.
        options = {**dict(table.options), "startingVersion": "0", "skipChangeCommits": "true"}
        return replace(table, options=tuple(options.items()))

    def places(self, table: Table) -> Mapping[str, FilePlace]:
        """Return with which commit each file came; see ``TableReader.places``."""
        log = log_of(path_of(table))
        found: dict[str, FilePlace] = {}
        for version in range(log.version() + 1):
            commit = log.commit(version)
            begin, end = (DeltaPosition(v, is_commit=True, files=0).number for v in (version, version + 1))
            for file in commit.added if commit is not None else ():
                found[file.found.path] = FilePlace(SPLIT, begin, end, f"version {version}")
        return found

    def reached(self, offset: Mapping[str, object]) -> Mapping[str, int]:
        """Return the position behind the last file that was read; nothing within what was there at the beginning."""
        position = position_of(offset)
        # The order of these files is not that of the commits that they came with.
        return {SPLIT: position.number} if position is not None and position.is_commit else {}

    def require_there(self, table: Table) -> None:
        """Check that a Delta table is there, and none of its commits emptied."""
        require_path(log_folder(path_of(table)), f"delta `{path_of(table)}`")
        refuse_emptied(path_of(table))

    def require_types(self, table: Table) -> None:
        """Check that no time is an instant there and a wall clock here, or the other way round: Spark knows the zone.

        A column that is not there is told when the table is read.

        Raises:
            Unread: if one is, or if the rows are not what the files say.
        """
        place = path_of(table)
        if is_remote(place) and not are_reached():
            raise Unread("its path is a URL, and no Spark session says how it is reached")
        try:
            found = _columns(place).schema
        except FileNotFoundError:  # it may come until it is read
            return
        except SqlExtError as error:
            raise Unread(error.message) from error
        for field in physical_fields(table):
            if field.name in found.names and _other_clock(found.field(field.name).type, field):
                raise Unread(f"column `{field.name}` is of the other kind of TIMESTAMP there")


def _require_columns(table: Table, found: pa.Schema) -> None:
    """Check that a Delta table has the declared columns.

    Raises:
        OptionError: OPT-012 if it does not.
    """
    place = f"delta `{path_of(table)}`"
    for field in physical_fields(table):
        wanted = arrow_type(field.type, instant=field.instant)
        if field.name not in found.names:
            what = f"{place} has no column `{field.name}` in its files; they have {', '.join(found.names)}"
            raise OptionError("OPT-012", what, hint="declare the columns that are there")
        own = found.field(field.name).type
        if wanted is None or not fits(own, wanted) or _other_clock(own, field):
            what = f"column `{field.name}` of {place} has type {own}, declared is {field.type}"
            raise OptionError("OPT-012", what, hint="declare the type that is there, or convert it in a query")


def log_of(path: str) -> DeltaLog:
    """Return the log of the table at a path or URL."""
    return DeltaLog(path, file_access(path))


def log_folder(path: str) -> str:
    """Return the folder of the log of the table at a path or URL."""
    return f"{path.rstrip('/')}/_delta_log"


def _stored_names(path: str) -> Mapping[str, str]:
    """Return the names that columns have in the files; none where the table cannot be read: who reads it says why."""
    if is_remote(path) and not are_reached():
        return {}
    try:
        return _columns(path).stored
    except (FileNotFoundError, SqlExtError):
        return {}


def _columns(path: str) -> LogColumns:
    """Return the columns of a table; raises FileNotFoundError if it is not there."""
    if not is_remote(path):
        # A commit changes the folder's time of modification, and with it the key of the cache.
        return _local_columns(path, Path(log_folder(path)).stat().st_mtime_ns)
    log = log_of(path)
    if not log.access.is_there(log_folder(path)):
        raise FileNotFoundError(path)
    return log.columns()


@lru_cache(maxsize=64)
def _local_columns(path: str, _changed: int) -> LogColumns:
    """Return the columns of a table, opened once while its log does not change: a statement asks repeatedly."""
    return DeltaLog(path).columns()


def _other_clock(own: pa.DataType, field: ReadField) -> bool:
    """Return whether a time is an instant there and a wall clock here, or the other way round.

    A rowtime is carried as an instant in any case, which an instant is already.
    """
    wanted = arrow_type(field.type)
    if wanted is None or not (pa.types.is_timestamp(own) and pa.types.is_timestamp(wanted)):
        return False
    return (own.tz is None) != (wanted.tz is None) and not (field.instant and own.tz is not None)


def _is_on(table: Table, option: str) -> bool:
    return (table.option(option) or "false").strip().lower() == "true"


READER = DeltaTables()
