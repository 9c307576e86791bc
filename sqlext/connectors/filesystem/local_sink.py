"""Write part files without Spark: the same names, manifests and contents as ``sink.part_files``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyarrow as pa

from sqlext.connectors.filesystem.sink.part_files import FileSink
from sqlext.connectors.formats.json import writer_options
from sqlext.connectors.spec import WriteSpec
from sqlext.locations import is_remote, on_disk
from sqlext.rewrite.arrow.translation import Unsuited
from sqlext.sinks.base import SinkContext
from sqlext.sinks.json_lines import can_be_json, json_lines
from sqlext.sinks.local import LocalSink, made_of, selected
from sqlext.sinks.standing import standing
from sqlext.sources.queries import TableQuery
from sqlext.stores.naming import naming


def local_files(spec: WriteSpec, context: SinkContext, schema: pa.Schema) -> LocalSink:
    """Return the sink of a folder.

    Raises:
        Unsuited: for what only Spark writes.
    """
    if is_remote(spec.path or "") or context.mode == "overwrite" or spec.partitioned_by:
        raise Unsuited("a folder in an object store, with partitions, or that is overwritten")
    files = FileSink(spec, context)
    if spec.format not in _WRITERS:
        raise Unsuited(f"files of format '{spec.format}' are written by Spark alone")
    held = selected(files.held(), schema, context.zone)
    if spec.format == "json" and not all(can_be_json(of) for _, of in held.columns):
        raise Unsuited("values that only Spark writes as JSON")
    return LocalFileSink(files, held)


@dataclass(frozen=True)
class LocalFileSink(LocalSink):
    """Writes one part file a batch, of what stands of it; ``sink.commit`` says how exactly once.

    Attributes:
        files: how Spark's sink names and moves them.
        held: what the files hold.
    """

    files: FileSink
    held: TableQuery

    def require(self) -> None:
        """Refuse a mode or a place in which it cannot write."""
        self.files.require_writable()

    def open(self) -> None:
        """Make the folder: an empty result is an empty folder."""
        self.files.require_writable()
        self.files.folder().create()

    def write(self, rows: pa.Table, batch_id: int, *, repeated: bool) -> None:
        """Write a batch and commit it, unless it is there."""
        with naming(self.files.folder().path):
            self.files.commit(batch_id, partial(self._stage, rows))

    def finish(self) -> None:
        """Delete the staging: a query that has ended repeats no batch."""
        self.files.folder().forget()

    def _stage(self, rows: pa.Table, where: str) -> None:
        ending, write = _WRITERS[self.files.spec.format or ""]
        place = Path(on_disk(where))
        place.mkdir(parents=True, exist_ok=True)
        file = place / f"part-00000.{ending}"
        with naming(str(file)):
            write(made_of(self.held, standing(rows, self.files.context)), file, self.files.spec)
        # The next step is the commit. What a driver that has been away since then has staged is its own.
        self.files.context.check_fence()


def _write_json(rows: pa.Table, file: Path, spec: WriteSpec) -> None:
    leaves_out = dict(writer_options(dict(spec.options)))["ignoreNullFields"] == "true"
    with file.open("w", encoding="utf-8") as stream:
        stream.writelines(json_lines(rows, ignores_null=leaves_out))


def _write_parquet(rows: pa.Table, file: Path, spec: WriteSpec) -> None:
    from pyarrow import parquet

    # As Spark writes times: microseconds, and not as INT96.
    parquet.write_table(rows, file, compression="snappy", coerce_timestamps="us", store_schema=False)


#: Format -> the ending of its files, and what writes one.
_WRITERS: dict[str, tuple[str, Callable[[pa.Table, Path, WriteSpec], None]]] = {
    "json": ("json", _write_json),
    "parquet": ("snappy.parquet", _write_parquet),
}
