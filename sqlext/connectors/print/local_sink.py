"""Print the rows of a query that runs without Spark."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

from sqlext.connectors.print.sink import print_rows, printed_columns
from sqlext.connectors.spec import WriteSpec
from sqlext.sinks.base import SinkContext
from sqlext.sinks.local import LocalSink, made_of, selected
from sqlext.sources.queries import TableQuery
from sqlext.sources.values import rows_of_table


@dataclass(frozen=True)
class LocalPrint(LocalSink):
    """A line a row, as ``PrintSink`` prints it; a batch that is run again is printed again."""

    spec: WriteSpec
    context: SinkContext
    schema: pa.Schema
    _texts: TableQuery = field(init=False)

    def __post_init__(self) -> None:
        # The class is frozen, and what Arrow cannot print is known before anything runs.
        texts = selected(printed_columns(self.spec, self.context), self.schema, self.context.zone)
        object.__setattr__(self, "_texts", texts)

    def write(self, rows: pa.Table, batch_id: int, *, repeated: bool) -> None:
        """Print a batch."""
        print_rows(rows_of_table(made_of(self._texts, rows)), self.spec, self.context)
