"""Define what a notebook shows: results, plans, running queries, each as HTML and as text."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlext.cli.progress import watermark
from sqlext.jobs.tables import MOST_ROWS, are_numbers, as_text, cell
from sqlext.notebook.charts import curve_svg, plan_svg, result_svg, timeline_svg

if TYPE_CHECKING:
    from sqlext.jobs.progress import MicroBatch
    from sqlext.jobs.result import DelayCurve, Result

_NO_PLAN = "no query here that sqlext plans: Spark's EXPLAIN shows its own"
#: Plans and definitions are texts of several lines. JupyterLab's own rules name two classes: ours must name more.
_STYLE = (
    "<style>table.dataframe.sqlext :is(th, td) { text-align: left; vertical-align: top; }"
    "table.dataframe.sqlext td { white-space: pre-wrap; }</style>"
)


@dataclass(frozen=True)
class TableView:
    """Rows under the names of their columns."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    title: str = ""

    def __repr__(self) -> str:
        """Return it as text."""
        return "\n".join(part for part in (self.title, as_text(self.columns, self.rows)) if part)

    def _repr_html_(self) -> str:
        """Return it as a table of HTML, every text in it escaped."""
        shown = self.rows[:MOST_ROWS]
        right = [i for i, _ in enumerate(self.columns, 1) if are_numbers(row[i - 1] for row in shown)]
        classes = ["sqlext", *(f"right{i}" for i in right)]
        table = _frame(self.columns, shown).to_html(index=False, border=0, classes=classes)
        above, below = (f"<div>{html.escape(note)}</div>" if note else "" for note in (self.title, self._rest()))
        return f"{_STYLE}{''.join(map(_to_the_right, right))}{above}{table}{below}"

    def _rest(self) -> str:
        count = len(self.rows)
        shown = f", {MOST_ROWS} shown" if count > MOST_ROWS else ""
        return f"{count:,} row{'' if count == 1 else 's'}{shown}"


@dataclass(frozen=True)
class PlotView:
    """Rows as a picture, or the curve of which they are points."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    curve: DelayCurve | None = None

    def __repr__(self) -> str:
        """Return the rows as text."""
        return as_text(self.columns, self.rows)

    def _repr_html_(self) -> str:
        """Return the picture."""
        if self.curve is not None:
            return curve_svg(self.curve)
        return result_svg(self.columns, self.rows) or f"<div>{html.escape(_NO_NUMBERS)}</div>"


@dataclass(frozen=True)
class PlanView:
    """The plans of a script's queries, as EXPLAIN JSON describes them, and their texts."""

    plans: Sequence[Mapping[str, Any]]
    texts: Sequence[str]

    def __repr__(self) -> str:
        """Return the plans as text."""
        return "\n\n".join(self.texts) or _NO_PLAN

    def _repr_html_(self) -> str:
        """Return their pictures, each with its text folded below."""
        pictures = (_plan_html(plan, text) for plan, text in zip(self.plans, self.texts, strict=True))
        return "".join(pictures) or f"<div>{html.escape(_NO_PLAN)}</div>"


@dataclass(frozen=True)
class TimelineView:
    """The watermarks of queries over time; ``moments`` are those of single queries, by name."""

    moments: Mapping[str, Sequence[MicroBatch]]

    def __repr__(self) -> str:
        """Return the last micro-batch of each as text."""
        lines = (
            f"{name}: batch {seen[-1].batch}, watermark {watermark(seen[-1].watermark)}, "
            f"newest row {watermark(seen[-1].newest)}"
            for name, seen in self.moments.items()
            if seen
        )
        return "\n".join(lines) or "no micro-batch yet"

    def _repr_html_(self) -> str:
        """Return the picture."""
        return timeline_svg(self.moments) or f"<div>{html.escape(_NO_TIME)}</div>"


_NO_NUMBERS = "no rows with numbers"
_NO_TIME = "no micro-batch with event time, or the input came in one: then its end is all there is"


def result_view(result: Result) -> TableView:
    """Return the rows of a result as they are now."""
    return TableView(result.columns, result.rows)


def progress_view(progress: Sequence[tuple[str, Mapping[str, Any]]]) -> TableView:
    """Return how far queries are."""
    return TableView(tuple(_COLUMNS), [(name, *(show(p) for show in _PROGRESS)) for name, p in progress])


_COLUMNS = ("query", "status", "batch", "rows in", "rows out", "watermark", "open", "late, dropped")
_PROGRESS: tuple[Callable[[Mapping[str, Any]], Any], ...] = (
    lambda p: p.get("status"),
    lambda p: p.get("batch"),
    lambda p: p.get("rows_in"),
    lambda p: p.get("rows_out"),
    lambda p: watermark(p.get("watermark")),
    lambda p: p.get("state_rows"),
    lambda p: p.get("rows_dropped"),
)


def _plan_html(plan: Mapping[str, Any], text: str) -> str:
    folded = f"<details><summary>plan and Spark SQL</summary><pre>{html.escape(text)}</pre></details>"
    facts = (f"{key.replace('_', ' ')}: {_text(plan[key])}" for key in _FACTS if plan[key])
    return f"<div>{'<br>'.join(map(html.escape, facts))}</div>{plan_svg(plan)}{folded}"


_FACTS = ("path", "mode", "changelog", "time_attributes", "watermarks", "unbounded_states")


def _text(fact: object) -> str:
    return ", ".join(map(str, fact)) if isinstance(fact, list) else str(fact)


def _to_the_right(column: int) -> str:
    """Return the rule for a column, by its number from 1, in tables that say that they have it."""
    cells = f"table.dataframe.sqlext.right{column} :is(th, td):nth-child({column})"
    return f"<style>{cells} {{ text-align: right; }}</style>"


def _frame(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Any:
    import pandas as pd

    return pd.DataFrame([[cell(v) for v in row] for row in rows], columns=list(columns), dtype=object)
