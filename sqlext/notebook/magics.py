"""Define the magics of notebooks: each calls the Session and shows what it returns."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from decimal import Decimal
from numbers import Number
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, TypeVar

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, line_cell_magic, line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from IPython.display import display

from sqlext.errors import did_you_mean
from sqlext.jobs.result import Result
from sqlext.notebook.running import QueryDisplay
from sqlext.notebook.terminal import colour, uncolour
from sqlext.notebook.views import PlanView, PlotView, TimelineView, progress_view, result_view
from sqlext.settings import parse_duration

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from sqlext.jobs.query import Query
    from sqlext.session.api import Session

T = TypeVar("T")
_DEFINE = argument("-D", "--define", action="append", default=[], metavar="NAME=value", help="the text of ${NAME}")
_VARIABLE = argument(
    "-v",
    "--variable",
    action="append",
    default=[],
    metavar="NAME[=python]",
    help="${NAME} is a Python variable's value",
)


@magics_class
class SqlextMagics(Magics):
    """Commands over one Session, which works in the notebook's own Spark session."""

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell)
        self._session: Session | None = None
        self._spark: object = None
        self._catalog: str | None = None
        self._running: list[QueryDisplay] = []
        self._last: Result | None = None

    @property
    def session(self) -> Session:
        """The session: that of ``sqlext.install``, else one in the variable ``spark``, else one with its own Spark."""
        spark = self._user_ns.get("spark")
        if self._session is None or spark is not self._spark:  # a cell may have put another Spark there
            self._session, self._spark = _session_in(spark, self._catalog), spark
        return self._session

    @magic_arguments()
    @_DEFINE
    @_VARIABLE
    @argument("-o", "--out", metavar="NAME", help="the Python variable that gets the last result")
    @argument("--for", dest="run_for", metavar="DURATION", help="stop unbounded queries after this time: '30 s'")
    @cell_magic
    def sqlext(self, line: str, cell: str) -> None:
        """Run the statements of a cell and show what each gives."""
        options = parse_argstring(self.sqlext, line)
        shown: list[QueryDisplay] = []
        try:
            results = self.session.run(
                cell,
                variables=self._variables(options),
                on_statement=lambda result: self._show(result, shown),
                run_for=_millis(options.run_for),
            )
        finally:
            for running in shown:
                if not running.query.is_active:  # the last picture must come before the cell ends
                    running.wait()
        if options.out and results:
            self._user_ns[options.out] = results[-1]

    @magic_arguments()
    @_DEFINE
    @_VARIABLE
    @argument("sql", nargs="*", help="a statement, where it is not in the cell")
    @line_cell_magic
    def sqlext_explain(self, line: str, cell: str | None = None) -> PlanView:
        """Show the plans of queries as pictures; nothing runs."""
        options = parse_argstring(self.sqlext_explain, line if cell is not None else "")
        text = cell if cell is not None else line
        explain = self.session.explain
        variables = self._variables(options)
        plans = [json.loads(plan) for plan in explain(text, variables, "json")]
        return PlanView(plans, explain(text, variables))

    @magic_arguments()
    @_DEFINE
    @_VARIABLE
    @argument("script", help="a file, where the script is not in the cell")
    @line_cell_magic
    def sqlext_plan(self, line: str, cell: str | None = None) -> None:
        """Say what running a script would do to tables, queries and sinks; nothing runs."""
        options = parse_argstring(self.sqlext_plan, line if cell is None else f"{line} cell")
        print(self.session.plan(cell if cell is not None else options.script, self._variables(options)))

    @line_magic
    def sqlext_jobs(self, line: str) -> object:
        """Show how far the queries are that this notebook has started."""
        return progress_view([part for query in self._queries() for part in _parts(query)])

    @line_magic
    def sqlext_stop(self, line: str) -> None:
        """Stop a running query by its name, or all without one; their places are kept."""
        stopped = self._named(line.strip(), [q for q in self._queries() if q.is_active])
        for query in stopped:
            query.stop()
        for running in self._running:  # what a display gets between two cells is lost where nobody looks at it live
            if running.query in stopped:
                running.wait()

    @line_magic
    def sqlext_timeline(self, line: str) -> TimelineView:
        """Show how the watermarks of a query went, or of all without a name."""
        found = self._named(line.strip(), self._queries())
        return TimelineView(dict(_distinct(part for query in found for part in query.moments.items())))

    @line_magic
    def sqlext_plot(self, line: str) -> PlotView:
        """Draw the rows that the last statement has given so far, or those of a result in a Python variable."""
        name = line.strip()
        result = self._user_ns.get(name) if name else self._last
        if not isinstance(result, Result):
            what = f"`{name}` is no result; %%sqlext -o {name} makes it one" if name else "there is no result yet"
            raise UsageError(what)
        return PlotView(result.columns, result.rows, result.curve)

    @line_magic
    def sqlext_session(self, line: str) -> Session:
        """Return the session: ``session = %sqlext_session``."""
        return self.session

    @line_magic
    def sqlext_catalog(self, line: str) -> None:
        """Begin a new session over the catalog in a folder; queries that run go on."""
        self._catalog, self._session = line.strip() or None, None

    @property
    def _user_ns(self) -> dict[str, Any]:
        assert self.shell is not None
        names: dict[str, Any] = self.shell.user_ns
        return names

    def _show(self, result: Result, shown: list[QueryDisplay]) -> None:
        if result.columns:
            self._last = result
        if result.query is None:
            if result.columns:
                display(result_view(result))
            return
        running = QueryDisplay(result, result.query)
        shown.append(running)
        self._running.append(running)
        running.show()

    def _queries(self) -> list[Query]:
        own = [r.query for r in self._running]
        others = self._session.queries if self._session is not None else ()
        return [*own, *(q for q in others if q not in own)]

    def _named(self, name: str, queries: list[Query]) -> list[Query]:
        found = [q for q in queries if not name or name in (q.name, *q.parts)]
        if name and not found:
            hint = did_you_mean(name, [q.name for q in queries]) or "see %sqlext_jobs"
            raise UsageError(f"there is no such query `{name}`; {hint}")
        return found

    def _variables(self, options: Any) -> dict[str, str]:
        given = dict(_pair(text) for text in options.define)
        return given | dict(self._from_python(text) for text in options.variable)

    def _from_python(self, text: str) -> tuple[str, str]:
        name, _, variable = text.partition("=")
        variable = variable or name
        if variable not in self._user_ns:
            raise UsageError(f"there is no Python variable `{variable}` for ${{{name}}}")
        return name, _as_text(variable, self._user_ns[variable])


def load(shell: InteractiveShell) -> None:
    """Register the magics."""
    shell.register_magics(SqlextMagics)
    colour(shell)


def unload(shell: InteractiveShell) -> None:
    """Take them away again; queries that run go on."""
    for kinds in shell.magics_manager.magics.values():
        for name in [n for n in kinds if n.startswith("sqlext")]:
            del kinds[name]
    shell.magics_manager.registry.pop(SqlextMagics.__name__, None)
    uncolour()


def _session_in(spark: object, catalog: str | None) -> Session:
    import sqlext
    from sqlext.session.spark_sql import installed
    from sqlext.spark.sessions import is_spark

    if not is_spark(spark):
        return sqlext.connect(catalog=catalog)
    found = installed(spark) if catalog is None else None
    return found or sqlext.connect(spark, catalog, isolated=False)  # type: ignore[arg-type]


def _parts(query: Query) -> Iterable[tuple[str, Mapping[str, Any]]]:
    from sqlext.cli.progress import by_sink

    return by_sink(query)


def _distinct(named: Iterable[tuple[str, T]]) -> Iterator[tuple[str, T]]:
    """Yield pairs with names of their own: a SELECT that is run again has the name that it had."""
    times: Counter[str] = Counter()
    for name, value in named:
        times[name] += 1
        yield name if times[name] == 1 else f"{name} ({times[name]})", value


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"--define takes NAME=value, not `{text}`")
    return name, value


def _as_text(name: str, value: object) -> str:
    """Return the text of a value that has one and no more."""
    if isinstance(value, PathLike):
        return str(fspath(value))
    if isinstance(value, (str, Number, Decimal, date)) and not isinstance(value, bool):
        return str(value)
    raise UsageError(f"the Python variable `{name}` is a {type(value).__name__}: give a text, number, path or date")


def _millis(duration: str | None) -> int | None:
    millis = None if duration is None else parse_duration(duration.strip("'\""))
    if duration is not None and millis is None:
        raise UsageError(f"--for takes a duration such as '30 s', not {duration}")
    return millis
