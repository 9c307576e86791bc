"""Show the progress of running queries: live on a terminal, line by line in a log."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from itertools import chain
from types import TracebackType
from typing import Any, Protocol

from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

# The year 9000. The end of bounded input moves the watermark to the last date there is, less its delay.
_NEAR_END_MS = 221_845_392_000_000
_SECONDS_BETWEEN_LOOKS = 0.25
# Where lines stay: how often one comes while something changes, and while nothing does.
_SECONDS_BETWEEN_LINES = 5.0
_SECONDS_OF_SILENCE = 30.0
#: Wider than any screen.
_ANY_WIDTH = 10_000
_SIZES = (("GB", 10**9), ("MB", 10**6), ("kB", 10**3))
_UNITS = (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1000))
_TITLES = (
    "query, batch, batch time, rows in, rows/s, watermark, lag, open windows, state, rows out, late and dropped, status"
)
_COLUMNS = _TITLES.split(", ")


class RunningQuery(Protocol):
    """The part of a query that the display needs."""

    @property
    def name(self) -> str:
        """The query's name."""

    @property
    def bounded(self) -> bool:
        """Whether it ends by itself: then nobody asks how far its watermark is behind the clock."""

    @property
    def progress(self) -> Mapping[str, Any]:
        """``batch``, ``rows_in``, ``watermark`` (ms), ``state_rows``, ``state_bytes``, ``rows_out``, ``rows_dropped``,
        ``status``, ``last_rows`` and ``last_ms`` of the last batch."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Decides when a line of progress is worth its place in a log; all in seconds of one clock.

    Attributes:
        line: what was said last.
        at: when.
    """

    line: str
    at: float

    def due(self, line: str, now: float, *, ended: bool) -> bool:
        """Whether to say what is to be said now: what is new, but rarely, and at the end; the same once in a while."""
        if line != self.line:
            return ended or now - self.at >= _SECONDS_BETWEEN_LINES
        return not ended and now - self.at >= _SECONDS_OF_SILENCE


class Watch:
    """Shows the progress of the queries that were added, until the ``with`` block ends."""

    def __init__(self, console: Console, *, shown: bool = True) -> None:
        self.queries: list[RunningQuery] = []
        self._began = time.monotonic()
        self._console = console
        self._shown = shown
        self._live = Live(self, console=console, refresh_per_second=4, transient=True)
        self._lines = threading.Thread(target=self._print_lines, daemon=True)
        self._ended = threading.Event()

    def add(self, query: RunningQuery) -> None:
        """Show this query too."""
        self.queries.append(query)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield what rich's Live draws again and again: the widest form that fits the screen."""
        if self.queries:
            seconds = time.monotonic() - self._began
            wide, high = progress_table(self.queries, seconds), progress_list(self.queries, seconds)
            lines = Text("\n".join(chain.from_iterable(map(_lines, self.queries))))
            unlimited = options.update(max_width=_ANY_WIDTH)
            fits = (t for t in (wide, high) if Measurement.get(console, unlimited, t).maximum <= options.max_width)
            yield next(fits, lines)

    def __enter__(self) -> Watch:
        """Start to show."""
        if self._shown and self._console.is_terminal:
            self._live.start()
        elif self._shown:
            self._lines.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop to show."""
        self._ended.set()
        self._live.stop()
        if self._lines.is_alive():
            # Its last lines come before the summary.
            self._lines.join()

    def _print_lines(self) -> None:
        said: dict[tuple[int, str], Pace] = {}  # queries of one script may have one name
        ended = False
        while not ended:
            # The loop runs once more after the end, so that the last counts are printed.
            ended = self._ended.wait(_SECONDS_BETWEEN_LOOKS)
            # A copy: the main thread adds queries meanwhile.
            for query in tuple(self.queries):
                for name, progress in by_sink(query):
                    # The lag changes with the clock: it is no news by itself.
                    line, now = progress_line(name, progress), time.monotonic()
                    before = said.get((id(query), name))
                    over = progress.get("status", "running") != "running"
                    # What is over before anything was said of it has its summary.
                    if not over if before is None else before.due(line, now, ended=ended or over):
                        said[id(query), name] = Pace(line, now)
                        shown = progress_line(name, progress, _now(query))
                        self._console.print(shown, markup=False, highlight=False)


def by_sink(query: RunningQuery) -> Iterable[tuple[str, Mapping[str, Any]]]:
    """Return the progress of each single query of a job (a statement set has several), by name."""
    progress = query.progress
    parts: Mapping[str, Mapping[str, Any]] = progress.get("parts") or {query.name: progress}
    return parts.items()


def progress_table(queries: Sequence[RunningQuery], seconds: float | None = None) -> Table:
    """Return a table with one row per query; ``seconds`` is for how long they have been watched."""
    table = Table(box=box.SIMPLE_HEAD)
    for title in _COLUMNS:
        table.add_column(title, justify="left" if title in ("query", "watermark", "status") else "right")
    for cells in _cells(queries, seconds):
        table.add_row(*cells)
    return table


def progress_list(queries: Sequence[RunningQuery], seconds: float | None = None) -> Table:
    """Return the same with one column per query, for narrow screens."""
    table = Table.grid(padding=(0, 2))
    for cells in zip(_COLUMNS, *_cells(queries, seconds), strict=True):
        table.add_row(*cells)
    return table


def _cells(queries: Iterable[RunningQuery], seconds: float | None) -> Iterator[list[str]]:
    for query in queries:
        for name, p in by_sink(query):
            yield [
                name,
                _count(p.get("batch")),
                _seconds(p.get("last_ms")),
                _count(p.get("rows_in")),
                rows_a_second(p),
                watermark(p.get("watermark")),
                lag(p.get("watermark"), _now(query)),
                _count(p.get("state_rows")),
                size(p.get("state_bytes")),
                _count(p.get("rows_out")),
                _count(p.get("rows_dropped")),
                _status(p, seconds),
            ]


def _lines(query: RunningQuery) -> Iterator[str]:
    return (progress_line(name, p, _now(query)) for name, p in by_sink(query))


def progress_line(name: str, p: Mapping[str, Any], now: int | None = None) -> str:
    """Return one line for a log; with ``now``, in ms since 1970 UTC, it says how far the watermark is behind."""
    if not p.get("batch") and p.get("status") == "finished":
        return _counts(name, p)
    if not p.get("batch"):
        return f"{name}: {p.get('status') or 'running'}, no micro-batch is done yet"
    taken = f" ({_seconds(p['last_ms'])}, {rows_a_second(p)} rows/s)" if p.get("last_ms") else ""
    behind = lag(p.get("watermark"), now)
    lags = "" if behind == "-" else f" ({behind} behind the clock)"
    state = f" ({size(p['state_bytes'])})" if p.get("state_bytes") else ""
    return (
        f"{name}: batch {_count(p.get('batch'))}{taken}, {_count(p.get('rows_in'))} rows in, "
        f"watermark {watermark(p.get('watermark'))}{lags}, {_count(p.get('state_rows'))} windows open{state}, "
        f"{_count(p.get('rows_out'))} rows out, {_count(p.get('rows_dropped'))} late and dropped"
    )


def rows_a_second(p: Mapping[str, Any]) -> str:
    """Return the rows that the last micro-batch has read in a second, ``-`` before the first; few ones with a digit."""
    if not p.get("last_ms"):
        return "-"
    pace = 1000 * (p.get("last_rows") or 0) / p["last_ms"]
    return f"{pace:,.0f}" if pace >= 10 or pace == 0 else f"{pace:.1f}"


def summary(name: str, p: Mapping[str, Any]) -> str:
    """Return the last word on a query: how many rows came out, and whether the last windows did."""
    counts = _counts(name, p)
    if not p.get("batch") and p.get("status") == "finished":  # no stream, so nobody has counted windows
        return counts
    if p.get("watermark") is None and p.get("status") == "finished":
        return f"{counts}, no windows"
    dropped = p.get("rows_dropped") or 0
    late = f"{dropped:,} late rows dropped" if dropped else "no row was late"
    return f"{counts}, {_windows(p)}, {late}"


def _counts(name: str, p: Mapping[str, Any]) -> str:
    return f"{name}: {_count(p.get('rows_in'))} rows in, {_count(p.get('rows_out'))} rows out"


def _windows(p: Mapping[str, Any]) -> str:
    left = p.get("state_rows") or 0
    if not at_end(p.get("watermark")):
        return f"stopped at watermark {watermark(p.get('watermark'))} with {left:,} windows open"
    return f"{left:,} windows did not come out" if left else "every window came out"


def watermark(millis: int | None) -> str:
    """Return a watermark as UTC date and time."""
    if millis is None:
        return "-"
    if at_end(millis):
        return "end of time"
    return datetime.fromtimestamp(millis / 1000, timezone.utc).strftime("%Y-%m-%d %H:%M:%S")


def lag(millis: int | None, now: int | None) -> str:
    """Return how far a watermark is behind the clock, ``-`` where one is not known; in ms since 1970 UTC."""
    if millis is None or now is None or at_end(millis):
        return "-"
    behind = max(0, now - millis)
    for unit, size in _UNITS:
        # `90 min` says more than `1 h`, so a unit is taken from two of it on.
        if behind >= 2 * size:
            return f"{behind // size:,} {unit}"
    return f"{behind} ms"


def size(count: int | None) -> str:
    """Return a number of bytes as people read it, in powers of 1,000."""
    if count is None:
        return "-"
    for unit, of in _SIZES:
        if count >= of:
            return f"{count / of:,.1f} {unit}"
    return f"{count} B"


def at_end(millis: int | None) -> bool:
    """Whether a watermark (ms since 1970 UTC) is where the end of bounded input has brought it."""
    return millis is not None and millis >= _NEAR_END_MS


def _status(p: Mapping[str, Any], seconds: float | None) -> str:
    status = str(p.get("status") or "")
    return f"{status}, {seconds:,.0f} s" if status == "running" and seconds is not None else status


def _seconds(millis: int | None) -> str:
    return f"{millis / 1000:,.1f} s" if millis else "-"


def _now(query: RunningQuery) -> int | None:
    return None if query.bounded else int(time.time() * 1000)


def _count(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"
