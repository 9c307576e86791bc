"""Answer REPLAY: check that each dead letter can come back, correct its row, and hand it to the query that met it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlext.analysis.inserts.replays import OF_LETTER, BoundReplay, check_changes
from sqlext.analysis.names.environment import Environment
from sqlext.errors import SqlExtError, counted
from sqlext.jobs.query_files import REPLAYS as FOLDER
from sqlext.jobs.query_files import folder_name
from sqlext.jobs.replays import Corrected, Staged, stage
from sqlext.jobs.result import Result
from sqlext.jobs.runs import run_from_json
from sqlext.plan.bad_rows import LETTER, REPLAYED
from sqlext.quoting import identifier, string
from sqlext.rewrite.compiler.replays import corrected_row
from sqlext.rewrite.script.side_rows import REPLAYS
from sqlext.session.allowing.tables import admit_queries
from sqlext.session.records import folder_of, home_location
from sqlext.session.state import SessionState
from sqlext.spark.reading.replays import schema_of
from sqlext.stores import lease
from sqlext.stores.location import Location
from sqlext_catalog.model import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

COLUMNS = ("query", "table", "replay", "rows", "before")
#: What each dead letter must say of itself.
_KNOWN = (LETTER, "query_name", "source")
_DECODE = "decode"
_ROW, _CORRUPT = "__row", "__corrupt"


@dataclass(frozen=True)
class _Target:
    """Dead letters of one query that are rows of one table.

    Attributes:
        place: the folder of the query's current version.
        fed_back: that of the dead letters that are fed back, whichever version reads them.
    """

    query: str
    table: Table
    place: Location
    fed_back: Location
    letters: Sequence[Row]

    @property
    def folder(self) -> Location:
        return self.fed_back.below(folder_name(self.table.name.plain))


@dataclass(frozen=True)
class Replaying:
    """One REPLAY under way."""

    bound: BoundReplay
    env: Environment
    state: SessionState

    def answer(self, chosen: DataFrame) -> Result:
        """Feed dead letters back; of those of one query and table all or none.

        Args:
            chosen: those that are meant, with all columns of their table.

        Raises:
            SqlExtError: RUN-086 where one of them cannot come back; nothing is fed back then. RESTRICT-... where their
                query has tables that the session may not use. NAME-003, SINK-002 as ``check_changes``.
        """
        letters = chosen.where(f"cause IS DISTINCT FROM {string(REPLAYED)}").collect()
        targets = list(self._targets(letters))
        # All are computed before any is fed back: a value that cannot be computed refuses the statement.
        corrected = [self._corrected(target, chosen) for target in targets]
        found = [(target, stage(target.folder, rows)) for target, rows in zip(targets, corrected, strict=True)]
        lines = [(t.query, t.table.name.plain, s.number, s.rows, s.before) for t, s in found]
        return Result(COLUMNS, lines, notices=list(_waiting(found)))

    def _targets(self, letters: Sequence[Row]) -> Iterator[_Target]:
        self.require_known(letters)
        for query, source in sorted({(row["query_name"], row["source"]) for row in letters}):
            own = [row for row in letters if (row["query_name"], row["source"]) == (query, source)]
            yield self._target(query, source, own)

    def require_known(self, letters: Sequence[Row]) -> None:
        """Refuse dead letters that do not say which they are, or which query met them, and in which table.

        Raises:
            SqlExtError: RUN-086.
        """
        for column in _KNOWN:
            unknown = sum(row[column] is None for row in letters)
            if unknown:
                why = f"{counted(unknown, 'dead letter')} without `{column}`"
                raise self._refused(why, f"ask for those with one: {column} IS NOT NULL")

    def _target(self, query: str, source: str, letters: Sequence[Row]) -> _Target:
        whose = f"those of query `{query}` from `{source}`"
        record = next((r for r in self.state.catalog.snapshot().queries() if r.name == query), None)
        # Parts of a name may have dots themselves.
        known = [t for t in self.state.catalog.snapshot().objects() if isinstance(t, Table) and t.name.plain == source]
        table = known[0] if len(known) == 1 else self.state.catalog.lookup(tuple(source.split(".")))
        if record is None or not isinstance(table, Table):
            what = f"no query `{query}`" if record is None else f"no one table `{source}`"
            raise self._refused(f"{whose}: this catalog has {what}", "SHOW QUERIES lists the queries")
        admit_queries([record], self.bound.statement.name_span, self.state)
        place = home_location(self.state.folder, record, self.state.stores)
        self._require(whose, place, table, letters)
        check_changes(self.bound.statement, table, self.bound.letters, self.env)
        fed_back = folder_of(self.state.folder, record, self.state.stores).below(FOLDER)
        return _Target(query, table, place, fed_back, letters)

    def _require(self, whose: str, place: Location, table: Table, letters: Sequence[Row]) -> None:
        """Refuse dead letters that their query does not take back."""
        run = run_from_json(place.json("run.json") or {"run_id": "", "fingerprint": {}, "finished": True})
        part = run.fingerprint.get(f"{REPLAYS}{table.name.plain}")
        if part is None:
            why = "it came to its end, and reads all anew" if run.finished else "it takes none back"
            hint = "a query that goes on takes them back: one without an end, or with 'sqlext.bounded' = 'catch-up'"
            raise self._refused(f"{whose}: {why}", hint)
        causes = Counter(row["cause"] for row in letters)
        for cause, number in causes.items():
            if cause not in part[0].split(", "):
                why = f"the rows of cause '{cause}' ({number}) are none of the table"
                raise self._refused(f"{whose}: {why}", f"leave them out: cause <> '{cause}'")
        if causes[_DECODE] and not self.bound.statement.changes:
            why = f"the rows of cause '{_DECODE}' ({causes[_DECODE]}) have no columns yet"
            raise self._refused(f"{whose}: {why}", "SET gives them, from `text`; or leave them out by WHERE")

    def _corrected(self, target: _Target, chosen: DataFrame) -> list[Corrected]:
        from pyspark.sql import functions as f

        row = corrected_row(self.bound, target.table, self.env)
        kept = chosen.sparkSession.createDataFrame([tuple(r) for r in target.letters], chosen.schema)
        own = [f.col(identifier(name)).alias(f"{OF_LETTER}{name}") for name in kept.columns]
        text = f.expr(f"IF(cause = {string(_DECODE)}, NULL, text)")
        schema = f"{schema_of(target.table)}, {_CORRUPT} STRING"
        parsed = f.from_json(text, schema, {"columnNameOfCorruptRecord": _CORRUPT}).alias(_ROW)
        rows = kept.select(*own, parsed).select("*", f"{_ROW}.*")
        code = f"{OF_LETTER}code" if "code" in kept.columns else "''"
        known = f"{OF_LETTER}{LETTER} AS __name", f"{code} AS __code", f"{_CORRUPT} IS NOT NULL AS __wrong"
        found = rows.selectExpr(*known, *row.columns)
        found = found.selectExpr("__name", "__code", "__wrong", f"{row.missing} AS __missing", f"{row.text} AS __text")
        return [self._checked(r, target) for r in found.collect()]

    def _checked(self, row: Row, target: _Target) -> Corrected:
        whose = f"dead letter '{row['__name']}' of query `{target.query}`"
        if row["__wrong"]:
            hint = "the table was altered since, or the dead letter was written by hand"
            raise self._refused(f"{whose}: its text is no row of `{target.table.name.plain}`", hint)
        if row["__missing"]:
            why = f"{row['__missing']} would be NULL, and is NOT NULL in `{target.table.name.plain}`"
            raise self._refused(f"{whose}: {why}", "SET gives it a value")
        return Corrected(row["__name"], row["__code"], row["__text"])

    def _refused(self, why: str, hint: str) -> SqlExtError:
        message = f"these dead letters cannot be fed back: {why}"
        return SqlExtError("RUN-086", message, span=self.bound.statement.name_span, hint=hint)


def _waiting(found: Sequence[tuple[_Target, Staged]]) -> Iterator[str]:
    """Yield a text for each query that does not run: it reads what is fed back when it is started again."""
    fed = {target.query: target.place for target, staged in found if staged.number is not None}
    for query, place in fed.items():
        if lease.holder(place.store) is None:
            yield f"Query `{query}` does not run: it takes them when it is started again."
