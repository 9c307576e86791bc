"""Explain why nothing comes out of a query now, and what must happen so that something does (EXPLAIN WHY)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlext.watermarks.report import InputReport, SplitReport, TimeReport
from sqlext.watermarks.texts import duration, moment

#: Of more splits than this it is only said how many there are.
_SPLITS_NAMED = 5
#: How a query stands that is not ``is running``, ``is stopped``, ...
_STANDS = {"failed": "has failed", "lost": "has no driver any more"}


@dataclass(frozen=True, slots=True)
class Asked:
    """A query that somebody asks about.

    Attributes:
        status: running, finished, stopped, failed or lost.
        bounded: whether its input has an end.
        report: what its keeper knows; None where no keeper runs.
        live: whether it runs in this process: otherwise the report is what was last written.
    """

    name: str
    status: str
    bounded: bool
    report: TimeReport | None
    live: bool = True


def why(asked: Asked, zone: str) -> str:
    """Return the answer as text; clock times in the wall clock of ``zone``, event times in that of their input."""
    return "\n".join(_Answer(asked, zone).lines())


class _Answer:
    def __init__(self, asked: Asked, zone: str) -> None:
        self.asked = asked
        self.zone = zone

    def lines(self) -> Iterator[str]:
        asked, report = self.asked, self.asked.report
        yield f"Query `{asked.name}` {_STANDS.get(asked.status, f'is {asked.status}')}{self._as_of()}."
        if asked.status == "finished":
            yield "It came to the end of its input, and all of its windows came out."
            return
        if asked.status != "running":
            yield "Nothing comes out while it does not run; the same statement goes on where it stopped."
        if asked.bounded:
            yield "It is bounded: its windows close when all of its input has been read, so it waits for no input."
        elif report is None:
            yield "No watermark is kept for it: nothing in it waits for event time, or it has not begun yet."
        else:
            yield self._watermark(report)
            yield from self._next(report)
            for known in report.inputs:
                yield f"- {self._input(known, report)}"

    def _as_of(self) -> str:
        report = self.asked.report
        if self.asked.live or report is None:
            return ""
        elsewhere = " in another process, or was" if self.asked.status == "running" else ""
        return f"{elsewhere}; what follows was written at {moment(report.at, self.zone)}"

    def _watermark(self, report: TimeReport) -> str:
        if report.watermark is not None:
            return f"Its watermark is {moment(report.watermark, report.inputs[0].zone)}."
        waited = [f"`{i.name}`" for i in report.inputs if i.watermark is None]
        return f"It has no watermark yet: no row has come from {' and '.join(waited)}."

    def _next(self, report: TimeReport) -> Iterator[str]:
        if report.end is None:
            has_rows = any(s.rows for i in report.inputs for s in i.splits)
            yield (
                "Which time it waits for is not known here: that is up to an operator (a join, OVER, a match, ...)."
                if has_rows
                else "No row has come yet, so no window is open."
            )
            return
        end = moment(report.end, report.inputs[0].zone)
        if report.session:
            yield f"The newest session ends at {end}; older ones end before it. It closes when the watermark is there."
        else:
            yield f"The next window ends at {end}; it closes when the watermark is there."
        if all(i.idle or i.ended for i in report.inputs):
            yield f"All inputs are idle: the watermark stands until one gives rows.{self._clock(report)}"

    def _clock(self, report: TimeReport) -> str:
        if report.closes_at is None:
            return " With 'sqlext.idle.close-windows' = 'true' the clock would close the window."
        return f" If none does, the clock closes the window at {moment(report.closes_at, self.zone)}."

    def _input(self, known: InputReport, report: TimeReport) -> str:
        if known.ended:
            return f"`{known.name}` has ended: it holds nobody back."
        if known.idle:
            return f"`{known.name}` is idle since {self._idle_since(known)}: it holds nobody back until it gives rows."
        parts = [self._waited_for(known, report) if any(s.holds for s in known.splits) else self._on_its_way(known)]
        if known.interval:
            parts.append(f"Its watermark moves at most every {duration(known.interval)}.")
        if any(s.held for s in known.splits):
            parts.append(self._held(known))
        return " ".join(parts)

    def _idle_since(self, known: InputReport) -> str:
        return moment(max((s.idle_since or 0 for s in known.splits), default=0), self.zone)

    def _on_its_way(self, known: InputReport) -> str:
        here = f"`{known.name}`: its watermark is {moment(known.watermark, known.zone)}"
        if known.needed is None:
            return f"{here}, far enough."
        return f"{here}; it must reach {moment(known.needed, known.zone)}{_of_event_time(known)} too."

    def _waited_for(self, known: InputReport, report: TimeReport) -> str:
        holding = [s for s in known.splits if s.holds]
        parts = [f"`{known.name}` holds the query back: {self._reached(known, holding)}."]
        if known.needed is not None:
            each = "each of them" if len(holding) > 1 else "it"
            parts.append(f"For the next window {each} must give a row of {moment(known.needed, known.zone)} or later.")
        parts.append(self._idle_clause(known, holding, alone=len(report.inputs) == len(known.splits) == 1))
        return " ".join(parts)

    def _reached(self, known: InputReport, holding: list[SplitReport]) -> str:
        largest = holding[0].largest
        if largest is None:
            reached = "no row has come"
        else:
            behind = f", the watermark {duration(known.delay)} behind that" if known.delay else ""
            reached = f"the largest event time is {moment(largest, known.zone)}{behind}"
        return reached if holding[0].name is None else f"{reached} in {_named(holding)}"

    def _idle_clause(self, known: InputReport, holding: list[SplitReport], *, alone: bool) -> str:
        if alone:
            return "It is the only input: nothing else moves the watermark."
        times = [s.idle_after for s in holding if s.idle_after is not None]
        if times:
            silent = "they stay silent, they are" if len(holding) > 1 else "it stays silent, it is"
            nobody = "hold nobody back" if len(holding) > 1 else "holds nobody back"
            return f"If {silent} idle at {moment(max(times), self.zone)} and {nobody}."
        if any(s.held for s in holding):
            return "It is held back, so it cannot become idle."
        return "It has no idle timeout: 'scan.watermark.idle-timeout' would let the others go on without it."

    def _held(self, known: InputReport) -> str:
        held = [s for s in known.splits if s.held]
        what = "It" if held[0].name is None else f"Its {_named(held)}"
        leader = f"until `{known.leader}` catches up" if known.leader else "until the others catch up"
        return f"{what} may give no rows {leader} (alignment group '{known.group}')."


def _of_event_time(known: InputReport) -> str:
    return f" of event time ({duration(known.delay)} delay included)" if known.delay else ""


def _named(splits: list[SplitReport]) -> str:
    names = ", ".join(f"`{s.name}`" for s in splits[:_SPLITS_NAMED])
    more = len(splits) - _SPLITS_NAMED
    return f"split{'s' if len(splits) > 1 else ''} {names}{f' and {more} more' if more > 0 else ''}"
