"""Commit a micro-batch of few rows in the driver: Spark needs jobs and files for what delta-rs does in milliseconds.

A query's micro-batches may go either way, each as it comes. Both know what the other has committed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa

from sqlext.connectors.delta.sink.direct import DirectWriter, KeptTable, fields_of, require_columns
from sqlext.connectors.delta.sink.tables import keys_of
from sqlext.connectors.spec import WriteSpec
from sqlext.locations import is_remote, on_disk
from sqlext.plan.nodes import EXISTS
from sqlext.rewrite.arrow.translation import Unsuited
from sqlext.settings import SINK_ROWS
from sqlext.sinks.base import SinkContext
from sqlext.sources.arrow_types import arrow_type
from sqlext.stores.naming import in_one_line

if TYPE_CHECKING:
    from deltalake import DeltaTable


def told(spec: WriteSpec, context: SinkContext) -> str:
    """Return who commits the micro-batches of a stream, and why, for EXPLAIN."""
    if not context.few.rows:
        return f"micro-batches are committed by Spark: '{SINK_ROWS}' is 0"
    most = f"micro-batches of up to {context.few.rows} rows are committed in the driver, larger ones by Spark"
    try:
        require_place(spec, context)
        if DirectWriter(on_disk(spec.path or ""), context, ()).table() is not None:
            small_batches(spec, context)
            return most
        types = [(c.name, arrow_type(c.type)) for c in spec.columns]
        require_columns(types, keys_of(spec, context) if context.mode == "upsert" else None)
    except Unsuited as reason:
        return f"micro-batches are committed by Spark: {reason}"
    own = next((key for key, _ in spec.options if key.startswith("delta.")), None)
    return f"{most}, if '{own}' asks no more of who writes the table that is made" if own else most


def small_batches(spec: WriteSpec, context: SinkContext, kept: KeptTable | None = None) -> SmallBatches:
    """Return what commits small batches to a table that is there.

    Args:
        spec: the table.
        context: the query.
        kept: the table between batches; None to open it anew.

    Raises:
        Unsuited: where Spark must do it.
    """
    require_place(spec, context)
    assert spec.path is not None
    direct = DirectWriter(on_disk(spec.path), context, keys_of(spec, context))
    found = SmallBatches(direct, context, kept or KeptTable(), "")
    return replace(found, identity=str(found.opened().metadata().id))


def require_place(spec: WriteSpec, context: SinkContext) -> None:
    """Check what can be said of a table that need not be there; raises as ``small_batches``."""
    if spec.path is None:
        raise Unsuited("a Delta table in Spark's catalog")
    if is_remote(spec.path):
        raise Unsuited("a Delta table in an object store")
    if context.mode not in ("append", "upsert"):
        raise Unsuited("a Delta table that is overwritten")
    if spec.partitioned_by:
        raise Unsuited("a Delta table that has partitions")


@dataclass(frozen=True)
class SmallBatches:
    """Commits the batches of one query that have few rows.

    Attributes:
        direct: commits them.
        context: the query.
        kept: the table between batches.
        identity: the id of the table.
    """

    direct: DirectWriter
    context: SinkContext
    kept: KeptTable
    identity: str

    def opened(self) -> DeltaTable:
        """Return the table as it is now; raises as ``small_batches``."""
        try:
            from deltalake.exceptions import DeltaError
        except ImportError as reason:  # the server of Spark Connect has packages of its own
            raise Unsuited("a Delta table, without the package deltalake") from reason
        try:
            table = self.kept.now(self.direct)
        except DeltaError as reason:  # Spark's Delta may know more
            raise Unsuited(f"a Delta table that delta-rs does not open: {in_one_line(str(reason))}") from reason
        if table is None:
            raise Unsuited("a Delta table that is not there")
        self.direct.require_plain(table)
        fields = fields_of(table)
        # Spark tells what a row breaks.
        for field in fields:
            if not field["nullable"]:
                raise Unsuited(f"column `{field['name']}` of a Delta table is NOT NULL")
        if table.metadata().partition_columns:
            raise Unsuited("a Delta table that has partitions")
        schema = _schema(table)
        require_columns(zip(schema.names, schema.types, strict=True), self._keys)
        return table

    def write(self, rows: pa.Table, batch_id: int) -> bool:
        """Commit a batch that was not appended before; return False where Spark must, and nothing is committed.

        Args:
            rows: the table's columns, then the hidden ones.
            batch_id: its number; a batch that was merged before is not merged again.
        """
        from deltalake.exceptions import DeltaError

        coming = self.direct.last_rows(rows) if self._merges else self._appended(rows)

        def commit(again: bool) -> bool:
            # Another driver that takes the query over changes the table. So what is committed over a table that
            # was opened before the fence was checked is either this driver's, or fails.
            table = self.opened()
            self.context.check_fence()
            return (again and self._has(table, batch_id)) or self._committed(table, coming, batch_id)

        try:
            return self.kept.tried(commit)
        except Unsuited:
            return False
        except DeltaError:
            return self._has(self.opened(), batch_id)

    def _has(self, table: DeltaTable, batch_id: int) -> bool:
        return (self.direct.has_merged if self._merges else self.direct.has)(table, batch_id)

    def _committed(self, table: DeltaTable, coming: pa.Table, batch_id: int) -> bool:
        held = _cast(coming, _schema(table))
        if not self._merges:
            self.direct.append(table, held, batch_id)
        elif not self.direct.has_merged(table, batch_id):
            if self.direct.rewritten(table, held) > self.context.few.bytes:
                return False
            self.direct.merge(table, held.append_column(EXISTS, coming[EXISTS]), batch_id)
        self.kept.noted(self.direct)
        return True

    def _appended(self, rows: pa.Table) -> pa.Table:
        exists = self.context.exists
        return rows if exists is None else rows.filter(rows[exists])

    @property
    def _merges(self) -> bool:
        return self.context.mode == "upsert"

    @property
    def _keys(self) -> tuple[str, ...] | None:
        return self.direct.keys if self._merges else None


def _schema(table: DeltaTable) -> pa.Schema:
    return pa.schema(table.schema().to_arrow())


def _cast(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return the columns of a table, in its order and of its types; those that are hidden are left out."""
    if missing := [name for name in schema.names if name not in rows.column_names]:
        raise Unsuited(f"a Delta table with another column, `{missing[0]}`")
    return rows.select(schema.names).cast(schema)
