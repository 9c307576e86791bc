"""Run one statement after the other; a handler runs those that read data.

The same interpreter checks a script on a copy of the state, rewrites it without a JVM, explains it and runs it. Only
the handler differs.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from sqlext.analysis.definitions import alteration_of, check_known, fill_of, table_of, view_of
from sqlext.analysis.inserts.binding import bind_insert
from sqlext.analysis.inserts.guards import guarded
from sqlext.analysis.inserts.replays import bind_replay
from sqlext.analysis.names.environment import Environment
from sqlext.analysis.selects.queries import QueryBinder
from sqlext.analysis.types.calls import own_functions
from sqlext.connectors.base import written_columns
from sqlext.connectors.registry import known, makes_table
from sqlext.connectors.spec import Alteration
from sqlext.dialect.ast import statements as ast
from sqlext.dialect.ast.queries import Query
from sqlext.dialect.cursor import too_deep
from sqlext.errors import SqlExtError, shown_cause
from sqlext.jobs.result import Result
from sqlext.plan.nodes import PlanNode
from sqlext.secrets import redact, redact_text, redact_value
from sqlext.session.allowing.functions import require_functions
from sqlext.session.allowing.tables import admit_defined, admit_dropped
from sqlext.session.catalogs.found import find_named, show_lake
from sqlext.session.catalogs.statements import (
    alter_catalog,
    alter_database,
    create_catalog,
    create_database,
    drop_container,
    drop_in_lake,
)
from sqlext.session.handler import Handler
from sqlext.session.introspection.advisor import OF_VIEW, named_table
from sqlext.session.introspection.show import describe, describe_catalog, show
from sqlext.session.materialized import (
    alter_materialized,
    create_materialized,
    drop_materialized,
    refuse_drop,
    written_by_query,
)
from sqlext.session.ownership import (
    check_spark_functions,
    check_spark_tables,
    concerns_us,
    names_sparks_table,
    refuse_our_syntax,
)
from sqlext.session.scripted_functions import (
    create_function,
    drop_function,
    java_class,
    knows_function,
    require_function,
)
from sqlext.session.state import SessionState
from sqlext.session.stored_tables import check_change, check_described, check_named, on_stored_tables
from sqlext.settings import require_known
from sqlext.source import Span
from sqlext.stores.naming import told
from sqlext_catalog import ddl
from sqlext_catalog.diff import changed_options
from sqlext_catalog.model import (
    ObjectName,
    Relation,
    Table,
    keeping_query,
)
from sqlext_catalog.places import MAKES_ROOM

#: What writing a file that is open raises: such an error has no file name.
_OF_DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO})


class Interpreter:
    """Runs statements against a state."""

    def __init__(self, state: SessionState, handler: Handler) -> None:
        self.state = state
        self.handler = handler
        self._actions: dict[type[ast.Statement], Callable[..., Result]] = {
            ast.CreateTable: self._create_table,
            ast.CreateView: self._create_view,
            ast.AlterTable: self._alter_table,
            ast.AlterView: self._alter_view,
            ast.Drop: self._drop,
            ast.CreateFunction: self._create_function,
            ast.CreateDatabase: partial(create_database, session=self),
            ast.CreateCatalog: partial(create_catalog, session=self),
            ast.AlterDatabase: partial(alter_database, session=self),
            ast.AlterCatalog: partial(alter_catalog, session=self),
            ast.Use: self._use,
            ast.Show: self._show,
            ast.Describe: self._describe,
            ast.DescribeCatalog: self._describe_catalog,
            ast.Explain: self._explain,
            ast.ExplainWhy: self._explain_why,
            ast.ExplainRow: self._explain_row,
            ast.AnalyzeWatermark: self._analyze_watermark,
            ast.Replay: self._replay,
            ast.Deploy: self._deploy,
            ast.SetOption: self._set,
            ast.ResetOption: self._reset,
            ast.StopJob: self._stop_job,
            ast.AlterMaterialized: self._alter_materialized,
            ast.Insert: self._insert,
            ast.StatementSet: self._statement_set,
            ast.SelectStatement: self._select,
            ast.UnparsedQuery: self._unparsed,
            ast.SparkStatement: self._spark,
        }

    def run(self, statement: ast.Statement) -> Result:
        """Run one statement.

        Raises:
            SqlExtError: positioned at the statement where nothing inside it is to blame.
        """
        action = self._actions.get(type(statement), self._to_spark)
        try:
            find_named(statement, self)
            # Only in spark mode may a statement be about a table of Spark's own.
            if self.state.settings.expressions == "spark" and names_sparks_table(statement, self._with_sparks()):
                action = self._about_sparks_table
            # A view's text too: who uses it later may be less restricted.
            require_functions(statement.span, self.state.settings.expressions, self.state.policy)
            with own_functions(self.state.sparks):
                result = action(statement)
        except SqlExtError as error:
            raise error.at(_place(statement, error)) from shown_cause(error.__cause__)
        except OSError as error:
            if not _is_of_file(error):  # of a connection: whoever knows which one says so
                raise
            raise _unusable(error).at(statement.span) from error
        # Plans and expressions are walked recursively: too deep a query meets Python's limit, not one of ours.
        except RecursionError:
            raise too_deep(statement.span) from None
        result.statement = result.statement or redact_text(statement.span.text)
        return result

    def environment(self) -> Environment:
        """Return the surroundings of the next statement."""
        # A name such as csv.`/etc/passwd` is a table to Spark: under restrictions it is asked for none.
        return self.state.environment(None if self.state.policy.restricted else self.handler.spark_table())

    # Definitions

    def _create_table(self, statement: ast.CreateTable) -> Result:
        env = self.environment()
        table = table_of(statement, env, self.state.catalog)
        existed = self.state.catalog.lookup(table.name) is not None
        self.create(table, statement, "CREATE TABLE")
        if not (existed and statement.if_not_exists):
            self._note_options(table.name, statement.options, statement.name_span)
        if statement.query is None or (existed and statement.if_not_exists):
            return Result()
        fill = fill_of(statement, statement.query, env)
        env = self.environment()  # anew: this one knows the table
        return self.handler.insert(statement, [bind_insert(fill, env)], env)

    def _create_view(self, statement: ast.CreateView) -> Result:
        if statement.materialized:
            return create_materialized(statement, self)
        view = view_of(statement, self.environment(), self.state.catalog)
        self.create(view, statement, "CREATE VIEW")
        return Result()

    def _note_options(self, name: ObjectName, options: Sequence[ast.Option], named: Span | None = None) -> None:
        """Remember where options of a table are written: what they say is found wrong when the table is used."""
        places = self.state.option_places
        if named is not None:
            places[name, ""] = named
        places.update({(name, option.key): option.key_span.to(option.value_span) for option in options})

    def _if_exists(self, statement: ast.CreateTable | ast.CreateView, name: ObjectName) -> ddl.IfExists:
        """Return what an existing object means: an error if this script made it, else it must be the same."""
        if statement.or_replace:
            return "replace"
        if statement.if_not_exists:
            return "ignore"
        return "error" if statement.temporary or name.plain in self.state.created else "match"

    def _to_spark(self, statement: ast.Statement) -> Result:
        """Hand a statement on to Spark, which has rules of its own for what it reaches."""
        self.state.policy.require_own()
        return self.handler.spark(statement)

    def create(self, item: Relation, statement: ast.CreateTable | ast.CreateView, verb: str) -> None:
        """Store what a CREATE defines, by the statement's rules for a name that is taken."""
        options = statement.options if isinstance(statement, ast.CreateTable) else ()
        admit_defined(item, options, statement.name_span, self.state)
        if statement.or_replace:
            admit_defined(self.state.catalog.lookup(item.name), (), statement.name_span, self.state)
        if_exists = self._if_exists(statement, item.name)
        if isinstance(item, Table) and makes_table(item):
            self.handler.lakes().make(item)
        try:
            self.state.catalog.apply(ddl.create(item, if_exists), f"{verb} {item.name}")
        except SqlExtError as error:
            found = self.state.catalog.lookup(item.name)
            raise _at_option(error, statement, found, item) if error.code == "CAT-003" else error from None
        # A script that runs again gives its secrets again, although its table is there.
        self.state.catalog.give(item, anew=if_exists != "ignore")
        self.state.created.add(item.name.plain)

    def _alter_table(self, statement: ast.AlterTable) -> Result:
        catalog = self.state.catalog
        name = catalog.resolve(statement.name)
        admit_defined(catalog.lookup(statement.name), (), statement.name_span, self.state)
        if statement.action == "RENAME":
            new = self._new_name(name, statement.new_name)
            change = ddl.rename(name, new, if_exists=statement.if_exists)
        elif statement.action == "SET":
            options = {o.key: o.value for o in statement.options}
            changed = catalog.lookup(statement.name)
            if isinstance(changed, Table):
                merged = {**dict(changed.options), **options}
                altered = replace(changed, options=tuple(merged.items()))
                check_known(statement.options, altered)
                admit_defined(altered, statement.options, statement.name_span, self.state)
            change = ddl.set_options(name, options, if_exists=statement.if_exists)
            self._note_options(name, statement.options)
        elif statement.action == "RESET":
            self._check_reset(statement, catalog.lookup(statement.name))
            change = ddl.reset_options(name, statement.names, if_exists=statement.if_exists)
        else:
            alteration = alteration_of(statement, self.environment(), catalog)
            change = ddl.alter_table(name, alteration, if_exists=statement.if_exists)
            before = catalog.lookup(name)
            if isinstance(before, Table):
                # First: a run that breaks off between the two is made good by the same statement.
                self._alter_stored(statement, before, alteration(before))
        catalog.apply(change, f"ALTER TABLE {name} {statement.action}")
        return Result()

    def _check_reset(self, statement: ast.AlterTable, table: Relation | None) -> None:
        """Refuse keys that a table has not, and could not have (OPT-003); Flink resets them without a word."""
        connector = known(table) if isinstance(table, Table) else None
        if connector is None or not isinstance(table, Table):
            return
        for key, place in zip(statement.names, statement.name_spans, strict=True):
            if key == "connector":
                message = "a table has a connector: the option 'connector' cannot be reset"
                raise SqlExtError("OPT-001", message, span=place, hint="DROP TABLE, and CREATE it with another one")
            error = connector.refused_option(table, key) if table.option(key) is None else None
            if error is not None:
                raise error.at(place)

    def _alter_stored(self, statement: ast.AlterTable, before: Table, after: Table) -> None:
        """Change what lies behind a table, where its connector does that and the stored columns are others then."""
        connector = known(before)
        if connector is None or not connector.can_alter or written_columns(before) == written_columns(after):
            return
        renamed = ((statement.names[0], statement.names[1]),) if statement.action == "RENAME COLUMN" else ()
        alteration = Alteration(connector.write_spec(before), connector.write_spec(after), renamed)
        self.handler.alter_stored(before.name, alteration, statement.span)

    def _new_name(self, name: ObjectName, new: ast.Name) -> ObjectName:
        return ObjectName(name.catalog, name.database, new[0]) if len(new) == 1 else self.state.catalog.resolve(new)

    def _alter_view(self, statement: ast.AlterView) -> Result:
        catalog = self.state.catalog
        name = catalog.resolve(statement.name)
        if statement.query is None:
            change = ddl.rename(name, self._new_name(name, statement.new_name), view=True)
        else:
            # A view's new query is bound as that of a CREATE, so both have the same rules.
            create = ast.CreateView(statement.span, statement.name, statement.name_span, statement.query)
            made = view_of(create, self.environment(), catalog)
            change = ddl.alter_view(name, lambda v: replace(made, temporary=v.temporary, comment=v.comment))
        catalog.apply(change, f"ALTER VIEW {name}")
        return Result()

    def _drop(self, statement: ast.Drop) -> Result:
        catalog = self.state.catalog
        admit_dropped(statement, self.state)
        if statement.kind == "QUERY":
            return self.handler.drop_query(statement)
        if statement.kind == "FUNCTION":
            if drop_function(statement, self.state):
                return Result()
            if self.handler.spark_table() is None:
                require_function(statement, self.state)
            return self._to_spark(statement)
        if statement.kind == "MATERIALIZED VIEW":
            return drop_materialized(statement, self)
        if statement.kind in ("CATALOG", "DATABASE"):
            return drop_container(statement, self)
        name = catalog.resolve(statement.name)
        found = catalog.lookup(statement.name)
        refuse_drop(statement, found)
        self.state.created.discard(name.plain)
        if statement.kind == "TABLE" and drop_in_lake(found, statement, self):
            return Result()
        drop = ddl.drop_view if statement.kind == "VIEW" else ddl.drop_table
        change = drop(name, if_exists=statement.if_exists, temporary=statement.temporary)
        catalog.apply(change, f"DROP {statement.kind} {'.'.join(statement.name)}")
        return Result()

    def _create_function(self, statement: ast.CreateFunction) -> Result:
        if statement.altered and not knows_function(statement, self.state):
            return Result()
        if statement.language == "PYTHON":
            create_function(statement, self.state)
            return Result()
        # A script of Flink's runs unchanged where Python has a class for each of Java's.
        registered = {n.upper() for n in self.state.functions.names()}
        if statement.name[-1].upper() in registered:
            return Result()
        if statement.language or self.state.settings.expressions == "flink":
            raise java_class(statement)
        self.state.sparks.add(statement.name[-1].lower())
        return self._to_spark(statement)

    # Settings and questions

    def _use(self, statement: ast.Use) -> Result:
        if statement.kind == "CATALOG":
            self.state.catalog.use_catalog(statement.name[-1])
        else:
            self.state.catalog.use_database(statement.name)
        return Result()

    def _set(self, statement: ast.SetOption) -> Result:
        settings = self.state.settings
        if statement.key is None:
            return Result(("key", "value"), list(redact(settings.items())))
        if statement.value is None:
            require_known(statement.key, statement.key_span or statement.span)
            value = settings.get(statement.key)
            shown = value if value is None else redact_value(statement.key, value)
            return Result(("key", "value"), [(statement.key, shown)])
        self.state.policy.require_setting(statement.key)
        self.state.settings = settings.with_value(
            statement.key, statement.value, statement.key_span or statement.span, statement.value_span
        )
        return Result()

    def _reset(self, statement: ast.ResetOption) -> Result:
        self.state.policy.require_setting(statement.key)
        require_known(statement.key, statement.key_span or statement.span)
        self.state.settings = self.state.settings.without(statement.key)
        return Result()

    def _show(self, statement: ast.Show) -> Result:
        if statement.what == "WATERMARKS":
            return self.handler.show_watermarks(statement, self.environment())
        show_lake(statement, self)
        columns, rows = show(statement, self.state.catalog, self.environment())
        return Result(columns, rows)

    def _stop_job(self, statement: ast.StopJob) -> Result:
        return self.handler.stop_job(statement)

    def _alter_materialized(self, statement: ast.AlterMaterialized) -> Result:
        return alter_materialized(statement, self)

    def _describe(self, statement: ast.Describe) -> Result:
        columns, rows = describe(statement, self.state.catalog, self.environment())
        return Result(columns, rows)

    def _describe_catalog(self, statement: ast.DescribeCatalog) -> Result:
        columns, rows = describe_catalog(statement, self.state.catalog)
        return Result(columns, rows)

    # Queries

    def _explain(self, statement: ast.Explain) -> Result:
        created = statement.statement
        if isinstance(created, ast.CreateTable) and created.query is not None:
            return self._explain_fill(statement, created, created.query)
        return self.handler.explain(statement, self.environment())

    def _explain_fill(self, statement: ast.Explain, created: ast.CreateTable, query: Query) -> Result:
        """Explain the INSERT of a CREATE TABLE AS; the table is there for that alone, whatever has its name."""
        copy = Interpreter(self.state.fork(), self.handler)
        env = copy.environment()
        made = replace(created, or_replace=True, if_not_exists=False)
        copy.create(table_of(made, env, copy.state.catalog), made, "CREATE TABLE")
        fill = fill_of(created, query, env)
        return self.handler.explain(replace(statement, statement=fill), copy.environment())

    def _explain_why(self, statement: ast.ExplainWhy) -> Result:
        return self.handler.explain_why(statement, self.environment())

    def _explain_row(self, statement: ast.ExplainRow) -> Result:
        env = self.environment()
        named_table(statement.name, statement.name_span, env, OF_VIEW)  # before Spark is started to ask for it
        return self.handler.explain_row(statement, bind_query(statement.rows, env), env)

    def _analyze_watermark(self, statement: ast.AnalyzeWatermark) -> Result:
        return self.handler.analyze_watermark(statement, self.environment())

    def _replay(self, statement: ast.Replay) -> Result:
        env = self.environment()
        return self.handler.replay(bind_replay(statement, env), env)

    def _deploy(self, statement: ast.Deploy) -> Result:
        return self.handler.deploy(statement)

    def _insert(self, statement: ast.Insert) -> Result:
        return self._inserts(statement, (statement,))

    def _statement_set(self, statement: ast.StatementSet) -> Result:
        return self._inserts(statement, statement.inserts)

    def _inserts(self, statement: ast.Statement, inserts: Sequence[ast.Insert]) -> Result:
        env = self.environment()
        # All are bound before any runs: a set starts as one job or not at all.
        bound = [bind_insert(i, env) for i in inserts]
        for made, insert in zip(bound, inserts, strict=True):
            if keeping_query(made.table) is not None:
                raise written_by_query(made.table, insert.name_span)
        return self.handler.insert(statement, bound, env)

    def _select(self, statement: ast.SelectStatement) -> Result:
        env = self.environment()
        reads_sparks = self.state.settings.expressions == "spark" and not self.state.policy.restricted
        if reads_sparks and not concerns_us(statement.query, env):
            self._check_for_spark(statement.query)
            return self._to_spark(statement)
        plan = guarded(bind_query(statement.query, env), env, statement.span, into=False)
        return self.handler.select(statement, plan, env)

    def _with_sparks(self) -> Environment:
        """Return the surroundings of a statement that may be about what Spark has made, also in a dry run."""
        env, made = self.environment(), self.state.sparks
        return replace(env, spark_table=lambda parts: () if parts[-1].lower() in made else env.spark_table(parts))

    def _check_for_spark(self, query: Query) -> None:
        refuse_our_syntax(query)
        check_spark_tables(query, self._beside_sparks())
        if self.handler.spark_table() is None:
            check_spark_functions(query, self.state.sparks)

    def _beside_sparks(self) -> Environment:
        """Return the surroundings of a statement that goes to Spark; what lies in other databases may be there."""
        env = self._with_sparks()
        if self.handler.spark_table() is not None:
            return env
        # Spark is not there to be asked: such tables may be its own.
        elsewhere = self.state.catalog.is_elsewhere
        return replace(env, spark_table=lambda p: () if elsewhere(p) else env.spark_table(p))

    def _unparsed(self, statement: ast.UnparsedQuery) -> Result:
        # Spark may know syntax that we do not. Where one of our tables is named, our error says more than Spark's.
        ours = {r.name.name.lower() for r in self.state.catalog.snapshot().relations()}
        if self.handler.spark_table() is None or not ours.isdisjoint(n.lower() for n in statement.names):
            raise statement.error
        return self._to_spark(statement)

    def _about_sparks_table(self, statement: ast.Statement) -> Result:
        if isinstance(statement, ast.Drop):
            self.state.sparks.discard(statement.name[-1].lower())
        return self._to_spark(statement)

    def _spark(self, statement: ast.SparkStatement) -> Result:
        self.state.sparks.update(name[-1].lower() for name in statement.made)
        given = on_stored_tables(statement, self.environment())
        check_named(statement, self._beside_sparks())
        if self.handler.spark_table() is None:
            check_described(statement, self.state.sparks)
        if statement.change is not None:
            check_change(statement, self._beside_sparks(), self.state.sparks)
        return self._to_spark(given)


def _place(statement: ast.Statement, error: SqlExtError) -> Span:
    """Return where an error without a place is shown: of an unknown object at its name."""
    place: Span = getattr(statement, "name_span", statement.span) if error.code == "CAT-002" else statement.span
    return place


def _is_of_file(error: OSError) -> bool:
    """Return whether an error is that of a file, and not that of a connection."""
    return error.filename is not None or error.errno in _OF_DISK


def _unusable(error: OSError) -> SqlExtError:
    """Return the refusal of a file that cannot be written or read: a full disk, rights (CAT-035)."""
    return SqlExtError("CAT-035", f"a file cannot be used: {told(error)}", hint=MAKES_ROOM)


def bind_query(query: Query, env: Environment) -> PlanNode:
    """Return the plan of a query."""
    return QueryBinder(env).bind_whole(query)


def _at_option(
    error: SqlExtError, statement: ast.CreateTable | ast.CreateView, found: Relation | None, item: Relation
) -> SqlExtError:
    """Return CAT-003 at an option with another value; where variables give it, with what can be done."""
    if not isinstance(found, Table) or not isinstance(item, Table):
        return error
    changed = changed_options(found.options, item.options)
    at = next((o.value_span for o in statement.options if o.key in changed), None)
    if at is None or not at.variables:
        return error if at is None else error.at(at)
    given = " and ".join(f"${{{name}}}" for name in at.variables)
    hint = (
        f"run it with the old value of {given}, or with a catalog of its own (--catalog DIR); "
        "CREATE OR REPLACE puts the new value into this catalog"
    )
    return SqlExtError(error.code, error.message, span=at, hint=hint)
