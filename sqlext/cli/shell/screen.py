"""Show a streaming SELECT while it runs: its rows or its changes, and its progress."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from sqlext.cli.formats import ChangeText, print_line
from sqlext.cli.progress import lag, watermark
from sqlext.jobs.tables import result_table

if TYPE_CHECKING:
    from sqlext.jobs.query import Query
    from sqlext.jobs.result import Result
    from sqlext.sinks.live_rows import LiveRows

#: Lines around the rows: the table's head and lines, what says that rows are above, the status, an empty line.
_OTHER_LINES = 8


class Screen:
    """Shows what a query gives, from ``with`` on. This one shows nothing."""

    def __init__(self, columns: Sequence[str], console: Console, form: str) -> None:
        self.columns = columns
        self.console = console
        self.form = form

    def update(self, query: Query, live: LiveRows) -> None:
        """Show what is new."""

    def __enter__(self) -> Screen:
        """Start to show."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop to show."""


class ChangeLines(Screen):
    """Every change as a line, as it comes."""

    def __init__(self, columns: Sequence[str], console: Console, form: str) -> None:
        super().__init__(columns, console, form)
        self._text = ChangeText(form, columns)

    def update(self, query: Query, live: LiveRows) -> None:
        """Print what is new."""
        for line in self._text.lines(live.take()):
            print_line(line, self.console)


class _LiveScreen(Screen):
    """Draws over what it has drawn, on a terminal; nothing of it is left at the end."""

    def __init__(self, columns: Sequence[str], console: Console, form: str) -> None:
        super().__init__(columns, console, form)
        # Drawn by ``update`` alone: a thread of rich's would draw old rows again and again.
        self._picture = Live(console=console, auto_refresh=False, transient=True)

    def __enter__(self) -> Screen:
        self._picture.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._picture.stop()


class LiveTable(_LiveScreen):
    """The rows that stand now, the last of them where there are more than fit, and a line of status."""

    def update(self, query: Query, live: LiveRows) -> None:
        """Draw the table anew."""
        # What changed is not shown here, but only rows that were taken stand in ``live.rows``.
        live.take()
        rows = live.rows
        shown = rows[-max(1, self.console.height - _OTHER_LINES) :]
        above = [Text(f"  ... {len(rows) - len(shown):,} more rows above", "dim")] if len(shown) < len(rows) else []
        status = status_line(len(rows), query.progress)
        self._picture.update(Group(*above, result_table(self.columns, shown), status), refresh=True)


class LiveChanges(_LiveScreen):
    """Every change as a line, and below them the status."""

    def __init__(self, columns: Sequence[str], console: Console, form: str) -> None:
        super().__init__(columns, console, form)
        self._changes = ChangeLines(columns, console, form)

    def update(self, query: Query, live: LiveRows) -> None:
        """Print what is new above the status."""
        self._changes.update(query, live)
        self._picture.update(status_line(len(live.rows), query.progress), refresh=True)


def screen_for(result: Result, console: Console, mode: str, form: str) -> Screen:
    """Return how a query is followed: live where somebody looks, else its changes if it has no end."""
    endless = result.query is not None and not result.query.bounded
    kind: type[Screen] = ChangeLines if mode == "changelog" or endless else Screen
    if console.is_terminal and mode != "tableau":
        kind = LiveChanges if mode == "changelog" else LiveTable
    return kind(result.columns, console, form)


def prints_changes(screen: Screen) -> bool:
    """Whether the rows are all there already when the query has ended."""
    return isinstance(screen, (ChangeLines, LiveChanges))


def status_line(rows: int, progress: Mapping[str, Any]) -> Text:
    """Return rows, watermark, lag (of the watermark, behind the clock) and micro-batches as one line."""
    seen = progress.get("watermark")
    parts = [
        f"{rows:,} rows",
        f"watermark {watermark(seen)}",
        f"lag {lag(seen, int(time.time() * 1000))}",
        f"batch {progress.get('batch') or 0}",
    ]
    dropped = progress.get("rows_dropped") or 0
    late = [f"{dropped:,} late and dropped"] if dropped else []
    return Text(" | ".join([*parts, *late, "Ctrl-C ends the query"]), "reverse")
