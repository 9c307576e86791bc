"""Run queries over tables in memory: SELECTs without grouping, and their unions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from sqlext.sources.program import Stage, after
from sqlext_udfs.kernel.arrow_numpy import whole

Tables = Mapping[str, pa.Table]
"""The tables that a query reads, by the names of their views."""


@dataclass(frozen=True)
class TableQuery:
    """The rows of some SELECTs, one after the other.

    Attributes:
        branches: the SELECTs; all have the same columns.
        columns: name and type of each.
        limit: the most rows that are given; None for all.
    """

    branches: tuple[Branch, ...]
    columns: tuple[tuple[str, pa.DataType], ...]
    limit: int | None = None

    @property
    def schema(self) -> pa.Schema:
        """The columns."""
        return pa.schema(list(self.columns))

    def run(self, tables: Tables) -> pa.Table:
        """Return its rows."""
        rows = pa.concat_tables([branch.run(tables, self.schema) for branch in self.branches])
        return rows if self.limit is None else rows.slice(0, self.limit)


@dataclass(frozen=True)
class Branch:
    """One SELECT; ``of`` is the view that it reads, or a query within it."""

    of: str | TableQuery
    stage: Stage

    def run(self, tables: Tables, schema: pa.Schema) -> pa.Table:
        """Return its rows as columns of a schema."""
        table = tables[self.of] if isinstance(self.of, str) else self.of.run(tables)
        columns = {name: whole(table.column(name)) for name in table.column_names}
        made, rows = after(self.stage, columns, table.num_rows)
        # A NULL that is written has no type of its own.
        typed = [pa.nulls(rows, f.type) if pa.types.is_null(made[f.name].type) else made[f.name] for f in schema]
        return pa.table(typed, schema)
