"""Write a Delta table by delta-rs; commits carry the identity that Spark's sink writes, so either finds them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from sqlext.connectors.delta.columns import require_same
from sqlext.connectors.delta.damage import refuse_emptied, telling_damage
from sqlext.connectors.delta.sink import FENCE, History, stored_values
from sqlext.connectors.delta.table import MERGE_SCHEMA
from sqlext.connectors.spec import WriteSpec
from sqlext.locations import is_remote, on_disk
from sqlext.plan.nodes import EXISTS
from sqlext.quoting import identifier
from sqlext.rewrite.arrow.translation import Unsuited
from sqlext.sinks.base import SinkContext
from sqlext.sinks.local import LocalSink, made_of, selected
from sqlext.sinks.standing import last_of_keys
from sqlext.sources.queries import TableQuery
from sqlext.stores.naming import in_one_line, naming

if TYPE_CHECKING:
    from deltalake import DeltaTable

#: Delta's types -> Spark's, as Spark shows them.
_SHOWN = {"long": "bigint", "integer": "int", "short": "smallint", "byte": "tinyint"}
#: What a table may ask of its writers, besides its schema. Columns of type VARIANT are refused by their type.
_FEATURES = frozenset({"timestampNtz", "appendOnly", "invariants", "variantType"})


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
    for name, of in held.columns:
        if pa.types.is_nested(of) or (context.mode == "upsert" and name.lower() == EXISTS):
            raise Unsuited(f"column `{name}` of type {of} of a Delta table")
    sink = LocalDelta(spec, context, held)
    sink.require_plain()
    return sink


@dataclass(frozen=True)
class LocalDelta(LocalSink):
    """A Delta table by path; see ``sink.DeltaSink``.

    Attributes:
        held: what the table holds.
    """

    spec: WriteSpec
    context: SinkContext
    held: TableQuery

    def require_plain(self) -> None:
        """Check that a table that is there needs no writer of Delta's own.

        Raises:
            Unsuited: if it does.
        """
        table = self._table()
        if table is None:
            return
        found = table.protocol()
        beyond = set(found.writer_features or ()) - _FEATURES
        if beyond or (found.min_writer_version > _PLAIN and not found.writer_features):
            raise Unsuited(f"what the Delta table has: {', '.join(sorted(beyond)) or found.min_writer_version}")

    def require(self) -> None:
        """Hold the table that is there against the declaration."""
        if (table := self._table()) is not None:
            self._hold(table)

    def open(self) -> None:
        """Create the table as declared, or hold the one that is there against the declaration."""
        refuse_emptied(self._path)
        with naming(self._path), _as_of_files():
            self._open()

    def _open(self) -> None:
        from deltalake import DeltaTable

        table = self._table()
        if table is None:
            own = {k: v for k, v in self.spec.options if k.startswith("delta.")}
            properties = {**own, **dict(self.context.properties)}
            DeltaTable.create(self._path, self.held.schema, configuration=properties, raise_if_key_not_exists=False)
            return
        self._hold(table)
        self._shut_out(table)

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
        with naming(self._path), _as_of_files():
            self._write(rows, batch_id, repeated=repeated)

    def _write(self, rows: pa.Table, batch_id: int, *, repeated: bool) -> None:
        from deltalake import CommitProperties, write_deltalake

        table = self._table()
        assert table is not None
        if self.context.mode == "upsert":
            self._merge(table, rows, batch_id)
        elif not (repeated and self._has(batch_id)):
            mark = CommitProperties(custom_metadata={"userMetadata": self._history.mark(batch_id)})
            write_deltalake(table, made_of(self.held, rows), mode="append", commit_properties=mark)

    def _merge(self, table: DeltaTable, rows: pa.Table, batch_id: int) -> None:
        """Commit the current rows of keys in a transaction that Delta's MERGE knows too, unless the table has it."""
        from deltalake import CommitProperties, Transaction

        identity = self.context.identity
        last = table.transaction_version(identity)
        if last is not None and last >= batch_id:
            return
        keys = self.spec.primary_key or self.context.keys
        found = last_of_keys(rows, keys, self.context)
        coming = made_of(self.held, found).append_column(EXISTS, found[EXISTS])
        # Null-safe: the group of NULL is one row as well. Without brackets delta-rs takes AND first.
        same = " AND ".join(f"(t.{identifier(k)} IS NOT DISTINCT FROM s.{identifier(k)})" for k in keys) or "true"
        values = {identifier(name): f"s.{identifier(name)}" for name in self.held.schema.names}
        merge = table.merge(
            coming,
            same,
            source_alias="s",
            target_alias="t",
            commit_properties=CommitProperties(app_transactions=[Transaction(identity, batch_id)]),
        )
        # The first clause that holds is taken, so the deletion stands before the update.
        merge = merge.when_matched_delete(f"NOT s.{EXISTS}").when_matched_update(values)
        merge.when_not_matched_insert(values, f"s.{EXISTS}").execute()

    @property
    def _path(self) -> str:
        return on_disk(self.spec.path or "")

    @property
    def _history(self) -> History:
        return History(f"delta.{identifier(self._path)}", self.context.identity)

    def _has(self, batch_id: int) -> bool:
        """Return whether a batch is in the table: the last commit of the query says up to which all are."""
        table = self._table()
        assert table is not None
        commits = [(int(c["version"]), str(c.get("userMetadata") or "")) for c in table.history()]
        last = self._history.last_of(commits)
        if last is None:
            self._history.tell_unless_whole(commits, batch_id)
        return last is not None and last >= batch_id

    def _table(self) -> DeltaTable | None:
        from deltalake import DeltaTable
        from deltalake.exceptions import TableNotFoundError

        if not (Path(self._path) / "_delta_log").is_dir():
            return None
        try:
            with telling_damage(self._path):
                return DeltaTable(self._path)
        except TableNotFoundError:  # who was about to make it died
            return None


@contextmanager
def _as_of_files() -> Iterator[None]:
    """Tell what delta-rs says of a table that it cannot write as an error of files, which says where."""
    from deltalake.exceptions import DeltaError

    try:
        yield
    except DeltaError as error:
        raise OSError(in_one_line(str(error))) from error


#: The last version of Delta's protocol for writers at which a table can only ask for what ``_FEATURES`` has.
_PLAIN = 2


def _shown(of: str) -> str:
    return _SHOWN.get(of, of)
