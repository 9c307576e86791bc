"""Compute rows without Spark and keep none."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from sqlext.connectors.spec import WriteSpec
from sqlext.sinks.base import SinkContext
from sqlext.sinks.local import LocalSink


@dataclass(frozen=True)
class LocalBlackhole(LocalSink):
    """Keeps no row."""

    spec: WriteSpec
    context: SinkContext
    schema: pa.Schema

    def write(self, rows: pa.Table, batch_id: int, *, repeated: bool) -> None:
        """Leave a batch: it is computed already."""
