"""Read tables of connector ``filesystem`` by Arrow: their columns, or their lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sqlext.connectors.base import metadata_columns
from sqlext.connectors.filesystem.reader.folder import FolderReader, listed
from sqlext.connectors.filesystem.table import may_be_missing
from sqlext.connectors.options import bad_rows_policy
from sqlext.connectors.readers import OwnSource, Unread
from sqlext.sources.decoding.json_decoder import JsonDecoder
from sqlext.sources.decoding.line_decoder import LINES, LineDecoder
from sqlext.sources.file_log import FoundFile
from sqlext.sources.file_slices import FileDecoder
from sqlext.sources.file_tables import FileTables, kept_in, path_of, require_path, require_plain_files
from sqlext.sources.table_decoders import csv_decoder, json_fields, parquet_decoder
from sqlext.stores.files import file_access
from sqlext.stores.location import Location
from sqlext_catalog.model import Table


class FolderTables(FileTables):
    """Tables of files in a folder. Where rows are judged one by one it gives lines, which SQL decodes."""

    def decoder(self, table: Table, needed: Sequence[str]) -> FileDecoder:
        """Return the decoder of the table's format; see ``FileTables.decoder``."""
        form = table.option("format") or ""
        if form not in _DECODERS:
            raise Unread(f"format '{form}' has no Arrow reader")
        return _DECODERS[form](table, needed)

    def files(self, table: Table, decoder: FileDecoder, state: Location, tasks: int) -> FolderReader:
        """Return the reader of the table's folder."""
        path, pattern = path_of(table), table.option("source.path.regex-pattern")
        return FolderReader(path, state, decoder, pattern, tasks, file_access(path), may_be_missing(table))

    def stored(self, table: Table) -> Sequence[FoundFile]:
        """Return the files of the folder; see ``FileTables.stored``."""
        path = path_of(table)
        pattern = table.option("source.path.regex-pattern")
        return listed(path, pattern, file_access(path), may_be_missing=may_be_missing(table))

    def require_there(self, table: Table) -> None:
        """Check that the folder is there, or may come later."""
        if not may_be_missing(table):
            require_path(path_of(table), f"`{path_of(table)}`")

    def why_not(self, table: Table) -> str:
        """Return why neither columns nor lines are read, empty if they are."""
        if bad_rows_policy(table) is None:
            return super().why_not(table)
        try:
            require_plain_files(table)
        except Unread as reason:
            return str(reason)
        looks_at_paths = metadata_columns(table) or table.option("source.path.regex-pattern")
        return "it looks at the paths of its files" if looks_at_paths else ""

    def source(self, table: Table, state: Location | None, tasks: int) -> OwnSource:
        """Return the table's rows, or its lines; see ``TableReader.source``."""
        if bad_rows_policy(table) is None:
            return super().source(table, state, tasks)
        self.require_there(table)
        lines = self.files(table, LineDecoder(), kept_in(state), tasks)
        return OwnSource(lines, LINES, self.limit(table))


_DECODERS: Mapping[str, Callable[[Table, Sequence[str]], FileDecoder]] = {
    "csv": lambda table, needed: csv_decoder(table, needed, dict(table.options)),
    "json": lambda table, needed: JsonDecoder(json_fields(table, needed, dict(table.options))),
    "parquet": parquet_decoder,
}
READER = FolderTables()
