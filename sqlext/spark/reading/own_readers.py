"""Open the sources of a query that our own readers read."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from sqlext.connectors.moments import Ticks, TimeWithRows
from sqlext.connectors.registry import connector_of
from sqlext.connectors.spec import ReadColumn, ReadSpec
from sqlext.quoting import identifier
from sqlext.rewrite.script.model import ArrowView, OperatorView, SourceView, SparkScript
from sqlext.sources.stream import HoldsPlace
from sqlext.spark.reading.spark_sources import open_frame
from sqlext.stores.location import Location
from sqlext.watermarks.inputs import SPLIT

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Observation, SparkSession

    from sqlext.connectors.splits import SplitReader
    from sqlext.spark.reading.shared_rows import SharedRows


class QueryFolders(Protocol):
    """The folders of one query."""

    @property
    def heartbeat(self) -> Location:
        """The folder of the row that ends a bounded input."""

    @property
    def sources(self) -> Location:
        """The folder of what readers of ours must remember, a folder for each."""

    @property
    def time(self) -> Location:
        """The folder of its time keeper."""

    def replays(self, table: str) -> Location:
        """Return the folder of the dead letters that are fed back as rows of a table."""


class OwnReaders:
    """Opens the sources of one query that readers of ours read.

    Args:
        home: the query's folder; None where nothing is to be remembered.
        shared: the tables that it reads together with other queries; None if there is none.
        ticks: when readers tell the time; None where they do not.

    Attributes:
        counted: has how many rows were read (``READ``), of each table that is read at once.
    """

    def __init__(
        self,
        spark: SparkSession,
        script: SparkScript,
        home: QueryFolders | None,
        shared: SharedRows | None = None,
        ticks: Ticks | None = None,
    ) -> None:
        self._spark, self._script, self._home, self._shared, self._ticks = spark, script, home, shared, ticks
        self._readers: dict[str, SplitReader] = {}  # of the views whose rows say of which split they are
        self.counted: list[Observation] = []

    def open(self, source: SourceView, spec: ReadSpec) -> DataFrame:
        """Return a table's rows; the column ``SPLIT`` beside them if it is wanted.

        Raises:
            SqlExtError: OPT-009 where nothing lies at a path, RUN-060 where a broker does not answer.
        """
        from pyspark.sql.pandas.types import from_arrow_schema

        from sqlext.spark.reading.arrow_sources import tasks_of
        from sqlext.spark.reading.data_source import ArrowInput, open_arrow, open_at_once

        connector = connector_of(source.table)
        state = self._home.sources.below(source.view) if self._home is not None else None
        own = connector.table_reader().source(source.table, state, tasks_of(self._spark))
        spec = _as_they_are(spec) if own.decoded else _without(spec, own.schema.names)
        if source.split:
            self._readers[source.view] = own.reader
            spec = replace(spec, columns=(*spec.columns, ReadColumn(SPLIT, connector.split_column(), "STRING")))
        fields = from_arrow_schema(own.schema, prefer_timestamp_ntz=True)
        ddl = ", ".join(f"{identifier(f.name)} {f.dataType.simpleString()}" for f in fields)
        given = ArrowInput(own.reader, ddl, limit=own.limit, holds=self._holds(source.view))
        raw = (open_arrow if source.streaming else open_at_once)(self._spark, given)
        return open_frame(self._spark, raw, replace(spec, fixed_schema=False))

    def open_packed(self, step: ArrowView, arguments: Mapping[str, Any]) -> DataFrame:
        """Return a table's rows, worked on by an operator where they are read, packed and marked.

        Args:
            arguments: the operator's.

        Raises:
            SqlExtError: see ``open``.
        """
        from sqlext.spark.reading.arrow_sources import (
            packed_at_once,
            packed_input,
            packed_rows,
            row_input,
            rows_at_once,
        )
        from sqlext.spark.reading.data_source import open_arrow

        assert self._home is not None
        if self._script.at_once:
            anew = self._home.sources.below(uuid.uuid4().hex)  # a run that failed is no reason to read what it has seen
            if not step.function:
                made = rows_at_once(self._spark, row_input(self._spark, step, anew))
                self.counted.append(made.counted)
                return made.rows
            found = self._shared.rows(step, anew) if self._shared is not None else None
            if found is None:
                found = packed_at_once(self._spark, packed_input(self._spark, step, anew, arguments))
            self.counted.append(found.counted)
            return found.rows
        kept = any(k.source == step.view for k in self._script.kept)
        given = packed_input(self._spark, step, self._home.sources, arguments, times=kept)
        if connector_of(step.table).has_splits(step.table):
            self._readers[step.view] = given.reader
        given = replace(given, holds=self._holds(step.view), time=self._told(step.view))
        # What is observed of an input that is kept has what is counted here.
        return open_arrow(self._spark, given) if kept else packed_rows(self._spark, given, step.scan)

    def splits(self, view: str) -> Sequence[str]:
        """Return the parts of a source that have a time of their own, as far as they are there now."""
        reader = self._readers.get(view)
        return sorted(reader.latest({}, None)) if reader is not None else ()

    def _told(self, view: str) -> TimeWithRows | None:
        """Return what the reader of a view tells of time with its rows; None if that is nothing."""
        assert self._home is not None
        numbers = (n for n, kept in enumerate(self._script.kept) if kept.source == view and not kept.view)
        asks = any(isinstance(s, OperatorView) and s.told_by == view for s in self._script.steps)
        told = TimeWithRows(self._home.time, next(numbers, None), self._ticks if asks else None)
        return None if told.number is None and told.ticks is None else told

    def _holds(self, view: str) -> HoldsPlace | None:
        if self._home is None:
            return None
        aligned = (n for n, k in enumerate(self._script.kept) if k.source == view and k.input.alignment is not None)
        number = next(aligned, None)
        return HoldsPlace(self._home.time, number) if number is not None else None


def _without(spec: ReadSpec, given: Sequence[str]) -> ReadSpec:
    """Return a description that does not derive what the reader gives itself."""
    return replace(spec, derived=tuple((name, text) for name, text in spec.derived if name not in given))


def _as_they_are(spec: ReadSpec) -> ReadSpec:
    """Return the description of rows that are the table's columns already."""
    columns = tuple(replace(c, expression=identifier(c.name)) for c in spec.columns)
    return replace(spec, columns=columns, derived=(), exploded=None, filters=())
