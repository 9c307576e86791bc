"""Give late rows, and rows that a source could not decode, to sinks of their own.

Each sink knows which batches it has (``base``), and a batch counts for Spark when all have taken it. So each row is in
its sink exactly once, whenever the driver dies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from sqlext.analysis.inserts.bound import BAD_ROWS
from sqlext.connectors.registry import connector_of
from sqlext.connectors.spec import WriteSpec
from sqlext.plan.bad_rows import BATCH, LETTER, REFUSED, WRITTEN_BY
from sqlext.quoting import named, string
from sqlext.rewrite.script.model import SideScript
from sqlext.rewrite.script.side_rows import refused_letter
from sqlext.secrets import in_short, redact_text
from sqlext.sinks.base import RefusedRow, Sink, SinkContext
from sqlext.sinks.letter_limit import LetterLimit
from sqlext.sinks.opening import open_sink
from sqlext.sinks.refused_changes import RefusedChanges
from sqlext_catalog.properties import to_properties

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def beside(
    spark: SparkSession,
    sink: Sink,
    scripts: Sequence[SideScript],
    context: SinkContext,
    limit: LetterLimit | None = None,
    keys: Sequence[str] = (),
) -> Sink:
    """Return a query's sink together with those of the rows beside its own, opened; the sink itself if it has none.

    Args:
        context: of the query; the other sinks are known by its name and what they take.
        limit: of its dead letters.
        keys: the PRIMARY KEY of the query's sink.
    """
    if not scripts:
        return sink
    opened = (open_sink(spark, *target) for target in targets(scripts, context))
    sides = tuple(Side(script, own, context.query) for script, own in zip(scripts, opened, strict=True))
    changes = RefusedChanges(tuple(keys) or context.keys, context)
    return SideSink(sink, sides, limit or LetterLimit(), changes)


def targets(scripts: Sequence[SideScript], context: SinkContext) -> list[tuple[WriteSpec, SinkContext]]:
    """Return what ``open_sink`` needs to know of the sinks of the rows beside a query's own."""
    return [(connector_of(script.table).write_spec(script.table), _context(script, context)) for script in scripts]


def _context(script: SideScript, context: SinkContext) -> SinkContext:
    # A name of its own: two sinks under one identity would take each other's batches for their own.
    return SinkContext(
        query=f"{context.query}.{script.side}",
        checkpoint=context.checkpoint,
        mode=script.mode,
        zone=context.zone,
        properties=tuple(to_properties(script.table).items()),
        fence=context.fence,
        few=context.few,
        notes=context.notes,
    )


@dataclass(frozen=True)
class Side:
    """One kind of rows beside those of a query: which, who takes them, and the operator that a late one names."""

    script: SideScript
    sink: Sink
    operator: str

    def write(self, df: DataFrame, batch_id: int, *, new: bool, found: int, refused: Sequence[RefusedRow] = ()) -> None:
        """Take what is its own of a batch, ``found`` rows, and the rows of it that the query's sink refused."""
        if not found and not refused:
            return
        script = self.script
        rows = df.where(script.condition).selectExpr(*script.columns)
        if refused:
            rows = rows.unionByName(self._letters(df.sparkSession, refused))
        written_by = named(string(self.operator), WRITTEN_BY), named(f"CAST({batch_id} AS BIGINT)", BATCH)
        rows = rows.selectExpr("*", *written_by)
        if script.letters or script.side == BAD_ROWS:
            # A batch that is written again is left out by the sink: a name is given once.
            rows = rows.selectExpr(f"* EXCEPT ({LETTER})", f"coalesce({LETTER}, uuid()) AS {LETTER}")
        rows = rows.selectExpr(*(named(text, name) for text, name in script.outputs))
        for condition in script.conditions:
            rows = rows.where(condition)
        if not rows.isEmpty():  # else most batches would be a commit of no rows
            (self.sink.write_new if new else self.sink.write)(rows, batch_id)

    def _letters(self, spark: SparkSession, refused: Sequence[RefusedRow]) -> DataFrame:
        """Return refused rows with the columns of those that are found in the query."""
        texts = spark.createDataFrame(told(refused), "text STRING, code STRING, reason STRING")
        return texts.selectExpr(f"{refused_letter(self.script.refused_of)} AS letter").selectExpr("letter.*")


def told(refused: Sequence[RefusedRow]) -> list[tuple[str, str, str]]:
    """Return text, code and reason of refused rows; what a server says may hold a login, which is hidden."""
    return [(row.text, row.code, in_short(row.reason, redact_text)) for row in refused]


class _Counted(NamedTuple):
    """How many rows a batch has.

    Attributes:
        every: all of them.
        letters: that are dead letters.
        marked: that the query's own sink does not take.
        beside: that are for each of the other sinks.
    """

    every: int
    letters: int
    marked: int
    beside: tuple[int, ...]


@dataclass(frozen=True)
class SideSink(Sink):
    """Gives each row of a batch to the sink that it is for.

    Attributes:
        rows: takes the query's rows.
        sides: take the others.
        limit: of those that are dead letters.
        changes: which of the query's rows its sink refuses, where they replace others.
    """

    rows: Sink
    sides: tuple[Side, ...]
    limit: LetterLimit = field(default_factory=LetterLimit)
    changes: RefusedChanges | None = None

    def write(self, df: DataFrame, batch_id: int) -> None:
        """Give out a batch."""
        self._write(df, batch_id, new=False)

    def write_new(self, df: DataFrame, batch_id: int) -> None:
        """Give out a batch that none of the sinks can have."""
        self._write(df, batch_id, new=True)

    def _write(self, df: DataFrame, batch_id: int, *, new: bool) -> None:
        """Give out a batch, which is computed once: a second time would be another step of its operators."""
        computed = df.is_cached  # ``jobs.batches`` has cached a batch that may have been written before
        kept = df if computed else df.persist()
        columns = list(dict.fromkeys(side.script.column for side in self.sides))
        own = kept.where(" AND ".join(f"{column} IS NULL" for column in columns)).drop(*columns)
        letters = [side for side in self.sides if side.script.letters]
        try:
            found = self._counted(kept, letters)
            if letters:
                self.limit.take(found.letters, found.every - found.letters, letters[0].operator)
            changes: Sequence[RefusedRow] = ()
            if self.changes is not None and REFUSED in own.columns:
                # What is not marked is for the sink as it came.
                own, changes = self.changes.parted(own) if found.marked else (own.drop(REFUSED), ())
                self.limit.refuse(len(changes), letters[0].operator)
            refused = self.rows.take(own, batch_id, self.limit, new=new)
            if refused:
                self.limit.refuse(len(refused), letters[0].operator)
            for side, rows in zip(self.sides, found.beside, strict=True):
                others = (*changes, *refused) if side.script.refused_of else ()
                side.write(kept, batch_id, new=new, found=rows, refused=others)
        finally:
            if not computed:
                kept.unpersist()

    def _counted(self, kept: DataFrame, letters: Sequence[Side]) -> _Counted:
        """Count what is in a batch, in the one job that computes it: most batches have nothing that is beside."""
        marked = f"{REFUSED} IS NOT NULL" if REFUSED in kept.columns else "false"
        is_letter = " OR ".join(f"({side.script.counted})" for side in letters) or "false"
        wanted = [is_letter, marked, *(side.script.condition for side in self.sides)]
        row = kept.selectExpr("count(1)", *(f"count_if({condition})" for condition in wanted)).first()
        assert row is not None  # an aggregate without keys has a row
        every, letter, mark, *beside = row
        return _Counted(every, letter, mark, tuple(beside))

    def refused(self) -> int:
        """Return how many rows the query's own sink has refused."""
        return self.limit.refused

    def show(self, spark: SparkSession) -> None:
        """Let all show what they have."""
        self.rows.show(spark)
        for side in self.sides:
            side.sink.show(spark)

    def finish(self, spark: SparkSession) -> None:
        """Let all come to their end."""
        self.rows.finish(spark)
        for side in self.sides:
            side.sink.finish(spark)
