"""Define a sink: it takes the rows of a query, batch by batch, exactly once.

``writeStream.foreachBatch(sink.write)`` hands every micro-batch to a sink. Spark may run a batch again: after a
failure, or if the driver died before Spark wrote its commit log. So every sink that keeps rows also keeps the numbers
of its batches, in the same place: a file sink in a redo log beside its files, a Delta sink in the table's log. Only the
first batch of a run can be a repeated one; all others go to ``write_new``. Sinks that pass rows on (print,
another Spark format, kafka without transactions) do so at least once.

A sink is a plain value that can be pickled. Spark Connect runs ``write`` on the server, in the batch's own session
``df.sparkSession``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from sqlext.connectors.spec import Alteration, WriteSpec
from sqlext.errors import SqlExtError
from sqlext.plan.columns import PlanColumn
from sqlext.rewrite.script.side_rows import as_json
from sqlext.sinks.commit_notes import CommitNotes
from sqlext.sinks.few_rows import NOTHING, Few
from sqlext.sinks.letter_limit import LetterLimit
from sqlext.stores.fence import Fence
from sqlext_catalog.model import Options

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

Mode = Literal["append", "upsert", "overwrite", "final-state"]


@dataclass(frozen=True)
class SinkContext:
    """The query that writes to a sink, as far as the sink needs to know it.

    Attributes:
        query: the query's name, one for each sink.
        checkpoint: an id made with the checkpoint. A new checkpoint counts its batches from 0 again: under the
            same id they would be taken for repetitions and dropped.
        mode: ``append`` rows; ``upsert`` the row of a key; ``overwrite`` what is there (batch only); ``final-state``:
            fold an updating result by key and write its rows once, at the end.
        keys: columns of the batches that name a row of an updating result; none for a result of one row. For
            ``upsert`` they are columns of the sink, else they may be hidden.
        exists: boolean column of an updating result, false where the row of that key is gone.
        kind: column that says what a row does to the result (a number of ``row_kinds``), of a changelog.
        zone: the session's time zone.
        staging: a folder of the query's own, for what has to be kept until the end.
        properties: table properties for a Delta table that the sink creates.
        refusals: whether rows that the sink refuses are told of (``Sink.take``) and the others written.
        fence: says whether the query is still this driver's; None for a query without a place.
        few: which batches are written in the driver, where a sink can; none by itself.
        notes: of what was committed before; None for a query without a place.
    """

    query: str
    checkpoint: str
    mode: Mode = "append"
    keys: tuple[str, ...] = ()
    exists: str | None = None
    kind: str | None = None
    zone: str = "UTC"
    staging: str | None = None
    properties: Options = ()
    refusals: bool = False
    fence: Fence | None = None
    few: Few = NOTHING
    notes: CommitNotes | None = None

    def check_fence(self) -> None:
        """Return if the query is still this driver's, before a commit; raises RUN-029 if it is not."""
        if self.fence is not None:
            self.fence.check()

    @property
    def identity(self) -> str:
        """A name for folders and files, unique to query and checkpoint, and safe in any path."""
        # The digest makes it unique, the slug is for whoever looks into the folder.
        slug = re.sub(r"[^A-Za-z0-9]+", "-", self.query).strip("-")[:40]
        digest = hashlib.sha256(repr((self.query, self.checkpoint)).encode()).hexdigest()[:12]
        return f"{slug}-{digest}"


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What opening a sink does to what lies there.

    Attributes:
        known: whether that can be told without opening it.
        created: whether a table is made.
        added: the columns that a table gets.
    """

    known: bool = True
    created: bool = False
    added: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RefusedRow:
    """A row that a sink did not take: as JSON, the code of the error, and why."""

    text: str
    code: str
    reason: str


class PartFile(NamedTuple):
    """A file that a worker has staged: its name, relative to the staging, and how many rows it has."""

    name: str
    rows: int


class SparkStream(NamedTuple):
    """What a sink of Spark's own takes: rows, the name of the sink, and its options with their secrets."""

    rows: DataFrame
    format: str
    options: Mapping[str, str]


class WritesParts(Protocol):
    """Writes files of a sink where rows are made; it travels to workers by pickle."""

    def write(self, rows: Iterable[pa.Table], where: str, number: int) -> Iterator[PartFile]:
        """Write the rows of a slice, and yield its files when all are there.

        Args:
            rows: the columns of the sink's table.
            where: the staging, as ``Sink.write_parts`` gives it.
            number: of the slice; files are put in its order.
        """


class Sink:
    """Takes the batches of one query. ``open`` comes first, ``finish`` when a bounded query has ended.

    Where a job has several sinks, ``require`` of all comes before the first ``open``.
    """

    @property
    def single_pass(self) -> bool:
        """Whether ``write_new`` computes all rows of a batch in one job of Spark, and so no row twice."""
        return False

    def require(self, spark: SparkSession) -> None:
        """Refuse what ``open`` would refuse, on the client; nothing is made or changed."""

    def open(self, spark: SparkSession) -> None:
        """Make ready, on the client, before the query starts; refuse here what would fail later."""

    def foreseen(self, coming: Sequence[Alteration] = ()) -> Foreseen:
        """Return what ``open`` will do; nothing is changed, and no Spark is asked.

        Args:
            coming: what statements before will have done.

        Raises:
            SqlExtError: as ``open``.
        """
        return Foreseen(known=False)

    def writer(self) -> str | None:
        """Return who commits the micro-batches of a stream and why, for EXPLAIN; None where there is no choice.

        Nothing is changed, and no Spark is asked.
        """
        return None

    def alter(self, spark: SparkSession, alteration: Alteration) -> None:
        """Change the columns of a table that is there; does nothing where a sink keeps no table.

        Raises:
            SqlExtError: DDL-033 for what cannot be done to rows that are there; nothing is changed then.
        """

    def drop(self, spark: SparkSession) -> None:
        """Drop the table, where DROP TABLE does that; see ``Connector.makes_table``."""

    def foreseen_change(self, alteration: Alteration, coming: Sequence[Alteration] = ()) -> Sequence[str]:
        """Return what ``alter`` will do, in words; nothing is changed, and no Spark is asked.

        Raises:
            SqlExtError: as ``alter``.
        """
        return ()

    def write(self, df: DataFrame, batch_id: int) -> None:
        """Take a batch. May be called again with the same ``batch_id`` and the same rows."""
        raise NotImplementedError

    def write_new(self, df: DataFrame, batch_id: int) -> None:
        """Take a batch that cannot have been written before."""
        self.write(df, batch_id)

    def stream(self, rows: DataFrame) -> SparkStream | None:
        """Return what Spark itself writes of a stream of rows, at least once and in no batches; None where it cannot.

        Args:
            rows: of the query, a streaming DataFrame.
        """
        return None

    def part_writer(self, schema: pa.Schema) -> WritesParts | None:
        """Return what writes its files where rows are made; None where Spark alone writes them.

        Args:
            schema: the columns of its table, as they come.
        """
        return None

    def write_parts(self, batch_id: int, stage: Callable[[str], Iterable[str]]) -> None:
        """Take a batch as files of its ``part_writer``.

        Args:
            batch_id: its number.
            stage: has the files written into the staging that it is given, and returns their names.
        """
        raise NotImplementedError

    def take(self, df: DataFrame, batch_id: int, limit: LetterLimit, *, new: bool) -> Sequence[RefusedRow]:
        """Take a batch, and return the rows of it that are refused where ``SinkContext.refusals`` asks for them.

        A batch that is taken again returns the same rows, until a later one is taken.

        Args:
            limit: asked before the batch is committed.
            new: whether it cannot have been written before.

        Raises:
            SqlExtError: RUN-081 if more are refused than the limit allows.
        """
        (self.write_new if new else self.write)(df, batch_id)
        return ()

    def refused(self) -> int:
        """Return how many rows were refused in this process, and told of as dead letters."""
        return 0

    def show(self, spark: SparkSession) -> None:
        """Show on the client what batches have left for it. Called while the query runs, and when it has ended."""

    def finish(self, spark: SparkSession) -> None:
        """Do what is left when the query has ended by itself. May be called again."""


def refuse_mode(spec: WriteSpec, context: SinkContext, *possible: Mode) -> None:
    """Refuse a mode that the sink has no meaning for."""
    if context.mode not in possible:
        what = {"upsert": "updates", "final-state": "a final state", "overwrite": "INSERT OVERWRITE"}
        asked = what.get(context.mode, context.mode)
        raise SqlExtError("SINK-090", f"connector '{spec.connector}' (`{spec.name}`) does not take {asked}")


def row_text(spec: WriteSpec, zone: str) -> str:
    """Return the row of a table as JSON: the text of a dead letter, as SQL over its columns."""
    return as_json([(c.name, PlanColumn(c.name, c.type, c.name), "") for c in spec.columns], zone)
