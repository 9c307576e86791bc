"""Commit a batch to a Delta table by delta-rs, in this process, with the identity that Spark's sink writes too."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from sqlext.connectors.delta.damage import telling_damage
from sqlext.connectors.delta.sink.history import History
from sqlext.connectors.delta.sink.ranges import bytes_within, key_ranges
from sqlext.plan.nodes import EXISTS
from sqlext.quoting import identifier
from sqlext.rewrite.arrow.translation import Unsuited
from sqlext.sinks.base import SinkContext
from sqlext.sinks.standing import last_of_keys
from sqlext.stores.naming import in_one_line, naming

if TYPE_CHECKING:
    from deltalake import DeltaTable

T = TypeVar("T")
#: How often a batch is tried where other writers have rewritten the same files meanwhile.
_TRIES = 5
#: What a table may ask of its writers, besides its schema. Columns of type VARIANT are refused by their type.
_FEATURES = frozenset({"timestampNtz", "appendOnly", "invariants", "variantType"})
#: The last version of Delta's protocol for writers at which a table can only ask for what ``_FEATURES`` has.
_PLAIN = 2
#: Properties of a table that ask more of a commit than its rows: Spark puts small files together behind it.
_MORE = "delta.autoOptimize."
#: Of a column in the log: a condition that each row must meet.
_INVARIANTS = "delta.invariants"


@dataclass(frozen=True)
class DirectWriter:
    """Commits the batches of one query to the table at a local path.

    Attributes:
        path: of the table, absolute.
        context: the query.
        keys: the columns that name a row, where the batches are merged.
    """

    path: str
    context: SinkContext
    keys: tuple[str, ...]

    def table(self) -> DeltaTable | None:
        """Return the table as it is now; None where there is none."""
        from deltalake import DeltaTable
        from deltalake.exceptions import TableNotFoundError

        if not (Path(self.path) / "_delta_log").is_dir():
            return None
        try:
            with telling_damage(self.path):
                return DeltaTable(self.path)
        except TableNotFoundError:  # who was about to make it died
            return None

    def commit(self, version: int) -> tuple[int, int] | None:
        """Return what tells the file of a commit from others in its place; None where there is none."""
        # PROTOCOL.md: versions are padded to twenty digits.
        try:
            found = (Path(self.path) / "_delta_log" / f"{version:020}.json").stat()
        except FileNotFoundError:
            return None
        return found.st_ino, found.st_mtime_ns

    def require_plain(self, table: DeltaTable) -> None:
        """Check that a table needs no writer of Delta's own.

        Raises:
            Unsuited: if it does.
        """
        found = table.protocol()
        beyond = sorted(set(found.writer_features or ()) - _FEATURES)
        if beyond or (found.min_writer_version > _PLAIN and not found.writer_features):
            raise Unsuited(f"what the Delta table has: {', '.join(beyond) or found.min_writer_version}")
        properties = table.metadata().configuration
        asked = [k for k in sorted(properties) if k.startswith(_MORE)]
        # A table of which no row may change tells that better by Spark.
        asked += [k for k in ("delta.appendOnly",) if properties.get(k) == "true" and self.context.mode == "upsert"]
        if asked:
            raise Unsuited(f"what the Delta table has: '{asked[0]}'")
        if any(_INVARIANTS in field["metadata"] for field in fields_of(table)):
            raise Unsuited("what the Delta table has: invariants")

    def has(self, table: DeltaTable, batch_id: int) -> bool:
        """Return whether a batch that was appended is there: the query's last commit says up to which all are."""
        commits = [(int(c["version"]), str(c.get("userMetadata") or "")) for c in table.history()]
        last = self._history.last_of(commits)
        if last is None:
            self._history.tell_unless_whole(commits, batch_id)
        return last is not None and last >= batch_id

    def append(self, table: DeltaTable, rows: pa.Table, batch_id: int) -> None:
        """Append a batch, with its identity in the commit's metadata."""
        from deltalake import CommitProperties, write_deltalake

        mark = CommitProperties(custom_metadata={"userMetadata": self._history.mark(batch_id)})
        write_deltalake(table, rows, mode="append", commit_properties=mark)

    def has_merged(self, table: DeltaTable, batch_id: int) -> bool:
        """Return whether a batch that was merged is there."""
        last = table.transaction_version(self.context.identity)
        return last is not None and last >= batch_id

    def last_rows(self, rows: pa.Table) -> pa.Table:
        """Return the last row of each key of a batch, with ``EXISTS``."""
        return last_of_keys(rows, self.keys, self.context)

    def rewritten(self, table: DeltaTable, coming: pa.Table) -> int:
        """Return how many bytes of files may hold a key of the rows that come, by the files' statistics."""
        return bytes_within(table, key_ranges(coming, self.keys))

    def merge(self, table: DeltaTable, coming: pa.Table, batch_id: int) -> None:
        """Commit the current rows of keys in a transaction that Delta's MERGE knows too.

        Args:
            table: as it is now.
            coming: the table's columns, then ``EXISTS``; one row of each key.
            batch_id: the number of the transaction.
        """
        from deltalake import CommitProperties, Transaction

        # Null-safe: the group of NULL is one row as well. Without brackets delta-rs takes AND first.
        same = [f"(t.{identifier(k)} IS NOT DISTINCT FROM s.{identifier(k)})" for k in self.keys]
        # By these delta-rs leaves out files that can hold no key of the batch.
        same += [within.condition("t") for within in key_ranges(coming, self.keys)]
        names = [name for name in coming.column_names if name != EXISTS]
        values = {identifier(name): f"s.{identifier(name)}" for name in names}
        merge = table.merge(
            coming,
            " AND ".join(same) or "true",
            source_alias="s",
            target_alias="t",
            commit_properties=CommitProperties(app_transactions=[Transaction(self.context.identity, batch_id)]),
        )
        # The first clause that holds is taken, so the deletion stands before the update.
        merge = merge.when_matched_delete(f"NOT s.{EXISTS}").when_matched_update(values)
        merge.when_not_matched_insert(values, f"s.{EXISTS}").execute()

    @property
    def _history(self) -> History:
        return History(f"delta.{identifier(self.path)}", self.context.identity)


class KeptTable:
    """Keeps a table open between batches: only new commits of its log are read then. A copy elsewhere opens its own."""

    def __init__(self) -> None:
        self._table: DeltaTable | None = None
        self._commit: tuple[int, int] | None = None

    def __reduce__(self) -> tuple[object, ...]:
        return KeptTable, ()

    def now(self, direct: DirectWriter) -> DeltaTable | None:
        """Return the table as it is now; None where there is none."""
        kept, last = self._table, self._commit
        # Another table may lie there by now: its commits are other files.
        if kept is None or last is None or last != direct.commit(kept.version()):
            self._table = direct.table()
        else:
            kept.update_incremental()
        self.noted(direct)
        return self._table

    def noted(self, direct: DirectWriter) -> None:
        """Take note of which commit the table is at: it may have made one."""
        self._commit = direct.commit(self._table.version()) if self._table is not None else None

    def forget(self) -> None:
        """Open the table anew the next time."""
        self._table = None

    def tried(self, commit: Callable[[bool], T]) -> T:
        """Return what a commit gives. One that meets another writer is tried again, over the table as it is then.

        Args:
            commit: opens the table, and commits. It is told whether a try before it failed, and may be in the table.

        Raises:
            DeltaError: of the last try.
        """
        from deltalake.exceptions import DeltaError

        for left in reversed(range(_TRIES)):
            try:
                return commit(left < _TRIES - 1)
            except DeltaError:
                self.forget()
                if not left:
                    raise
        raise AssertionError("there is a last try")


def require_columns(columns: Iterable[tuple[str, pa.DataType | None]], keys: Sequence[str] | None) -> None:
    """Check that columns are of types that delta-rs writes as Spark does, and compares as Spark does.

    Args:
        columns: name and type, None for a type that Arrow does not have.
        keys: those that name a row; None where rows are appended.

    Raises:
        Unsuited: for the first that is not.
    """
    for name, of in columns:
        if of is None:
            raise Unsuited(f"the type of column `{name}` of a Delta table")
        # Spark takes the two zeros for one key.
        differs = keys is not None and (name.lower() == EXISTS or (name in keys and pa.types.is_floating(of)))
        if differs or pa.types.is_nested(of):
            raise Unsuited(f"column `{name}` of type {of} of a Delta table")


@contextmanager
def as_of_files(path: str) -> Iterator[None]:
    """Tell what delta-rs says of a table that it cannot write as an error of files, which says where."""
    from deltalake.exceptions import DeltaError

    with naming(path):
        try:
            yield
        except DeltaError as error:
            raise OSError(in_one_line(str(error))) from error


def fields_of(table: DeltaTable) -> Sequence[Mapping[str, Any]]:
    """Return the columns of a table as its log has them."""
    found: Sequence[Mapping[str, Any]] = json.loads(table.schema().to_json())["fields"]
    return found
