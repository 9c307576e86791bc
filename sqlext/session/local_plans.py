"""Decide whether a statement can run or be finished in this process, without Spark, and why it cannot.

``SET 'sqlext.engine'`` says what is wanted: ``spark``, ``local``, or ``auto``.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar, cast

from sqlext.analysis.inserts.bound import BoundInsert
from sqlext.analysis.inserts.sides import side_inserts
from sqlext.analysis.names.environment import Environment
from sqlext.connectors.readers import Unread
from sqlext.connectors.registry import connector_of
from sqlext.errors import SqlExtError
from sqlext.plan.base import walk
from sqlext.plan.nodes import PlanNode, Scan
from sqlext.plan.panes import has_clause
from sqlext.plan.timing import InputEnd
from sqlext.rewrite.compiler.boundedness import is_bounded
from sqlext.rewrite.compiler.inserts import insert_script
from sqlext.rewrite.compiler.plans import script_of
from sqlext.rewrite.script.model import Compiled
from sqlext.rewrite.script.real_time import asked_for
from sqlext.secrets import redact_text
from sqlext.session.places import sink_context
from sqlext.settings import ENGINE, LOCAL_BYTES
from sqlext.sinks.base import SinkContext
from sqlext.source import Span
from sqlext.stores.files import holds_bytes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from sqlext.jobs.parts import Place
    from sqlext.rewrite.arrow.in_process import LocalScript
    from sqlext.rewrite.script.model import ArrowView, ReadView, SparkScript
    from sqlext.session.drafts import Draft
    from sqlext.sinks.base import Sink
    from sqlext.sinks.files_where_read import FilesWhereMade
    from sqlext.sinks.local import LocalSink
    from sqlext.sinks.small_results import SmallResult
    from sqlext.spark.reading.data_source import ArrowInput
    from sqlext.spark.reading.shared_rows import SharedRows
    from sqlext.spark.reading.views import Opened


T = TypeVar("T")
#: How many times as much is read of a table whose rows are combined where they are read: they are not kept.
_COMBINED = 16
#: Why ``auto`` leaves a query to Spark, which may need more than one machine one day.
ENDLESS = "its input has no end"
#: How ``engine_of`` begins where this process does not run a query.
_BY_SPARK = "Spark"


class NotLocalError(Exception):
    """Why only Spark runs a statement; its text is for EXPLAIN, and a traceback shows it: it holds no secret."""

    def __init__(self, reason: str) -> None:
        super().__init__(redact_text(reason))


def local_select(plan: PlanNode, env: Environment, *, whole: bool = False, packs: bool = False) -> LocalScript:
    """Return the script of a SELECT for this process.

    Args:
        whole: whether all columns of its tables are read, for who shows their rows.
        packs: whether rows may be combined where they are read.

    Raises:
        NotLocalError: why Spark must run it.
    """
    _require_suited(plan, env)
    if side_inserts(plan, env):
        raise NotLocalError("rows that are kept beside the query's own")
    # With EMIT each pane is shown, else what stands at the end.
    latest = not has_clause(plan)
    make = partial(script_of, plan, env, end=InputEnd.FINISH, latest=latest, local=True, packs=packs)
    return _shown(_compiled(make, env, whole=whole))


def stream_select(plan: PlanNode, env: Environment) -> LocalScript:
    """Return the script of a SELECT whose input has no end; raises as ``local_select``."""
    _require_open(env)
    _require_streams(plan)
    if side_inserts(plan, env):
        raise NotLocalError("rows that are kept beside the query's own")
    make = partial(script_of, plan, env, end=InputEnd.NONE, latest=not has_clause(plan), local=True, stepwise=True)
    return _shown(_compiled(make, env))


def any_select(plan: PlanNode, env: Environment, *, packs: bool = False) -> LocalScript:
    """Return the script of a SELECT, whether its input has an end or not; see ``local_select``."""
    return local_select(plan, env, packs=packs) if is_bounded(plan) else stream_select(plan, env)


def _shown(script: LocalScript) -> LocalScript:
    """Return a script whose columns have values in this process."""
    from sqlext.sources.values import can_be_values

    for name, of in script.query.columns[: len(script.script.outputs)]:
        if not can_be_values(of):
            raise NotLocalError(f"column `{name}` of type {of}, which Spark has values of its own for")
    return script


def local_steps(plan: PlanNode, env: Environment) -> LocalScript:
    """Return the script of a plan that this process computes micro-batch by micro-batch, as ``local.stepwise`` does.

    It takes rows with all columns of its tables.

    Raises:
        NotLocalError: why only Spark knows how.
    """
    made = partial(script_of, plan, env, end=InputEnd.FINISH, local=True, stepwise=True)
    return _compiled(made, env, whole=True)


def check_insert(insert: BoundInsert, env: Environment) -> LocalScript:
    """Check that an INSERT can run in this process; return its script.

    Raises:
        NotLocalError: why Spark must run it.
    """
    require_plain(insert, env)
    end = InputEnd.FINISH if is_bounded(insert.plan) else InputEnd.NONE
    script = _compiled(lambda: insert_script(insert, env, end=end, local=True), env)
    mode = "overwrite" if insert.overwrite else insert.mode
    local_sink_of(insert, script, SinkContext("", "", mode=mode, zone=env.zone))
    return script


def require_plain(insert: BoundInsert, env: Environment) -> None:
    """Check what can be said of an INSERT before it is compiled; raises as ``check_insert``."""
    if asked_for(env.settings) is not None:
        raise NotLocalError("real-time mode, which is Spark's")
    _require_open(env)
    if not is_bounded(insert.plan):
        _require_streams(insert.plan)
    elif env.settings.get("sqlext.bounded") != "finish":
        raise NotLocalError("a query that goes on when more has come")
    if insert.sides or side_inserts(insert.plan, env):
        raise NotLocalError("rows that are kept beside the query's own")
    if insert.overwrite:
        raise NotLocalError("INSERT OVERWRITE")


def in_process(make: Callable[[], T]) -> T:
    """Return what is made for this process; raises as ``check_insert``."""
    from sqlext.rewrite.arrow.translation import Unsuited

    try:
        return make()
    except (Unsuited, Unread) as reason:
        raise NotLocalError(f"only Spark is known to do this: {reason}") from None


def _compiled(make: Callable[[], SparkScript], env: Environment, *, whole: bool = False) -> LocalScript:
    from sqlext.rewrite.arrow.in_process import compiled_script

    return in_process(lambda: compiled_script(make(), env.zone, whole=whole))


def local_sink_of(insert: BoundInsert, script: LocalScript, context: SinkContext) -> LocalSink:
    """Return the sink of an INSERT; raises as ``check_insert``."""
    from sqlext.sinks.local import local_sink

    spec = connector_of(insert.table).write_spec(insert.table)
    return in_process(lambda: local_sink(spec, context, script.query.schema))


def most_bytes(env: Environment) -> int:
    """Return how many bytes of a table, or of its partial results, are few; see ``LOCAL_BYTES``."""
    return int(env.settings.get(LOCAL_BYTES) or 0)


def written_otherwise(
    spark: SparkSession, draft: Draft, place: Place, sink: Sink, opened: Opened
) -> FilesWhereMade | None:
    """Return how a query of one batch is written, if not as rows that Spark hands to its sink."""
    if place.run.finished:
        return None
    if draft.script.makes_rows:
        return _files_where_read(spark, draft.script, place, sink)
    if opened.last is None:
        return None
    from sqlext.sinks.files_where_read import files_of_last

    return files_of_last(opened.last, opened.read, sink)


def small_result(draft: Draft, place: Place | None, shared: SharedRows, env: Environment) -> SmallResult | None:
    """Return how a query is finished here, where little is left of its tables; None: Spark finishes it.

    Its tables are open then: who asks for their rows has them read.

    Raises:
        OptionError: OPT-009 if nothing lies at the path of one.
    """
    reads = draft.script.read_by_arrow
    if place is None or place.run.finished or not shared.tables.reads or not shared.shares_all(reads):
        return None
    from sqlext.sinks.small_results import SmallResult

    context = sink_context(draft, place, env)
    try:
        script = finished_here(draft.insert, draft.script, env)
        sink = local_sink_of(draft.insert, script, context)
    except NotLocalError:
        return None
    shared.open(reads, place.home.sources.below(uuid.uuid4().hex))
    return SmallResult(script, sink, context, partial(shared.small, reads, most_bytes(env)))


def _files_where_read(spark: SparkSession, script: SparkScript, place: Place, sink: Sink) -> FilesWhereMade | None:
    """Return how a query of SELECTs writes its sink's files where its table is read; None: Spark writes them."""
    import pyarrow as pa

    from sqlext.sinks.files_where_read import files_where_read
    from sqlext.spark.reading.arrow_sources import row_input

    (step,) = script.read_by_arrow

    # A folder for each try: one that failed is no reason to read what it has seen.
    def given() -> ArrowInput:
        return row_input(spark, step, place.home.sources.below(uuid.uuid4().hex))

    names = [name for _, name in script.outputs]
    schema = pa.schema(list(zip(names, cast("tuple[pa.DataType, ...]", step.types), strict=True)))
    return files_where_read(spark, given, schema, sink)


def finished_here(insert: BoundInsert, script: SparkScript, env: Environment) -> LocalScript:
    """Return what is left to do for an INSERT once Spark has combined the rows of its tables.

    Raises:
        NotLocalError: why Spark must do it.
    """
    if not most_bytes(env):
        raise NotLocalError("no number of bytes is few")
    if not script.at_once or not script.read_by_arrow:
        raise NotLocalError("it keeps state")
    require_plain(insert, env)
    return _compiled(lambda: script, env)


def is_finished_here(insert: BoundInsert, script: SparkScript, env: Environment) -> bool:
    """Return whether an INSERT is finished here where its partial results are few, for EXPLAIN."""
    mode = "overwrite" if insert.overwrite else insert.mode
    try:
        here = finished_here(insert, script, env)
        local_sink_of(insert, here, SinkContext("", "", mode=mode, zone=env.zone))
    except NotLocalError:
        return False
    return True


def engine_of(
    plan: PlanNode, insert: BoundInsert | None, env: Environment, *, there: bool, begun: bool = False
) -> str | None:
    """Return who runs a query and why, for EXPLAIN; None where nothing but Spark is wanted.

    Args:
        there: whether a Spark session was given or has started.
        begun: whether it is a query without an end that has begun in this process.
    """
    wanted = env.settings.get(ENGINE)
    if wanted == "spark":
        return None
    if wanted == "auto" and there and not begun:
        return f"{_BY_SPARK}: its session is there"
    try:
        script = any_select(plan, env, packs=True) if insert is None else check_insert(insert, env)
        if not script.script.at_once:
            here = "this process, micro-batch by micro-batch"
            left = f"{_BY_SPARK}: {ENDLESS}; SET '{ENGINE}' = 'local' takes {here}"
            return here if wanted == "local" or begun else left
        if wanted == "auto":
            require_small([script], env)
    except NotLocalError as reason:
        return f"{_BY_SPARK}: {reason}"
    done = "this process: Arrow does all of it" + (", and the input is small" if wanted == "auto" else "")
    joined = ", ".join(f"`{step.table.name.name}`" for step in joined_reads(script))
    return f"{done}; rows of {joined} are joined and combined where they are read" if joined else done


def joined_reads(script: LocalScript) -> Sequence[ReadView | ArrowView]:
    """Return the tables whose rows are joined and combined where they are read."""
    from sqlext.rewrite.arrow import joined  # it needs Arrow, which few statements do

    return joined.joined_reads(script)


def runs_here(query: Compiled, env: Environment, *, there: bool) -> bool:
    """Return whether this process runs a query, as ``engine_of`` says."""
    return is_of_this_process(engine_of(query.plan, query.insert, env, there=there))


def is_of_this_process(engine: str | None) -> bool:
    """Return whether ``engine_of`` says that this process runs a query."""
    return not (engine or _BY_SPARK).startswith(_BY_SPARK)


def require_small(scripts: Iterable[LocalScript], env: Environment) -> None:
    """Check that the tables that queries read hold so little that starting Spark would not pay.

    Raises:
        NotLocalError: if they hold more.
    """
    found = list(scripts)
    # Queries that read a table together take its rows as they are.
    joined = joined_reads(found[0]) if len(found) == 1 else ()
    for step in (step for script in found for step in script.all_reads):
        most = most_bytes(env) * (_COMBINED if step.is_combined or step in joined else 1)
        if holds_bytes(step.table.option("path") or step.table.option("table-path"), most):
            bound = f"{most >> 20} MB" if most >> 20 else f"{most:,} bytes"
            raise NotLocalError(f"`{step.table.name.name}` has {bound} or more")


def refused(reason: NotLocalError, span: Span) -> SqlExtError:
    """Return why a statement that is to run in this process cannot."""
    message = f"the statement cannot run without Spark: {reason}"
    return SqlExtError(
        "OPT-036", message, span=span, hint=f"SET '{ENGINE}' = 'auto' lets Spark run what only Spark can"
    )


def _require_suited(plan: PlanNode, env: Environment) -> None:
    _require_open(env)
    if not is_bounded(plan):
        raise NotLocalError(ENDLESS)


def _require_open(env: Environment) -> None:
    if env.policy.restricted:
        raise NotLocalError("the session is restricted, and Spark keeps its limits")


def _require_streams(plan: PlanNode) -> None:
    """Check that a query without an end reads nothing that stands still."""
    still = next((n for n in walk(plan) if isinstance(n, Scan) and not n.is_stream), None)
    if still is not None:
        raise NotLocalError(f"`{still.table.name.name}` is read as a table that stands still")
