"""Write part files in a worker, where the rows of a query are made."""

from __future__ import annotations

import io
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlext.locations import on_disk
from sqlext.sinks.base import PartFile
from sqlext.sinks.json_lines import json_lines
from sqlext.sources.queries import TableQuery
from sqlext.stores.naming import naming
from sqlext_udfs.kernel.arrow_numpy import whole

#: What Spark and Hive write in names of folders as `%` and two digits.
_ESCAPES = str.maketrans({c: f"%{ord(c):02X}" for c in [*map(chr, range(1, 32)), *"\"#%'*/:=?\\\x7f{[]^"]})
#: The folder of rows whose value is NULL or an empty text.
_NOTHING = "__HIVE_DEFAULT_PARTITION__"
#: How many bytes of lines of several partitions wait for others.
_MOST_WAITING = 1 << 25


class JsonFile:
    """Lines of JSON on their way to a file: they wait until there are enough of them, or until the end."""

    def __init__(self, path: Path, ignores_null: bool) -> None:
        self.waiting = 0
        self._path, self._ignores_null, self._lines = path, ignores_null, io.BytesIO()

    def take(self, rows: pa.Table) -> None:
        """Take rows."""
        for lines in json_lines(rows, ignores_null=self._ignores_null):
            self.waiting += self._lines.write(lines)

    def flush(self) -> None:
        """Write what waits."""
        with self._opened() as file:
            file.write(self._lines.getbuffer())
        self._lines, self.waiting = io.BytesIO(), 0

    def _opened(self) -> IO[bytes]:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        return self._path.open("ab")


class ParquetFile:
    """Rows on their way to a file of parquet, which is written at once."""

    waiting = 0

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows: list[pa.Table] = []

    def take(self, rows: pa.Table) -> None:
        """Take rows."""
        self._rows.append(rows)

    def flush(self) -> None:
        """Write all rows."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        write_parquet(pa.concat_tables(self._rows), self._path)


def write_parquet(rows: pa.Table, file: Path) -> None:
    """Write a file as Spark writes times: microseconds, and not as INT96."""
    from pyarrow import parquet

    parquet.write_table(rows, file, compression="snappy", coerce_timestamps="us", store_schema=False)


@dataclass(frozen=True)
class PartWriter:
    """Writes the rows of a slice to files of its own.

    Attributes:
        held: what the files hold, and the texts of partition columns.
        form: the format.
        partitions: the columns that are in the names of folders.
        ignores_null: whether JSON leaves out fields that are NULL.
    """

    held: TableQuery
    form: str
    partitions: tuple[str, ...] = ()
    ignores_null: bool = False

    def write(self, rows: Iterable[pa.Table], where: str, number: int) -> Iterator[PartFile]:
        """Write rows, and yield the files and how many rows are in each; see ``sinks.base.WritesParts``."""
        # A task that is run again writes other files; only those of the one that succeeds are told of.
        parts = _Parts(self, Path(on_disk(where)), f"part-{number:05d}-{uuid.uuid4().hex}")
        with naming(where):
            for table in rows:
                made = self.held.run({"rows": table})
                for folder, some in self._divided(made):
                    parts.take(folder, some)
            yield from parts.written()

    def _divided(self, rows: pa.Table) -> Iterator[tuple[str, pa.Table]]:
        """Yield rows by the folder that they go to, in their order."""
        if not self.partitions:
            if rows.num_rows:
                yield "", rows
            return
        texts = [_folders(name, rows[name]) for name in self.partitions]
        folders = pc.binary_join_element_wise(*texts, "/").dictionary_encode()
        plain = rows.drop_columns(list(self.partitions))
        codes = folders.indices.to_numpy()
        order = np.argsort(codes, kind="stable")
        bounds = np.searchsorted(codes[order], np.arange(len(folders.dictionary) + 1))
        for code, folder in enumerate(folders.dictionary.to_pylist()):
            yield folder, plain.take(pa.array(order[bounds[code] : bounds[code + 1]]))


@dataclass
class _Parts:
    writer: PartWriter
    root: Path
    name: str
    _files: dict[str, Any] = field(default_factory=dict)
    _rows: dict[str, int] = field(default_factory=dict)

    def take(self, folder: str, rows: pa.Table) -> None:
        """Take rows of a folder."""
        ending, make = _FORMS[self.writer.form]
        name = f"{folder}/{self.name}.{ending}" if folder else f"{self.name}.{ending}"
        if name not in self._files:
            self._files[name] = make(self.root / name, self.writer)
        self._files[name].take(rows)
        self._rows[name] = self._rows.get(name, 0) + rows.num_rows
        if sum(file.waiting for file in self._files.values()) > _MOST_WAITING:
            for file in self._files.values():
                if file.waiting:
                    file.flush()

    def written(self) -> Iterator[PartFile]:
        """Write what is left, and yield all files."""
        for file in self._files.values():
            file.flush()
        yield from (PartFile(name, rows) for name, rows in self._rows.items())


def _folders(name: str, texts: pa.ChunkedArray) -> pa.Array:
    """Return the names of the folders of some values of a partition column."""

    encoded = whole(texts).dictionary_encode(null_encoding="encode")
    made = [f"{name.translate(_ESCAPES)}={_folder(text)}" for text in encoded.dictionary.to_pylist()]
    return pa.array(made, pa.string()).take(encoded.indices)


def _folder(text: str | None) -> str:
    return text.translate(_ESCAPES) if text else _NOTHING


#: Format -> the ending of its files, and what writes one.
_FORMS: Mapping[str, tuple[str, Callable[[Path, PartWriter], JsonFile | ParquetFile]]] = {
    "json": ("json", lambda path, writer: JsonFile(path, writer.ignores_null)),
    "parquet": ("snappy.parquet", lambda path, _: ParquetFile(path)),
}
FORMS = frozenset(_FORMS)
