"""Describe a script's queries as datasets of a pipeline.

Queries that only add rows are streaming tables; the others are materialized views.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlext.connectors.registry import connector_of
from sqlext.connectors.spec import ReadSpec
from sqlext.errors import SqlExtError
from sqlext.quoting import identifier
from sqlext.rewrite.export.whole_query import RawRelation, beyond_sql, whole_query
from sqlext.rewrite.script.model import Compiled, SourceView


@dataclass(frozen=True)
class Dataset:
    """A query and the table that it fills.

    Attributes:
        compiled: as a stream that never ends; as batch for a materialized view.
        streaming: whether rows are only added: a streaming table.
        zone: the session's time zone.
        written: names of the tables that the pipeline's datasets stand for.
    """

    name: str
    compiled: Compiled
    streaming: bool
    zone: str
    written: tuple[str, ...] = ()

    @property
    def needs(self) -> list[str]:
        """What of it SQL cannot say."""
        return beyond_sql(self.compiled.script)

    def query(self, outside: RawRelation) -> str:
        """Return its query; ``outside`` names the raw relations of tables that are no datasets."""
        return whole_query(self.compiled.script, self.zone, lambda source, spec: self._raw(source, spec, outside))

    def _raw(self, source: SourceView, spec: ReadSpec, outside: RawRelation) -> str:
        table = source.table
        if table.name.plain not in self.written:
            if connector_of(table).only_own_reader(table):
                raise self.refusal(f"`{table.name.name}` has no reader of Spark's that gives the same rows")
            return outside(source, spec)
        if not connector_of(table).is_dataset:
            raise self.refusal(f"`{table.name.name}` is written and read: only a delta table can be both")
        return f"STREAM {identifier(table.name.name)}" if source.streaming else identifier(table.name.name)

    def inside(self) -> list[str]:
        """Return the names of the datasets that it reads."""
        return [s.table.name.name for s in self.compiled.script.sources if s.table.name.plain in self.written]

    def refusal(self, message: str, hint: str = "run it by sqlext") -> SqlExtError:
        """Return the refusal of this query (DDL-042)."""
        return SqlExtError("DDL-042", message, span=self.compiled.statement.span, hint=hint)


def only_adds(compiled: Compiled) -> bool:
    """Whether a query is a stream whose rows stay once they are given."""
    script = compiled.script
    return script.streaming and not (script.updating or script.changelog)


def datasets(queries: Sequence[Compiled], zone: str) -> list[Dataset]:
    """Return the datasets of a script's queries: streams if they only add, as batch if not.

    Raises:
        SqlExtError: DDL-042 for a sink that is no table, and for a table that two queries fill.
    """
    names = [_name(compiled, i) for i, compiled in enumerate(queries, 1)]
    written = tuple(c.insert.table.name.plain for c in queries if c.insert is not None)
    found = [Dataset(n, c, only_adds(c), zone, written) for n, c in zip(names, queries, strict=True)]
    for dataset in found:
        _check(dataset, names)
    return found


def _name(compiled: Compiled, number: int) -> str:
    return compiled.insert.table.name.name if compiled.insert is not None else f"query_{number}"


def _check(dataset: Dataset, names: Collection[str]) -> None:
    insert = dataset.compiled.insert
    connector = connector_of(insert.table) if insert is not None else None
    if connector is not None and connector.passes_on:
        raise dataset.refusal(f"`{dataset.name}` is a {connector.name} sink: a pipeline's dataset is a table")
    if list(names).count(dataset.name) > 1:
        hint = "write one INSERT with UNION ALL"
        raise dataset.refusal(f"two queries write into `{dataset.name}`: a dataset has one", hint)


def notes(dataset: Dataset) -> list[str]:
    """Return what somebody who runs the dataset elsewhere must know, as comments."""
    lines = []
    insert = dataset.compiled.insert
    if dataset.streaming:
        lines.append("-- The watermark is never moved to the end of time: the last windows wait for newer data.")
        if insert is not None and insert.table.primary_key is not None:
            key = ", ".join(insert.table.primary_key.columns)
            lines.append(f"-- PRIMARY KEY ({key}) is not kept here: rows are added, never replaced.")
    else:
        lines.append("-- Its rows change as input comes: it is computed from all of its input at each refresh.")
    return lines
