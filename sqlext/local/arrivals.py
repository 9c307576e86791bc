"""Read the event times of a table in this process, with the micro-batches and partitions that they came in."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlext.connectors.registry import connector_of
from sqlext.connectors.splits import Limit
from sqlext.local.micro_batches import micro_batches
from sqlext.rewrite.arrow.in_process import LocalScript
from sqlext.sources.file_tables import path_of
from sqlext.stores.location import Location
from sqlext.watermarks.advice.arrivals import Arrivals, Gathering, Ints
from sqlext_catalog.model import Table


def arrivals_read(
    script: LocalScript, sources: Location, *, by: bool, future: int | None, rows_per_batch: int
) -> Arrivals:
    """Return the event times of a table: the first column of a query; its second tells partitions apart, if ``by``.

    Args:
        script: the query.
        sources: a folder for what readers remember of this run.
        by: whether there is a second column; otherwise rows are told apart by files or splits.
        future: how far (ms) rows may be ahead of the clock.
        rows_per_batch: rows of a micro-batch where nothing says what came together.
    """
    table = script.reads[0].table
    connector = connector_of(table)
    reader = connector.table_reader()
    splits = connector.has_splits(table)
    # An aligned topic is read in other micro-batches by default. Those are an assumption here, with and without it.
    limited = _unaligned(table) if splits else table
    arrived, now = reader.arrived(table), time.time_ns() // 1_000_000
    own = Limit("rows", rows_per_batch) if splits else Limit("arrivals", 1)
    gathering = Gathering()
    for pieces in micro_batches(script, sources, reader.limit(limited) or own):
        for piece in pieces:
            limit = arrived.get(piece.origin, now) + (future or 0)
            add_rows(gathering, piece.run(), None if by else shown(piece.origin, table), limit)
        gathering.next_batch()
    return gathering.arrivals()


def _unaligned(table: Table) -> Table:
    return replace(table, options=tuple(o for o in table.options if o[0] != "scan.watermark.alignment.group"))


def add_rows(gathering: Gathering, rows: pa.Table, label: str | None, limit: int) -> None:
    """Take rows: an event time, and beside it a partition unless a label says of which all are."""
    there = rows.filter(rows.column(0).is_valid())
    gathering.nulls += rows.num_rows - there.num_rows
    labels: Sequence[object] = [label]
    partition: Ints = np.zeros(there.num_rows, np.int64)
    if label is None and there.num_rows:
        codes = there.column(1).combine_chunks().dictionary_encode(null_encoding="encode")
        labels, partition = codes.dictionary.to_pylist(), codes.indices.to_numpy().astype(np.int64)
    gathering.add(list(labels), partition, _millis(there.column(0)), np.ones(there.num_rows, np.int64), limit)


def shown(origin: str, table: Table) -> str:
    """Return a file as it lies below its table's folder; a split as it is."""
    path = path_of(table) if table.option("path") else ""
    return origin.removeprefix(path).lstrip("/") or origin.rsplit("/", 1)[-1]


def _millis(times: pa.ChunkedArray) -> Ints:
    # Rounded down, also before 1970.
    found = pc.floor_temporal(times, unit="millisecond").cast(pa.timestamp("ms", times.type.tz))
    whole: Ints = found.cast(pa.int64()).to_numpy()
    return whole
