"""Write part files without Spark: the same names, manifests and contents as ``sink.part_files``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import pyarrow as pa

from sqlext.connectors.filesystem.sink.part_files import FileSink
from sqlext.connectors.filesystem.sink.part_writer import FORMS, PartWriter
from sqlext.connectors.spec import WriteSpec
from sqlext.locations import is_remote
from sqlext.rewrite.arrow.translation import Unsuited
from sqlext.sinks.base import SinkContext
from sqlext.sinks.json_lines import can_be_json
from sqlext.sinks.local import LocalSink, selected
from sqlext.sinks.standing import standing
from sqlext.stores.naming import naming


def local_files(spec: WriteSpec, context: SinkContext, schema: pa.Schema) -> LocalSink:
    """Return the sink of a folder.

    Raises:
        Unsuited: for what only Spark writes.
    """
    if is_remote(spec.path or "") or context.mode == "overwrite" or spec.partitioned_by:
        raise Unsuited("a folder in an object store, with partitions, or that is overwritten")
    files = FileSink(spec, context)
    if files.changes is not None:
        raise Unsuited("changes of rows, of which this process knows what stands at the end alone")
    return LocalFileSink(files, _part_writer(files, schema))


def part_writer(files: FileSink, schema: pa.Schema) -> PartWriter | None:
    """Return what writes the part files of a sink where rows are made; None where Spark alone writes them."""
    try:
        return _part_writer(files, schema)
    except Unsuited:
        return None


def _part_writer(files: FileSink, schema: pa.Schema) -> PartWriter:
    form = "json" if files.changes is not None else files.spec.format or ""
    if form not in FORMS:
        raise Unsuited(f"files of format '{form}' are written by Spark alone")
    held = selected(files.with_partitions(), schema, files.context.zone)
    if form == "json" and not all(can_be_json(of) for _, of in held.columns):
        raise Unsuited("values that only Spark writes as JSON")
    leaves_out = form == "json" and files.writer_options()["ignoreNullFields"] == "true"
    return PartWriter(held, form, tuple(files.spec.partitioned_by), leaves_out)


@dataclass(frozen=True)
class LocalFileSink(LocalSink):
    """Writes one part file a batch, of what stands of it; ``sink.commit`` says how exactly once.

    Attributes:
        files: how Spark's sink names and moves them.
        writer: writes them.
    """

    files: FileSink
    writer: PartWriter

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
        # A generator works while it is asked.
        for _ in self.writer.write([standing(rows, self.files.context)], where, 0):
            pass
        # The next step is the commit. What a driver that has been away since then has staged is its own.
        self.files.context.check_fence()
