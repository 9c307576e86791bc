"""Compute rows and keep none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlext.connectors.spec import WriteSpec
from sqlext.sinks.base import Sink, SinkContext

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class BlackholeSink(Sink):
    """Computes every row and keeps none."""

    spec: WriteSpec
    context: SinkContext

    @property
    def single_pass(self) -> bool:
        """One job computes all rows."""
        return True

    def write(self, df: DataFrame, batch_id: int) -> None:
        """Compute a batch."""
        df.write.format("noop").mode("overwrite").save()
