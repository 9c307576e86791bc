"""Refuse what a query cannot reach before any sink of its job is opened, which may make its table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from sqlext.analysis.inserts.bound import BoundInsert
from sqlext.analysis.names.environment import Environment
from sqlext.capabilities import CONNECT_STATE, require
from sqlext.connectors.registry import connector_of
from sqlext.connectors.spec import WriteSpec
from sqlext.jobs.parts import Place
from sqlext.locations import is_remote
from sqlext.rewrite.script.model import Compiled, SparkScript
from sqlext.session.drafts import Draft
from sqlext.session.local_plans import runs_here
from sqlext.session.places import sink_context
from sqlext.sinks.base import SinkContext
from sqlext.sinks.sides import targets
from sqlext.spark.object_urls import require_file_system
from sqlext.spark.sessions import is_connect
from sqlext_catalog.model import Table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def require_reached(query: Compiled, env: Environment, spark: Callable[[], SparkSession], *, there: bool) -> None:
    """Refuse what Spark is to run and cannot, before the first statement of a script runs.

    Args:
        there: whether a Spark session was given or has started.

    Raises:
        SqlExtError: as ``require_able``.
    """
    asks = any(True for _ in _urls(query.script, query.insert)) or (there and query.script.keeps_state)
    if asks and not runs_here(query, env, there=there):
        require_able(spark, query.script, query.insert)


def require_able(spark: Callable[[], SparkSession], script: SparkScript, insert: BoundInsert | None) -> None:
    """Refuse a query that the Spark of a session cannot run.

    Raises:
        OptionError: as ``require_places``.
        SqlExtError: ENV-014 where a client of Spark Connect has no operators with state.
    """
    require_places(spark, script, insert)
    if script.keeps_state and is_connect(spark()):
        require(CONNECT_STATE)


def require_places(spark: Callable[[], SparkSession], script: SparkScript, insert: BoundInsert | None) -> None:
    """Refuse a query that reads or writes at a URL for which Spark has no file system.

    Args:
        spark: is asked for if there is a URL.

    Raises:
        OptionError: OPT-014.
    """
    for path, form in _urls(script, insert):
        require_file_system(spark(), path, form)


def _urls(script: SparkScript, insert: BoundInsert | None) -> Iterator[tuple[str | None, str | None]]:
    """Yield the URLs that Spark itself reads and writes, with its data source there."""
    for source in script.sources:
        if not source.own and _is_far(source.table):
            read = connector_of(source.table).read_spec(source.table)
            yield read.path, read.format
    for table in (*((insert.table,) if insert is not None else ()), *(side.table for side in script.sides)):
        if _is_far(table):
            write = connector_of(table).write_spec(table)
            yield write.path, write.format


def _is_far(table: Table) -> bool:
    path = table.option("path")
    return path is not None and is_remote(path)


def sinks_of(draft: Draft, place: Place | None, env: Environment) -> list[tuple[WriteSpec, SinkContext]]:
    """Return what ``open_sink`` needs to know of a query's sink, and of those of the rows beside its own."""
    table, context = draft.insert.table, sink_context(draft, place, env)
    return [(connector_of(table).write_spec(table), context), *targets(draft.script.sides, context)]
