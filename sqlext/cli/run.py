"""Run a script for ``sqlext run``; print results and progress as they come."""

from __future__ import annotations

import shlex
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from rich.console import Console

from sqlext.cli.parameters import DEFAULT_CATALOG
from sqlext.cli.progress import Watch, by_sink, summary
from sqlext.cli.restarting import Restarts
from sqlext.cli.ui import where
from sqlext.errors import SqlExtError
from sqlext.jobs.tables import console, result_table
from sqlext.spark.notices import Notice

if TYPE_CHECKING:
    from sqlext.jobs.query import Query
    from sqlext.jobs.result import Result
    from sqlext.policy import Restrictions
    from sqlext.session.api import Session

_FIRST_ROWS = 10


@dataclass(frozen=True, slots=True)
class RunArguments:
    """Arguments of ``sqlext run``.

    Times are in milliseconds, ``metrics`` and ``ui`` are the addresses that serve them, ``conf`` are settings of Spark
    and of SET. ``restricted`` is what others' SQL may use.
    """

    catalog: str
    checkpoint: str | None = None
    run_for: int | None = None
    trigger_interval: int | None = None
    progress: bool = True
    metrics: tuple[str, int] | None = None
    ui: tuple[str, int] | None = None
    conf: Mapping[str, str] = field(default_factory=dict, repr=False)
    restricted: bool | Restrictions = False
    restarts: int = 0


def run_script(file: Path, variables: dict[str, str], options: RunArguments) -> None:
    """Run a script, show each result when it is there, and say at the end what each query wrote.

    Raises:
        SqlExtError: what the Session raised; what ran before it stands.
    """
    from sqlext.locations import catalog_place
    from sqlext.session.api import Session

    output, messages = console(), console(stderr=True)

    def starting(version: str) -> None:
        if options.progress:
            messages.print(f"starting Spark {version} ...", markup=False, highlight=False)

    session = Session(
        catalog=catalog_place(options.catalog),
        settings=options.conf,
        starting=starting,
        restricted=options.restricted,
    )
    shown = ResultPrinter(output)
    written: dict[str, None] = {}  # in the order of the statements
    with served(session, options, messages), Watch(messages, shown=options.progress) as watch, warnings_shown(messages):
        started: list[Query] = []

        def show(result: Result) -> None:
            if result.query is not None:
                watch.add(result.query)
                started.append(result.query)
            shown.add(result)
            written.update(dict.fromkeys(result.writes))

        def job() -> None:
            started.clear()
            try:
                session.run(
                    file,
                    variables=variables,
                    on_statement=show,
                    checkpoint=options.checkpoint,
                    run_for=options.run_for,
                    trigger_interval=options.trigger_interval,
                )
                for running in started:
                    running.await_termination()
            except SqlExtError:
                session.stop()  # the others of the script: whoever begins again begins them too
                raise

        try:
            Restarts(options.restarts, _telling(messages)).run(job)
        except KeyboardInterrupt:  # the usual end of an unbounded query, so the summary follows
            session.stop()
    # After the block: the picture of the progress is gone then, and all rows are there.
    shown.flush()
    for query in watch.queries:
        for name, progress in by_sink(query):
            messages.print(summary(name, progress), markup=False, highlight=False)
    if options.progress:
        for table in written:
            _show_first_rows(session, table, options.catalog, messages)


def _telling(messages: Console) -> Callable[[SqlExtError, str], None]:
    """Return what tells a failure after which the job begins again."""

    def tell(error: SqlExtError, done: str) -> None:
        messages.print(f"{error.render()}\n{done}", markup=False, highlight=False)

    return tell


def _show_first_rows(session: Session, table: str, catalog: str, messages: Console) -> None:
    """Show the first rows of a table that the script has written, and how to see all of them."""
    found = session.first_rows(table, _FIRST_ROWS)
    if found is None:
        return
    name = table.rsplit(".", 1)[-1]
    messages.print(f"\nfirst rows of {name}:", markup=False, highlight=False)
    messages.print(result_table(found.columns, found.rows))
    where = "" if catalog == DEFAULT_CATALOG else f" --catalog {shlex.quote(catalog)}"
    command = shlex.quote(f"SELECT * FROM {table}")
    messages.print(f"all of them: {_program()} shell -S{where} -e {command}", markup=False, highlight=False)


def _program() -> str:
    """Return what starts this program in the user's shell: its path where its name alone does not."""
    called = sys.argv[0]
    return shlex.quote(called) if Path(called).name == "sqlext" and shutil.which("sqlext") is None else "sqlext"


@contextmanager
def served(session: Session, options: RunArguments, messages: Console) -> Iterator[None]:
    """Serve metrics and the page of queries meanwhile, if somebody wants them."""
    with ExitStack() as servers:
        if options.metrics is not None:
            from sqlext.metrics import serve

            address, port = options.metrics
            metrics = servers.enter_context(serve(session, port, address))
            messages.print(f"metrics: http://{address}:{metrics.port}/metrics", markup=False, highlight=False)
        if options.ui is not None:
            from sqlext.ui.server import serve as serve_page

            address, port = options.ui
            page = servers.enter_context(serve_page(session, port, address))
            for line in where(page.url, page.url_to_stop):
                messages.print(line, markup=False, highlight=False, soft_wrap=True)
        yield


@contextmanager
def warnings_shown(messages: Console) -> Iterator[None]:
    """Print warnings of ours as lines, not with the place in our code from which they come."""
    with warnings.catch_warnings():
        # By default Python shows a warning once for each place in the code, and not for each query.
        warnings.simplefilter("always", Notice)
        before = warnings.showwarning

        def show(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if issubclass(category, Notice):
                messages.print(f"warning: {message}", markup=False, highlight=False)
            else:
                before(message, category, filename, lineno, file, line)

        warnings.showwarning = show
        yield


class ResultPrinter:
    """Prints results in the order of their statements, rows of a streaming query once it has ended."""

    def __init__(self, output: Console) -> None:
        self._output = output
        self._waiting: list[Result] = []

    def add(self, result: Result) -> None:
        """Print this result, unless its rows are still to come."""
        self.flush()
        self._waiting.append(result)
        if result.query is None:
            self.flush()

    def flush(self) -> None:
        """Print what was waiting: its query has ended, or will give no more rows."""
        for result in self._waiting:
            if result.columns:
                self._output.print(result_table(result.columns, result.rows))
        self._waiting.clear()
