"""Define the adapter: dbt-spark's, and what the macros of streaming models call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from dbt.adapters.base.meta import available
from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.contracts.relation import RelationType
from dbt.adapters.spark.column import SparkColumn
from dbt.adapters.spark.impl import SparkAdapter, SparkConfig
from dbt_common.exceptions import DbtRuntimeError

from sqlext.dbt.connections import SqlextConnectionManager, SqlextCredentials
from sqlext.errors import SqlExtError
from sqlext.session.api import Session
from sqlext.settings import parse_duration
from sqlext_catalog import ddl
from sqlext_catalog.model import View

T = TypeVar("T")
Kind = Literal["source", "view", "streaming_table"]

#: Codes of refusals that say: the table, or the state of its query, was made by another definition, or of a table that
#: was made anew since.
_CHANGED = frozenset({"CAT-003", "RUN-020", "RUN-075"})


@dataclass
class SqlextConfig(SparkConfig):
    """Options of a model's ``config()``, besides dbt-spark's.

    Attributes:
        emit: the EMIT clause, without the word.
        rowtime, watermark: the column that is event time for models that read this one, and its watermark.
        settings: SET options for this model's query.
        run_for: how long a run reads sources that do not end.
        trigger_interval: how often such a query starts a micro-batch.
    """

    emit: str | None = None
    rowtime: str | None = None
    watermark: str | None = None
    settings: dict[str, str] | None = None
    run_for: str | None = None
    trigger_interval: str | None = None


class SqlextAdapter(SparkAdapter):
    """Relations are Spark's tables and views, and those that sqlext's catalog alone knows."""

    ConnectionManager = SqlextConnectionManager
    AdapterSpecificConfigs = SqlextConfig

    @available
    def run_script(self, script: str, run_for: str | None = None, trigger_interval: str | None = None) -> None:
        """Run a script to the end of its sources; those without an end are left after ``run_for``."""
        _told(lambda: self._run(script, run_for, trigger_interval))

    @available
    def catch_up(self, script: str, run_for: str | None = None, trigger_interval: str | None = None) -> str:
        """Run a streaming table's script; return what differs if its state was made by another one, else nothing."""
        try:
            self._run(script, run_for, trigger_interval)
        except SqlExtError as error:
            if error.code in _CHANGED:
                return error.message
            raise DbtRuntimeError(error.render()) from error
        return ""

    @available
    def stream_kind(self, relation: BaseRelation) -> Kind | None:
        """Return whether sqlext's catalog has a relation as ``source``, ``view`` or ``streaming_table``."""
        return self._kind(_name(relation))

    def drop_relation(self, relation: BaseRelation) -> None:
        """Drop a relation in both catalogs, and the query that keeps it with its state."""
        _told(lambda: _forget(self._session(), _name(relation)))
        super().drop_relation(relation)

    def list_relations_without_caching(self, schema_relation: BaseRelation) -> list[BaseRelation]:
        """Return Spark's relations of a schema and the streams."""
        found = super().list_relations_without_caching(schema_relation)
        known = {relation.identifier for relation in found}
        snapshot = _told(lambda: self._session().catalog.snapshot())
        for stream in snapshot.relations(database=schema_relation.schema):
            if stream.name.name not in known:  # the rows of a streaming table are a table of Spark's too
                is_view = self._kind(stream.name[1:]) == "view"
                type_ = RelationType.View if is_view else RelationType.Table
                found.append(self.Relation.create(schema=stream.name.database, identifier=stream.name.name, type=type_))
        return found

    def get_columns_in_relation(self, relation: BaseRelation) -> list[SparkColumn]:
        """Return the columns of a table or of a stream."""
        if self._kind(_name(relation)) in ("source", "view"):
            return [column for column, _ in self._described(relation)]
        return super().get_columns_in_relation(relation)

    def _get_columns_for_catalog(self, relation: BaseRelation) -> Iterable[dict[str, Any]]:
        """Yield a row for each column, for ``dbt docs``: those of streams with their time attributes."""
        described = self._described(relation)
        if not described:
            yield from super()._get_columns_for_catalog(relation)
        for column, comment in described:
            row = column.to_column_dict()
            yield {
                **{key: value for key, value in row.items() if key not in ("column", "dtype")},
                "column_name": column.column,
                "column_type": column.dtype,
                "column_comment": comment,
                "table_database": None,
            }

    def _described(self, relation: BaseRelation) -> list[tuple[SparkColumn, str]]:
        """Return the columns of a stream with what else DESCRIBE says of them; none for what only Spark knows."""
        if self._kind(_name(relation)) is None:
            return []
        rows = _told(lambda: self._session().sql(f"DESCRIBE {relation}").rows)
        return [(_column(relation, i, row), _comment(row)) for i, row in enumerate(rows)]

    def _kind(self, name: tuple[str, str]) -> Kind | None:
        """Return what the catalog has under a name; a catalog that cannot be read is an error of dbt's."""
        return _told(lambda: _kind_of(self._session(), name))

    def _run(self, script: str, run_for: str | None, trigger_interval: str | None) -> None:
        self._session().run(script, run_for=_millis(run_for), trigger_interval=_millis(trigger_interval))

    def _session(self) -> Session:
        credentials = self.config.credentials
        assert isinstance(credentials, SqlextCredentials)
        return credentials.session()


def _kind_of(session: Session, name: tuple[str, str]) -> Kind | None:
    """Return what the catalog has under ``(database, name)``, None for nothing.

    A table is a ``streaming_table`` if there is a query ``database.name``, else a ``source``.
    """
    found = session.catalog.lookup(name)
    if found is None:
        return None
    if isinstance(found, View):
        return "view"
    return "streaming_table" if session.catalog.snapshot().query(".".join(name)) is not None else "source"


def _forget(session: Session, name: tuple[str, str]) -> None:
    """Remove a table or view from the catalog, and the query of its name with its state; its rows are left.

    Raises:
        SqlExtError: RUN-022 if another process runs the query.
    """
    catalog = session.catalog
    session.drop_query(".".join(name))
    found = catalog.lookup(name)
    if found is not None:
        drop = ddl.drop_view if isinstance(found, View) else ddl.drop_table
        catalog.apply(drop(found.name, if_exists=True), f"DROP {found.name.plain}")


def _name(relation: BaseRelation) -> tuple[str, str]:
    return str(relation.schema), str(relation.identifier)


def _column(relation: BaseRelation, index: int, row: Sequence[Any]) -> SparkColumn:
    return SparkColumn(
        column=row[0],
        dtype=row[1],
        table_schema=relation.schema,
        table_name=relation.identifier,
        table_type=relation.type,
        table_owner="",
        table_stats={},
        column_index=index,
    )


def _comment(row: Sequence[Any]) -> str:
    """Return key, definition, watermark and comment of a column as one text."""
    _, _, _, key, extras, watermark, *comment = row
    watermark = f"WATERMARK AS {watermark}" if watermark else None
    return "; ".join(str(part) for part in (*comment, key, extras, watermark) if part)


def _millis(duration: str | None) -> int | None:
    if duration is None:
        return None
    millis = parse_duration(duration)
    if millis is None:
        raise DbtRuntimeError(f"'{duration}' is no duration; write '30 s' or '1 min'")
    return millis


def _told(action: Callable[[], T]) -> T:
    """Return what an action gives; a refusal becomes dbt's own error, with its position and hint."""
    try:
        return action()
    except SqlExtError as error:
        raise DbtRuntimeError(error.render()) from error
