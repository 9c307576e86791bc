"""Write a Delta table: append, or keep the current row of every key by MERGE; the table's log says what is done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sqlext.connectors.delta.columns import ColumnChanges, column_changes, plain_type, require_same, stored_columns
from sqlext.connectors.delta.constraints import TableConstraint, constraints, first_broken
from sqlext.connectors.delta.damage import damage_at, refuse_emptied, telling_damage
from sqlext.connectors.delta.reader.tables import log_folder, log_of
from sqlext.connectors.delta.sink.following import Following, following
from sqlext.connectors.delta.sink.history import History
from sqlext.connectors.delta.table import MERGE_SCHEMA
from sqlext.connectors.formats.conversions import as_text, convert
from sqlext.connectors.spec import Alteration, WriteSpec
from sqlext.locations import is_remote, on_disk
from sqlext.quoting import identifier, string
from sqlext.sinks.base import Foreseen, Mode, RefusedRow, Sink, SinkContext, refuse_mode, row_text
from sqlext.sinks.few_rows import Attempts, few_rows
from sqlext.sinks.last_rows import existence, merge_statement, one_row_per_key
from sqlext.sinks.letter_limit import LetterLimit
from sqlext.spark.object_urls import unreached
from sqlext.spark.packages import require_delta
from sqlext.types import LogicalType
from sqlext_catalog.log_damage import damaged

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from sqlext.connectors.delta.sink.direct import KeptTable
    from sqlext.connectors.delta.sink.small_batches import SmallBatches

_APP_ID = "spark.databricks.delta.write.txnAppId"
_VERSION = "spark.databricks.delta.write.txnVersion"
#: The property of a table that is changed so that commits begun before it fail.
FENCE = "sqlext.fence"
#: Beside a row: which constraint of the table it breaks.
_BROKEN = "__broken"
_MODES: tuple[Mode, ...] = ("append", "upsert", "overwrite")


@dataclass
class _Driver:
    """What is remembered between batches that the driver may commit.

    Attributes:
        attempts: whether the rows of the next batch are counted.
        shared: the ids of tables that this process and Spark both find at the path.
        kept: the table between batches, once there was one.
        following: notes what is committed, where that is possible.
    """

    attempts: Attempts = field(default_factory=Attempts)
    shared: set[str] = field(default_factory=set)
    kept: KeptTable | None = None
    following: Following | None = None


@dataclass(frozen=True)
class DeltaSink(Sink):
    """A Delta table by path or name.

    Every commit carries the query's identity and the batch's number: of a MERGE in a transaction of Delta's, which
    ignores a number that it has seen; of other writes as metadata of the commit, which is looked up in the table's
    history when a batch may come again. A transaction there would make Delta work out the table's whole state for each
    batch, which takes twice as long as the write.

    Attributes:
        spec: the table.
        context: the query.
        driver: what is remembered between batches that the driver may commit.
    """

    spec: WriteSpec
    context: SinkContext
    driver: _Driver = field(default_factory=_Driver, compare=False, repr=False)

    @property
    def single_pass(self) -> bool:
        """One job appends all rows; a MERGE looks at them more than once."""
        return self.context.mode != "upsert"

    def require(self, spark: SparkSession) -> None:
        """Hold the table that is there against the declaration, with the columns that ``open`` would add."""
        refuse_mode(self.spec, self.context, *_MODES)
        require_delta(spark)
        self._require_there(spark)
        existing = self._existing_schema(spark)
        if existing is not None:
            added = dict(self._stored_columns()) if self.spec.flag(MERGE_SCHEMA) else {}
            require_same(self.spec, added | _types(existing))

    def fits(self, spark: SparkSession) -> bool:
        """Return whether the table that is there has the declared columns, with those that ``open`` would add."""
        existing = self._existing_schema(spark)
        if existing is None:
            return True
        there = _types(existing)
        wanted = {name: plain_type(type_) for name, type_ in self._stored_columns()}
        grows = self.spec.flag(MERGE_SCHEMA)
        same = all(plain_type(there[n]) == t if n in there else grows for n, t in wanted.items())
        return same and set(there) <= set(wanted)

    def open(self, spark: SparkSession) -> None:
        """Create the table as declared, or hold the one that is there against the declaration."""
        refuse_mode(self.spec, self.context, *_MODES)
        require_delta(spark)
        followed = self._require_there(spark)
        existing = self._existing_schema(spark)
        if existing is None:
            spark.sql(self._create_statement())
            followed = self._following(spark)
        else:
            if self.spec.flag(MERGE_SCHEMA):
                self._add_columns(spark, existing)
                existing = self._existing_schema(spark) or existing
            self._check(existing)
            self._shut_out(spark)
        self.driver.following = followed
        if followed is not None:
            followed.begin()

    def _require_there(self, spark: SparkSession) -> Following | None:
        """Refuse a table that has gone back (RUN-096) before Delta looks, which may remember what was there.

        Returns:
            what follows the query's commits, as ``_following`` does.
        """
        followed = self._following(spark)
        if followed is not None:
            followed.require_there()
        return followed

    def _following(self, spark: SparkSession) -> Following | None:
        """Return what follows the query's commits; None for a table that is not there, or where nobody can."""
        path = self.spec.path
        if path is None and self.context.notes is not None and spark.catalog.tableExists(self._target):
            path = str(spark.sql(f"DESCRIBE DETAIL {self._target}").select("location").collect()[0][0])
        return following(path, self.context)

    def foreseen(self, coming: Sequence[Alteration] = ()) -> Foreseen:
        """Return what ``open`` will do, by the table's log; see ``Sink.foreseen``."""
        refuse_mode(self.spec, self.context, *_MODES)
        if self.spec.table is not None:
            return Foreseen(known=False)
        existing = self._coming_types(coming)
        if existing is None:
            return Foreseen(created=True)
        grows = self.spec.flag(MERGE_SCHEMA)
        added = {name: type_ for name, type_ in self._stored_columns() if grows and name not in existing}
        require_same(self.spec, {**existing, **added})
        return Foreseen(added=tuple(added))

    def foreseen_change(self, alteration: Alteration, coming: Sequence[Alteration] = ()) -> Sequence[str]:
        """Return what ``alter`` will do, by the table's log; see ``Sink.foreseen_change``."""
        if self.spec.table is not None:
            return ("the Delta table changes too",)
        existing = self._coming_types(coming)
        return tuple(column_changes(alteration, existing).described()) if existing is not None else ()

    def writer(self) -> str | None:
        """Return whether few rows are committed in the driver, and why not; see ``Sink.writer``."""
        from sqlext.connectors.delta.sink.small_batches import told

        return told(self.spec, self.context)

    def _coming_types(self, coming: Sequence[Alteration]) -> Mapping[str, str] | None:
        existing = self._logged_types()
        if existing is None:
            return None
        for alteration in coming:
            existing = column_changes(alteration, existing).applied(existing)
        return existing

    def _logged_types(self) -> Mapping[str, str] | None:
        """Return the columns of the table by its log, None if there is no table."""
        from pyspark.sql.types import StructType

        path = on_disk(self.spec.path or "")
        log = log_of(path)
        if not log.access.is_there(log_folder(path)):
            return None
        return _types(StructType.fromJson(dict(log.declared())))

    def _shut_out(self, spark: SparkSession) -> None:
        """Let a commit fail that a driver has begun from which the query was taken over.

        Such a driver may have computed a batch before it stayed away, and commit it when it is back. Delta lets no
        commit through that was begun before a change of the table's properties. A batch that came before the change is
        found in the table's history.
        """
        fence = self.context.fence
        if fence is not None and fence.taken_over:
            spark.sql(f"ALTER TABLE {self._target} SET TBLPROPERTIES ({string(FENCE)} = {string(fence.term.token)})")

    def alter(self, spark: SparkSession, alteration: Alteration) -> None:
        """Change the columns of the table, if it is there; a feature that they need is switched on first."""
        existing = self._existing_schema(spark)
        if existing is not None:
            self._change(spark, column_changes(alteration, _types(existing)))

    def _change(self, spark: SparkSession, changes: ColumnChanges) -> None:
        detail = spark.sql(f"DESCRIBE DETAIL {self._target}").select("properties").collect()
        features = changes.features(detail[0][0] or {})
        if features:
            wanted = ", ".join(f"{string(k)} = {string(v)}" for k, v in features.items())
            spark.sql(f"ALTER TABLE {self._target} SET TBLPROPERTIES ({wanted})")
        for statement in changes.statements(self._target):
            spark.sql(statement)

    def _add_columns(self, spark: SparkSession, existing: StructType) -> None:
        """Add the declared columns that the table lacks; rows that are there have NULL in them."""
        missing = tuple((n, t) for n, t in self._stored_columns() if n not in existing.names)
        for statement in ColumnChanges(added=missing).statements(self._target):
            spark.sql(statement)

    def write(self, df: DataFrame, batch_id: int) -> None:
        """Commit a batch, unless the table has it already."""
        if self.context.mode == "upsert" or not self._history().has(df.sparkSession, batch_id):
            self.write_new(df, batch_id)
        else:
            self._committed()

    def write_new(self, df: DataFrame, batch_id: int) -> None:
        """Commit a batch; Delta finds out by itself whether it has the batch of a MERGE."""
        self._write(df, batch_id)
        self._committed()

    def _committed(self) -> None:
        if self.driver.following is not None:
            self.driver.following.committed()

    def _write(self, df: DataFrame, batch_id: int) -> None:
        rows = self._stored(df)
        table = self._table_here(df.sparkSession) if self.driver.attempts.is_due() else None
        if table is None:
            self._commit(self._last_rows(rows), batch_id)
            return
        with few_rows(rows, self.context.few.rows) as found:
            written = found.here is not None and table.write(found.here, batch_id)
            self.driver.attempts.told(few=written)
            if not written:
                self._commit(self._last_rows(found.kept), batch_id)

    def _table_here(self, spark: SparkSession) -> SmallBatches | None:
        """Return what commits few rows in this process; None where Spark commits all."""
        if not self.context.few.rows:
            return None
        from sqlext.connectors.delta.sink.direct import KeptTable
        from sqlext.connectors.delta.sink.small_batches import small_batches
        from sqlext.rewrite.arrow.translation import Unsuited

        self.driver.kept = self.driver.kept or KeptTable()
        try:
            found = small_batches(self.spec, self.context, self.driver.kept)
        except Unsuited:
            return None
        return found if self._is_sparks(spark, found.identity) else None

    def _is_sparks(self, spark: SparkSession, identity: str) -> bool:
        """Return whether a table of this process is Spark's: a path may be one of another file system to Spark."""
        if identity not in self.driver.shared:
            detail = spark.sql(f"DESCRIBE DETAIL {self._target}").select("id").collect()
            self.driver.shared.update(row[0] for row in detail)
        return identity in self.driver.shared

    def take(self, df: DataFrame, batch_id: int, limit: LetterLimit, *, new: bool) -> Sequence[RefusedRow]:
        """Commit a batch but for the rows that the table refuses; see ``Sink.take``."""
        found = self._constraints(df.sparkSession) if self.context.refusals else ()
        if not found:
            return super().take(df, batch_id, limit, new=new)
        judged = self._rows(df).selectExpr("*", f"{self._broken(found)} AS {_BROKEN}")
        text = row_text(self.spec, self.context.zone)
        wrong = judged.where(f"{_BROKEN} IS NOT NULL").selectExpr(f"{text} AS text", f"{_BROKEN}.*").collect()
        # A copy: the query counts them when the batch is in.
        replace(limit).refuse(len(wrong), self.context.query)
        if new or self.context.mode == "upsert" or not self._history().has(df.sparkSession, batch_id):
            self._commit(judged.where(f"{_BROKEN} IS NULL").drop(_BROKEN), batch_id)
        self._committed()
        return tuple(RefusedRow(row["text"], row["code"], row["why"]) for row in wrong)

    def _constraints(self, spark: SparkSession) -> tuple[TableConstraint, ...]:
        """Return what the table that is there asks of rows."""
        existing = self._existing_schema(spark)
        detail = spark.sql(f"DESCRIBE DETAIL {self._target}").select("properties").collect()
        required = [x.name for x in existing.fields if not x.nullable] if existing is not None else []
        return constraints(self.spec.name, required, detail[0][0] or {})

    def _broken(self, found: Sequence[TableConstraint]) -> str:
        """Return what a row breaks; one that is gone breaks nothing."""
        gone = existence(self.context)
        return first_broken(found) if gone is None else f"CASE WHEN {identifier(gone)} THEN {first_broken(found)} END"

    def _rows(self, df: DataFrame) -> DataFrame:
        """Return the rows as the table holds them; of an upsert the last one of each key."""
        return self._last_rows(self._stored(df))

    def _last_rows(self, rows: DataFrame) -> DataFrame:
        return one_row_per_key(rows, self._keys, self.context) if self.context.mode == "upsert" else rows

    def _commit(self, rows: DataFrame, batch_id: int) -> None:
        (self._merge if self.context.mode == "upsert" else self._save)(rows, batch_id)

    @property
    def _keys(self) -> tuple[str, ...]:
        return keys_of(self.spec, self.context)

    @property
    def _target(self) -> str:
        return target_of(self.spec)

    def _history(self) -> History:
        return History(self._target, self.context.identity)

    def _stored(self, df: DataFrame) -> DataFrame:
        """Return the values as the table holds them, then the hidden columns."""
        values = stored_values(self.spec)
        hidden = [c for c in (self.context.exists, self.context.kind) if c is not None]
        # Spark takes some ms to look at a projection, in each micro-batch: most change nothing.
        if df.columns == [*values, *hidden] and all(text == identifier(name) for name, text in values.items()):
            return df
        columns = [f"{text} AS {identifier(name)}" for name, text in values.items()]
        return df.selectExpr(*columns, *map(identifier, hidden))

    def _save(self, rows: DataFrame, batch_id: int) -> None:
        if self.context.exists is not None:
            rows = rows.where(identifier(self.context.exists)).drop(self.context.exists)
        mode = "overwrite" if self.context.mode == "overwrite" else "append"
        writer = rows.write.format("delta").mode(mode)
        writer = writer.option("userMetadata", self._history().mark(batch_id))
        # As INSERT OVERWRITE in Flink: partitions that get no rows stay.
        if mode == "overwrite" and self.spec.partitioned_by:
            writer = writer.option("partitionOverwriteMode", "dynamic")
        if self.spec.table is not None:
            writer.saveAsTable(self.spec.table)
        else:
            writer.save(self.spec.path)

    def _merge(self, rows: DataFrame, batch_id: int) -> None:
        spark = rows.sparkSession
        view = f"sqlext_batch_{self.context.identity.replace('-', '_')}"
        rows.createOrReplaceTempView(view)
        with _transaction(spark, self.context.identity, batch_id):
            spark.sql(self._merge_statement(view))
        spark.catalog.dropTempView(view)

    def _merge_statement(self, source: str) -> str:
        names = [identifier(n) for n, _ in self._stored_columns()]
        return merge_statement(self._target, source, self._keys, names, existence(self.context))

    def _existing_schema(self, spark: SparkSession) -> StructType | None:
        if self.spec.path is None:
            return self._schema(spark)
        refuse_emptied(self.spec.path)
        with telling_damage(self.spec.path):
            return self._schema(spark)

    def _schema(self, spark: SparkSession) -> StructType | None:
        from pyspark.errors import AnalysisException

        try:
            table = self.spec.table
            if table is not None:
                return spark.table(table).schema if spark.catalog.tableExists(table) else None
            return spark.read.format("delta").load(self.spec.path).schema
        except AnalysisException as error:
            # Spark, its catalog and Delta have conditions of their own for a table that is not there.
            missing = ("PATH_NOT_FOUND", "PATH_DOES_NOT_EXIST", "TABLE_NOT_FOUND", "SCHEMA_NOT_SET", "NOT_A_DELTA")
            if not any(m in (error.getCondition() or str(error)) for m in missing):
                raise
            if self.spec.path is not None and (what := damage_at(self.spec.path)) is not None:
                raise damaged(on_disk(self.spec.path), what) from error
            return None
        except Exception as error:
            if self.spec.path is not None and is_remote(self.spec.path):
                raise unreached(self.spec.path, error) from error
            raise

    def _create_statement(self) -> str:
        columns = ", ".join(f"{identifier(n)} {t}" for n, t in self._stored_columns())
        partitions = ", ".join(identifier(p) for p in self.spec.partitioned_by)
        clauses = f"\nPARTITIONED BY ({partitions})" if partitions else ""
        # What is declared of the table has its options, too.
        own = {k: v for k, v in self.spec.options if k.startswith("delta.")} | dict(self.context.properties)
        properties = ", ".join(f"{string(k)} = {string(v)}" for k, v in own.items())
        clauses += f"\nTBLPROPERTIES ({properties})" if properties else ""
        return f"CREATE TABLE {self._target} ({columns}) USING DELTA{clauses}"

    def _stored_columns(self) -> list[tuple[str, str]]:
        return stored_columns(self.spec)

    def _check(self, existing: StructType) -> None:
        require_same(self.spec, _types(existing))


def target_of(spec: WriteSpec) -> str:
    """Return what SQL calls a table."""
    if spec.table is not None:
        return ".".join(identifier(p) for p in spec.table.split("."))
    return f"delta.{identifier(spec.path or '')}"


def keys_of(spec: WriteSpec, context: SinkContext) -> tuple[str, ...]:
    """Return the columns that name a row: the PRIMARY KEY, else the query's own key. None: there is one row."""
    return spec.primary_key or context.keys


def _types(schema: StructType) -> dict[str, str]:
    """Return the columns of a table that is there, by name."""
    return {x.name: x.dataType.simpleString() for x in schema.fields}


def stored_values(spec: WriteSpec) -> dict[str, str]:
    """Return the SQL of each column's value, as the table holds it."""
    return {c.name: convert(c.type, identifier(c.name), _time_text) for c in spec.columns}


def _time_text(declared: LogicalType, expression: str) -> str:
    return as_text(declared, expression, "UTC") if declared.root == "TIME" else expression


@contextmanager
def _transaction(spark: SparkSession, identity: str, batch_id: int) -> Iterator[None]:
    """Give the statements inside a transaction identity; MERGE takes it from the session only."""
    spark.conf.set(_APP_ID, identity)
    spark.conf.set(_VERSION, str(batch_id))
    try:
        yield
    finally:
        # A number that stayed would make Delta skip other writes of the session.
        spark.conf.unset(_APP_ID)
        spark.conf.unset(_VERSION)
