"""Write a Delta table by delta-rs; commits carry the identity that Spark's sink writes, so either finds them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa

from sqlext.connectors.delta.columns import require_same
from sqlext.connectors.delta.damage import refuse_emptied
from sqlext.connectors.delta.sink.direct import DirectWriter, KeptTable, as_of_files, require_columns
from sqlext.connectors.delta.sink.following import following
from sqlext.connectors.delta.sink.tables import FENCE, keys_of, stored_values
from sqlext.connectors.delta.table import MERGE_SCHEMA
from sqlext.connectors.spec import WriteSpec
from sqlext.locations import is_remote, on_disk
from sqlext.plan.nodes import EXISTS
from sqlext.rewrite.arrow.translation import Unsuited
from sqlext.sinks.base import SinkContext
from sqlext.sinks.local import LocalSink, made_of, selected
from sqlext.sources.queries import TableQuery

if TYPE_CHECKING:
    from deltalake import DeltaTable

#: Delta's types -> Spark's, as Spark shows them.
_SHOWN = {"long": "bigint", "integer": "int", "short": "smallint", "byte": "tinyint"}


def local_delta(spec: WriteSpec, context: SinkContext, schema: pa.Schema) -> LocalSink:
    """Return the sink of a table.

    Raises:
        Unsuited: for what Delta's own writer is needed for.
    """
    if spec.path is None or is_remote(spec.path):
        raise Unsuited("a Delta table in Spark's catalog or in an object store")
    if context.mode not in ("append", "upsert") or spec.partitioned_by or spec.flag(MERGE_SCHEMA):
        raise Unsuited("a Delta table that is overwritten, that has partitions, or that gets columns")
    held = selected(stored_values(spec), schema, context.zone)
    require_columns(held.columns, keys_of(spec, context) if context.mode == "upsert" else None)
    sink = LocalDelta(spec, context, held)
    sink.require_plain()
    return sink


@dataclass(frozen=True)
class LocalDelta(LocalSink):
    """A Delta table by path; see ``sink.DeltaSink``.

    Attributes:
        held: what the table holds.
        kept: the table between batches.
    """

    spec: WriteSpec
    context: SinkContext
    held: TableQuery
    kept: KeptTable = field(default_factory=KeptTable, compare=False)

    def require_plain(self) -> None:
        """Check that a table that is there needs no writer of Delta's own.

        Raises:
            Unsuited: if it does.
        """
        if (table := self._direct.table()) is not None:
            self._direct.require_plain(table)

    def require(self) -> None:
        """Hold the table that is there against the declaration."""
        if (table := self._direct.table()) is not None:
            self._hold(table)
            self._require_there()

    def open(self) -> None:
        """Create the table as declared, or hold the one that is there against the declaration."""
        refuse_emptied(self._path)
        with as_of_files(self._path):
            self._open()

    def _open(self) -> None:
        from deltalake import DeltaTable

        table = self._direct.table()
        if table is None:
            own = {k: v for k, v in self.spec.options if k.startswith("delta.")}
            properties = {**own, **dict(self.context.properties)}
            DeltaTable.create(self._path, self.held.schema, configuration=properties, raise_if_key_not_exists=False)
            return
        self._hold(table)
        self._require_there()
        self._shut_out(table)

    def _require_there(self) -> None:
        if (followed := following(self._path, self.context)) is not None:
            followed.require_there()

    def _hold(self, table: DeltaTable) -> None:
        found = {f.name: _shown(str(getattr(f.type, "type", f.type))) for f in table.schema().fields}
        require_same(self.spec, found)

    def _shut_out(self, table: DeltaTable) -> None:
        """Let a commit fail that a driver has begun from which the query was taken over."""
        from deltalake import CommitProperties

        fence = self.context.fence
        if fence is not None and fence.taken_over:
            mark = CommitProperties(custom_metadata={FENCE: fence.term.token})
            # Metadata that stay as they are. With properties delta-rs adds features that the table has no need of.
            described = table.metadata().description or ""
            table.alter.set_table_description(described, commit_properties=mark)

    def write(self, rows: pa.Table, batch_id: int, *, repeated: bool) -> None:
        """Commit a batch, unless the table has it already."""
        followed = following(self._path, self.context)
        if followed is not None:
            followed.begin()
        with as_of_files(self._path):
            self.kept.tried(lambda again: self._commit(rows, batch_id, repeated=repeated or again))
        if followed is not None:
            followed.committed()

    def _commit(self, rows: pa.Table, batch_id: int, *, repeated: bool) -> None:
        direct = self._direct
        table = self.kept.now(direct)
        assert table is not None
        # Who takes the query over changes the table. So a commit over what was opened before this look fails then.
        self.context.check_fence()
        if self.context.mode != "upsert":
            if not (repeated and direct.has(table, batch_id)):
                direct.append(table, made_of(self.held, rows), batch_id)
        elif not direct.has_merged(table, batch_id):
            found = direct.last_rows(rows)
            direct.merge(table, made_of(self.held, found).append_column(EXISTS, found[EXISTS]), batch_id)
        self.kept.noted(direct)

    @property
    def _path(self) -> str:
        return on_disk(self.spec.path or "")

    @property
    def _direct(self) -> DirectWriter:
        return DirectWriter(self._path, self.context, keys_of(self.spec, self.context))


def _shown(of: str) -> str:
    return _SHOWN.get(of, of)
