"""Read tables whose rows lie in files.

A connector adds which files there are and how they are decoded.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence

import pyarrow as pa

from sqlext.connectors.base import declared_type, is_instant, read_columns
from sqlext.connectors.options import OptionError
from sqlext.connectors.readers import FilePlace, OwnSource, Unread
from sqlext.connectors.splits import Limit, SplitReader
from sqlext.locations import absolute, is_remote, near, on_disk, scheme_of
from sqlext.sources.arrow_types import arrow_type, json_type
from sqlext.sources.file_log import FoundFile
from sqlext.sources.file_slices import FileDecoder, Range
from sqlext.stores.files import FileAccess, can_read, file_access
from sqlext.stores.location import Location
from sqlext_catalog.model import Column, Table

#: Bytes at the end of a file among which its last rows are looked for.
_TAIL = 1 << 20


class FileTables:
    """The ``TableReader`` of a connector whose rows lie in files."""

    def decoder(self, table: Table, needed: Sequence[str]) -> FileDecoder:
        """Return the decoder of a table's files, for the columns that are looked at.

        Raises:
            Unread: where there is none.
        """
        raise NotImplementedError

    def files(self, table: Table, decoder: FileDecoder, state: Location, tasks: int) -> SplitReader:
        """Return what reads a table's files by a decoder; see ``TableReader.reader``."""
        raise NotImplementedError

    def stored(self, table: Table) -> Sequence[FoundFile]:
        """Return a table's files whose rows all count, oldest first."""
        raise NotImplementedError

    def newest(self, table: Table, most: int) -> pa.Table:
        """Return the last rows of the newest files; see ``NewestRows``."""
        require_plain_files(table)
        self.require_there(table)
        types = self._readable(table)
        decoder, access = self.decoder(table, tuple(types)), file_access(path_of(table))
        found: list[pa.Table] = []
        for file in reversed(self.stored(table)):
            found.insert(0, _tail(decoder, file, access, most - sum(t.num_rows for t in found)))
            if sum(t.num_rows for t in found) >= most:
                break
        kept = [t for t in found if t.num_rows]
        return pa.concat_tables(kept) if kept else pa.schema(list(types.items())).empty_table()

    def _readable(self, table: Table) -> dict[str, pa.DataType]:
        """Return the types of the columns that can be read.

        Raises:
            Unread: if there is none.
        """
        types, reason = {}, "it has no columns"
        for column in read_columns(table):
            try:
                types[column.name] = self.column(table, column)
            except Unread as unread:
                reason = str(unread)
        if not types:
            raise Unread(reason)
        return types

    def require_there(self, table: Table) -> None:
        """Check that something lies at the table's path.

        Raises:
            OptionError: OPT-009 if not.
        """
        raise NotImplementedError

    def require_types(self, table: Table) -> None:
        """Check what is there against the declared columns, as far as Spark could convert it.

        Raises:
            Unread: where only Spark can.
        """

    def why_not(self, table: Table) -> str:
        """Return why Arrow does not give the rows of a table, empty if it does."""
        try:
            self.require(table)
            for column in read_columns(table):
                self.column(table, column)
        except Unread as reason:
            return str(reason)
        return ""

    def source(self, table: Table, state: Location | None, tasks: int) -> OwnSource:
        """Return a table's rows; see ``TableReader.source``."""
        types = {c.name: self.column(table, c) for c in read_columns(table)}
        reader = self.reader(table, tuple(types), kept_in(state), tasks)
        return OwnSource(reader, pa.schema(list(types.items())), self.limit(table), decoded=True)

    def require(self, table: Table) -> None:
        """Check that the files of a table can be read; see ``TableReader.require``."""
        require_plain_files(table)
        self.decoder(table, ())
        self.require_types(table)

    def column(self, table: Table, column: Column) -> pa.DataType:
        """Return the type of a column; see ``TableReader.column``."""
        if column.kind != "physical" or column.name in table.partitioned_by:
            raise Unread(f"column `{column.name}` is no field of the file")
        declared = declared_type(column)
        type_of = json_type if table.option("format") == "json" else arrow_type
        found = type_of(declared, instant=is_instant(table, column))
        if found is None:
            raise Unread(f"column `{column.name}` is of type {declared}")
        return found

    def reader(self, table: Table, needed: Sequence[str], state: Location, tasks: int) -> SplitReader:
        """Return what reads some columns of a table; see ``TableReader.reader``."""
        self.require_there(table)
        return self.files(table, self.decoder(table, needed), state, tasks)

    def limit(self, table: Table) -> Limit | None:
        """Return the most files of a micro-batch: one where the table must wait for others."""
        most = table.option("maxFilesPerTrigger")
        if most is None and table.option("scan.watermark.alignment.group") is None:
            return None
        # Alignment holds a source between micro-batches only: one that took all files could not be held.
        return Limit("files", int(most or 1))

    def history(self, table: Table) -> Table:
        """Return the table itself: files are read as they came."""
        return table

    def arrived(self, table: Table) -> Mapping[str, int]:
        """Return when the files that are there were written; see ``TableReader.arrived``."""
        self.require_there(table)
        return {file.path: file.modified for file in self.stored(table)}

    def places(self, table: Table) -> Mapping[str, FilePlace]:
        """Return nothing: a log says which files were taken; see ``TableReader.places``."""
        return {}

    def reached(self, offset: Mapping[str, object]) -> Mapping[str, int]:
        """Return nothing, as ``places``."""
        return {}

    def numbering(self, reader: SplitReader) -> tuple[SplitReader, str] | None:
        """Return nothing: rows are counted by file."""
        return None


def _tail(decoder: FileDecoder, file: FoundFile, access: FileAccess, most: int) -> pa.Table:
    """Return the last rows of a file; of a large one, what begins in its last part."""
    start = max(0, file.size - _TAIL) if decoder.can_cut(file.path) else 0
    batches = [b for b in decoder.read(Range(file.path, start, file.size, access)) if b.num_rows]
    if not batches and start:  # a row group may begin before
        batches = [b for b in decoder.read(Range(file.path, 0, file.size, access)) if b.num_rows]
    rows = pa.Table.from_batches(batches) if batches else pa.table({})
    return rows.slice(max(0, rows.num_rows - most))


def path_of(table: Table) -> str:
    """Return the table's path, absolute, or its URL."""
    return on_disk(absolute(table.option("path") or table.option("table-path")) or "")


def require_path(path: str, shown: str) -> None:
    """Check that something lies at a path.

    Raises:
        OptionError: OPT-009 if not.
        SqlExtError: RUN-015 if an object store does not answer.
    """
    if not file_access(path).is_there(path):
        raise OptionError("OPT-009", f"{shown} does not exist", option="path", hint=near(path))


def require_plain_files(table: Table) -> None:
    """Check that a table's files lie in one place that can be read here, without values in the names of folders.

    Raises:
        Unread: if they do not.
    """
    if table.partitioned_by:
        raise Unread("it is partitioned by folders")
    place = table.option("path") or table.option("table-path")
    if place is None:
        raise Unread("it has no path")
    if is_remote(place) and not can_read(place):
        raise Unread(f"its path is a URL of {scheme_of(place)}")


def kept_in(state: Location | None) -> Location:
    """Return the folder for what a reader must remember: one that nobody asks for again where there is none."""
    return state if state is not None else Location(tempfile.mkdtemp(prefix="sqlext-"))
