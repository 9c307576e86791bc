"""Run statements in a thread of their own, show their results, and end them on Ctrl-C."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from sqlext.cli.formats import print_rows
from sqlext.cli.messages import tell
from sqlext.cli.progress import Watch, by_sink, summary
from sqlext.cli.run import warnings_shown
from sqlext.cli.shell.interrupts import interrupts
from sqlext.cli.shell.screen import prints_changes, screen_for
from sqlext.errors import SqlExtError
from sqlext.jobs.tables import console
from sqlext.spark.failures import run_error

if TYPE_CHECKING:
    from sqlext.jobs.query import Query
    from sqlext.jobs.result import Result
    from sqlext.session.api import Session
    from sqlext.settings import Settings

    #: A result, the settings under which its statement ran, and when (in seconds of the monotonic clock) it came: the
    #: worker is ahead of what is shown.
    Arrived = tuple[Result, Settings, float]

_SECONDS_OF_SILENCE = 0.5
#: Lines around the rows of a table: its head and its lines, how many rows it has, the prompt.
_OTHER_LINES = 7
_SECONDS_BETWEEN_LOOKS = 0.25


@dataclass
class Shell:
    """One session and what it shows.

    The main thread is the one that Ctrl-C reaches, so it only waits and shows. A statement runs in the worker. Spark
    starts in a third one, and so leaves the meaning of Ctrl-C alone.

    Attributes:
        form: how rows are shown unless ``SET 'sqlext.shell.format'`` says otherwise.
        silent: show rows and errors only.
        timer: say how long each statement took.
        pager: show tables that are longer than the screen in the pager (PAGER, or ``less``).
    """

    session: Session
    variables: Mapping[str, str]
    form: str = "table"
    silent: bool = False
    timer: bool = True
    pager: bool = False
    output: Console = field(default_factory=console)
    messages: Console = field(default_factory=lambda: console(stderr=True))

    def __post_init__(self) -> None:
        """Begin with nothing under way."""
        # One thread: statements run in their order.
        self._worker = ThreadPoolExecutor(1, "sqlext shell")
        self._starter = ThreadPoolExecutor(1, "sqlext start")
        self._starting: Future[object] | None = None
        self._jobs: list[Query] = []

    def start_spark(self) -> None:
        """Let Spark start while somebody is still typing; the first statement that needs it tells what goes wrong."""
        self._starting = self._starter.submit(lambda: self.session.spark)

    def run(self, script: str | os.PathLike[str]) -> bool:
        """Run statements, a text or a file, and show what they give; return whether all went well."""
        began, arrived = time.monotonic(), SimpleQueue["Arrived | None"]()
        interrupted, well = False, True
        with warnings_shown(self.messages):
            running = self._worker.submit(
                self.session.run,
                script,
                self.variables,
                on_statement=lambda result: arrived.put((result, self.session.settings, time.monotonic())),
            )
            running.add_done_callback(lambda _: arrived.put(None))  # wakes the loop below: nothing more will come
            while True:
                try:
                    next_ = self._ended(arrived) if interrupted else self._next(arrived)
                    if next_ is None:
                        break
                    result, settings, came = next_
                    well = self._told(result, settings, max(0.0, came - began)) and well
                    # The next statement has begun when this one was done.
                    began = came if result.query is None else time.monotonic()
                except KeyboardInterrupt:
                    self.session.interrupt()
                    interrupted = True
        error = running.exception()
        # An interrupted statement fails by being cancelled, which the user knows.
        if error is not None and not interrupted:
            tell(run_error(error, None))
        if interrupted:
            self._say("interrupted")
        return well and error is None

    def close(self, *, wait: bool) -> bool:
        """Stop the jobs that still run, or wait until they end (Ctrl-C stops them); return whether all went well."""
        well = True
        for job in self._jobs:
            try:
                if not wait and job.is_active:
                    self._say(f"stopping job `{job.name}`; it goes on where it was when its statement is run again")
                    job.stop()
                job.await_termination()
            except KeyboardInterrupt:
                # Ctrl-C is for all jobs: none of the others is waited for either.
                wait = False
                job.stop()
            except SqlExtError as error:
                tell(error)
                well = False
        self._worker.shutdown()
        self._starter.shutdown()
        return well

    def tell_of_failed_jobs(self) -> None:
        """Say which jobs in the background have failed since one last asked."""
        for job in [j for j in self._jobs if not j.is_active]:
            self._jobs.remove(job)
            if job.exception is not None:
                tell(job.exception)

    def _next(self, arrived: SimpleQueue[Arrived | None]) -> Arrived | None:
        """Return what comes next; after a while say that something is under way."""
        try:
            return arrived.get(timeout=_SECONDS_OF_SILENCE)
        except Empty:
            # Drawn over and over, the line is for a terminal alone.
            if self.silent or not self.messages.is_terminal:
                return arrived.get()
        starts = self._starting is not None and not self._starting.done()
        with self.messages.status(f"{'starting Spark' if starts else 'running'} ... Ctrl-C ends it"):
            return arrived.get()

    def _ended(self, arrived: SimpleQueue[Arrived | None]) -> Arrived | None:
        """Return what comes next, and go on interrupting: what was not yet under way heard nothing of it."""
        while True:
            try:
                return arrived.get(timeout=_SECONDS_OF_SILENCE)
            except Empty:
                self.session.interrupt()

    def _told(self, result: Result, settings: Settings, seconds: float) -> bool:
        try:
            self._show(result, settings, seconds)
        except SqlExtError as error:
            if result.query is None or result.query.bounded:
                return False  # a bounded query's failure is that of its statement
            tell(error)
            return False
        return True

    def _show(self, result: Result, settings: Settings, seconds: float) -> None:
        """Show a result, which came after some seconds; a query is followed from then on."""
        followed = time.monotonic()
        form = settings.get("sqlext.shell.format") or self.form
        live = result.live()
        if result.query is not None and live is not None:
            mode = settings.get("sql-client.execution.result-mode") or "table"
            screen = screen_for(result, self.output, mode, form)
            with screen:
                _until_stopped(result.query, lambda query: screen.update(query, live))
            # Every change stands on the screen: the rows at the end would only repeat them.
            if prints_changes(screen):
                return
        elif result.query is not None and not self._follow_job(result.query):
            return
        if result.query is not None:
            seconds += time.monotonic() - followed
        said = "ok"
        if result.columns:
            rows = result.rows
            paged = self._is_paged(form, len(rows))
            with self.output.pager(styles=True) if paged else nullcontext():
                print_rows(form, result.columns, rows, self.output, every=paged)
            said = f"{len(rows):,} {'row' if len(rows) == 1 else 'rows'}"
        self._say(f"{said} ({_shown(seconds)})" if self.timer else said)

    def _is_paged(self, form: str, rows: int) -> bool:
        """Whether a table is shown in the pager: if that is wanted and it does not fit the screen."""
        long = rows > self.output.height - _OTHER_LINES
        return self.pager and long and form == "table" and self.output.is_terminal

    def _follow_job(self, query: Query) -> bool:
        """Wait for a bounded job; leave any other in the background, and return False."""
        if not query.bounded:
            self._jobs.append(query)
            self._say(f"job `{query.name}` runs; SHOW JOBS lists it, STOP JOB '{query.name}' stops it")
            return False
        with Watch(self.messages, shown=not self.silent) as watch:
            watch.add(query)
            _until_stopped(query)
        for name, progress in by_sink(query):
            self._say(summary(name, progress))
        return True

    def _say(self, text: str) -> None:
        if not self.silent:
            self.messages.print(Text(text, "dim"), soft_wrap=True)


def _shown(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds < 1 else f"{seconds:,.1f} s"


def _until_stopped(query: Query, look: Callable[[Query], object] = lambda query: None) -> None:
    """Look at a query again and again until it has ended, which Ctrl-C brings about.

    Raises:
        SqlExtError: why it failed.
    """
    with interrupts() as pressed:
        while not query.await_termination(_SECONDS_BETWEEN_LOOKS):
            look(query)
            if pressed.is_set():
                query.stop()
                break
        # Once more: the last micro-batch may have ended after the last look.
        look(query)
