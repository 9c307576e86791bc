"""What all tables have that a reader of ours reads, and what those have whose rows lie in files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from sqlext.connectors.base import physical_fields
from sqlext.connectors.options import OptionError
from sqlext.connectors.paths import absolute
from sqlext.connectors.splits import Limit, SplitReader
from sqlext.sources.decoding.parquet_groups import ParquetDecoder
from sqlext.sources.fields import Field, arrow_type
from sqlext.sources.file_slices import FileDecoder
from sqlext_catalog.model import Column, Table


class Unread(Exception):  # noqa: N818 - not an error: the other path is taken
    """Why a table is not read by Arrow; its text is for EXPLAIN."""


class TableReaders(NamedTuple):
    """The tables of a connector.

    Attributes:
        column: the type of a column as it is read; raises ``Unread`` for one that is not given exactly as by Spark.
        require: checks that a table can be read, whatever its columns; raises ``Unread`` if not.
        reader: of a table, for the columns that are looked at, with a folder beside the checkpoint for what it must
            remember, for as many tasks at once; raises ``OptionError`` OPT-009 if nothing is there.
        limit: the most that a micro-batch takes.
    """

    column: Callable[[Table, Column], pa.DataType]
    require: Callable[[Table], None]
    reader: Callable[[Table, Sequence[str], Path, int], SplitReader]
    limit: Callable[[Table], Limit | None]


class TableFiles(NamedTuple):
    """The tables of a connector whose rows lie in files.

    Attributes:
        decoder: of a table's files, for the columns that are looked at; raises ``Unread`` where there is none.
        reader: of a table, by a decoder, with a folder beside the checkpoint for what it must remember, for as many
            tasks at once.
        require_there: checks that something lies at the table's path; raises ``OptionError`` OPT-009 if not.
        require_types: checks what is there against the declared columns, as far as Spark could convert it; raises
            ``Unread`` where only Spark can.
    """

    decoder: Callable[[Table, Sequence[str]], FileDecoder]
    reader: Callable[[Table, FileDecoder, Path, int], SplitReader]
    require_there: Callable[[Table], None]
    require_types: Callable[[Table], None] = lambda table: None


def path_of(table: Table) -> str:
    """Return the table's path, absolute."""
    return (absolute(table.option("path") or table.option("table-path")) or "").removeprefix("file:")


def require_path(path: Path, shown: str) -> None:
    """Check that something lies at a path.

    Raises:
        OptionError: OPT-009 if not.
    """
    if not path.exists():
        raise OptionError("OPT-009", f"{shown} does not exist", option="path")


def parquet_decoder(table: Table, needed: Sequence[str]) -> FileDecoder:
    """Return the decoder of parquet files with the table's columns."""
    fields = [(f.name, arrow_type(f.type, instant=f.instant)) for f in physical_fields(table) if f.name in needed]
    return ParquetDecoder(tuple(Field(*f) for f in fields))
