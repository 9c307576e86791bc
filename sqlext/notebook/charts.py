"""Draw SVG pictures of a plan, of a result, and of a query's watermark.

Altair draws and renders them in the kernel, without a browser. So they look the same in Jupyter, VS Code, Databricks
and an exported notebook, where no script may run.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timezone
from typing import TYPE_CHECKING, Any

from sqlext.cli.progress import at_end
from sqlext.extras import package
from sqlext.jobs.tables import are_numbers, cell

if TYPE_CHECKING:
    import altair as alt

    from sqlext.jobs.progress import MicroBatch
    from sqlext.jobs.result import DelayCurve

_WIDTH, _LINE, _PADDING = 300, 14, 8
_GAP_X, _GAP_Y = 24, 34
_CHARACTERS, _MOST_LINES = 46, 4


@dataclass(frozen=True, slots=True)
class Box:
    """A node of a plan on its picture; pixels, the top left corner is the origin."""

    x: float
    y: float
    width: float
    height: float
    title: str
    detail: str
    updating: bool


@dataclass(frozen=True, slots=True)
class PlanEdge:
    """A line from a node down to the one that reads it."""

    x: float
    y: float
    x2: float
    y2: float


def plan_svg(description: Mapping[str, Any]) -> str:
    """Return the picture of a plan, sources at the top; ``description`` is that of EXPLAIN JSON.

    Raises:
        SqlExtError: ENV-011 if a package that draws is missing.
    """
    _check_packages()
    import altair as alt

    boxes, edges = laid_out(description["tree"])
    width = max(b.x + b.width for b in boxes) + _GAP_X
    height = max(b.y + b.height for b in boxes) + _PADDING
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, width], nice=False))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[height, 0], nice=False))
    lines = alt.Chart(_data(edges)).mark_rule(color="#888").encode(x=x, y=y, x2="x2:Q", y2="y2:Q")
    rows = [{"x": b.x, "y": b.y, "x2": b.x + b.width, "y2": b.y + b.height, "updating": b.updating} for b in boxes]
    color = alt.Color("updating:N", legend=None, scale=alt.Scale(domain=[False, True], range=["#e8f0fe", "#fef3e0"]))
    frames = alt.Chart(alt.Data(values=rows)).mark_rect(stroke="#5f6f8f", cornerRadius=4)
    frames = frames.encode(x=x, y=y, x2="x2:Q", y2="y2:Q", color=color)
    layers = [lines, frames, _texts(boxes, 0, "title", "bold", x, y), _texts(boxes, _LINE, "detail", "normal", x, y)]
    return _svg(alt.layer(*layers).properties(width=width, height=height).configure_view(stroke=None))


def laid_out(tree: Mapping[str, Any]) -> tuple[list[Box], list[PlanEdge]]:
    """Return where the nodes of a plan stand: sources side by side, each node below what it reads."""
    boxes: list[Box] = []
    edges: list[PlanEdge] = []
    columns = iter(range(10**6))  # each source takes the next one; other nodes stand between their inputs

    def place(node: Mapping[str, Any]) -> Box:
        inputs = [place(i) for i in node["inputs"]]
        detail = _shortened(node["detail"])
        height = 2 * _PADDING + _LINE * (1 + len(detail.splitlines()))
        x = (inputs[0].x + inputs[-1].x) / 2 if inputs else next(columns) * (_WIDTH + _GAP_X) + _PADDING
        y = max((i.y + i.height for i in inputs), default=_PADDING - _GAP_Y) + _GAP_Y
        box = Box(x, y, _WIDTH, height, node["node"], detail, node["changelog"] != "append")
        edges.extend(PlanEdge(i.x + i.width / 2, i.y + i.height, x + _WIDTH / 2, y) for i in inputs)
        boxes.append(box)
        return box

    place(tree)
    return boxes, edges


def timeline_svg(moments: Mapping[str, Sequence[MicroBatch]]) -> str | None:
    """Return the picture of how watermarks went: when each micro-batch began, how far event time was then (UTC).

    None if there is nothing to draw. ``moments`` are those of single queries, by name.

    Raises:
        SqlExtError: as ``plan_svg``.
    """
    _check_packages()
    import altair as alt

    points = list(_points(moments))
    if not points:
        return None
    scale = alt.Scale(domain=_KINDS, range=["#c0392b", "#7f8c8d"])
    kinds = alt.Color("kind:N", title=None, legend=alt.Legend(orient="top"), scale=scale)
    utc = alt.Scale(type="utc")
    # The browser's letters may be wider than those that Altair has measured: nothing may depend on it.
    across, upward = (
        alt.Axis(format="%m-%d %H:%M:%S", labelOverlap="greedy", labelSeparation=20, titlePadding=p) for p in (6, 28)
    )
    chart = (
        alt.Chart(alt.Data(values=points))
        .mark_line(interpolate="step-after", point=True)
        .encode(
            x=alt.X("at:T", title="micro-batch began (UTC)", scale=utc, axis=across),
            y=alt.Y("time:T", title="event time (UTC)", scale=utc, axis=upward),
            color=kinds,
            row=alt.Row("query:N", title=None),
        )
        .properties(width=620, height=180)
    )
    return _svg(chart)


def result_svg(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str | None:
    """Return the picture of a result: each column of numbers over the first column of times, else as bars.

    Columns of texts tell series apart. Times without a zone are drawn as they are. None if there are no numbers.

    Raises:
        SqlExtError: as ``plan_svg``.
    """
    _check_packages()
    import altair as alt

    told = _told(columns, rows)
    points = list(_values(columns, rows, told)) if told.numbers else []
    if not points:
        return None
    series = " ".join(columns[i] for i in told.texts)
    color = alt.Color("series:N", title=series, legend=alt.Legend(orient="top") if series else None)
    y = alt.Y("value:Q", title=None, axis=alt.Axis(titlePadding=28))
    row = alt.Row("column:N", title=None, sort=[columns[i] for i in told.numbers])
    drawn = alt.Chart(alt.Data(values=points))
    if told.time is not None:
        axis = alt.Axis(labelOverlap="greedy", labelSeparation=20)
        x = alt.X("time:T", title=columns[told.time], scale=alt.Scale(type="utc"), axis=axis)
        chart = drawn.mark_line(point=True).encode(x=x, y=y, color=color, row=row)
    else:
        chart = drawn.mark_bar().encode(x=alt.X("series:N", title=series), y=y, row=row)
    return _svg(chart.properties(width=620, height=180).resolve_scale(y="independent"))


def curve_svg(curve: DelayCurve) -> str:
    """Return the picture of a curve: a share in percent over a delay, both on scales that spread what is small.

    Raises:
        SqlExtError: as ``plan_svg``.
    """
    _check_packages()
    import altair as alt

    points = [
        {"series": name, "delay": delay, "share": 100 * share}
        for name, found in curve.series.items()
        for delay, share in found
    ]
    longest = max((delay for found in curve.series.values() for delay, _ in found), default=0)
    delays = [ms for ms in _DELAYS if ms <= longest] or [0]
    words = "{" + ", ".join(f"'{ms}': '{_DELAYS[ms]}'" for ms in delays) + "}[datum.value]"
    x = alt.X(
        "delay:Q",
        title="delay of the watermark",
        scale=alt.Scale(type="symlog", constant=_DELAY_UNIT, domain=[0, max(longest, 1)]),
        axis=alt.Axis(values=delays, labelExpr=words),
    )
    y = alt.Y(
        "share:Q",
        title=f"{curve.title} (%)",
        scale=alt.Scale(type="symlog", constant=_SHARES[1], domain=[0, 100]),
        axis=alt.Axis(values=_SHARES, labelExpr="'' + datum.value", titlePadding=28),
    )
    color = alt.Color("series:N", title=None, sort=list(curve.series), legend=alt.Legend(orient="top"))
    lines = alt.Chart(alt.Data(values=points)).mark_line(interpolate="step-after").encode(x=x, y=y, color=color)
    marks = [] if curve.marked is None else [{"delay": curve.marked}]
    rule = alt.Chart(alt.Data(values=marks)).mark_rule(color="#7f8c8d", strokeDash=[4, 3]).encode(x="delay:Q")
    return _svg(alt.layer(lines, rule).properties(width=620, height=240))


@dataclass(frozen=True, slots=True)
class _Told:
    """What the columns of a result are for, by their places."""

    time: int | None
    numbers: tuple[int, ...]
    texts: tuple[int, ...]


def _told(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> _Told:
    places = range(len(columns))
    times = [i for i in places if any(isinstance(row[i], date) for row in rows)]
    numbers = tuple(i for i in places if are_numbers(row[i] for row in rows))
    texts = tuple(i for i in places if i not in times and i not in numbers)
    return _Told(times[0] if times else None, numbers, texts)


def _values(columns: Sequence[str], rows: Sequence[Sequence[Any]], told: _Told) -> Iterator[dict[str, Any]]:
    for row in rows:
        when = row[told.time] if told.time is not None else None
        if told.time is not None and when is None:
            continue
        common = {"series": " ".join(cell(row[i]) for i in told.texts), "time": when and _millis(when)}
        for i in told.numbers:
            if row[i] is not None:
                yield {**common, "column": columns[i], "value": float(row[i])}


def _millis(when: date) -> float:
    """Return a time in ms since 1970, its wall clock read as UTC if it has no zone."""
    if not isinstance(when, datetime):
        return datetime(when.year, when.month, when.day, tzinfo=timezone.utc).timestamp() * 1000
    return (when if when.tzinfo else when.replace(tzinfo=timezone.utc)).timestamp() * 1000


_KINDS = ["watermark", "newest row"]
#: Delays (ms) that the axis of a curve names, and up to which of them it is linear.
_DELAYS = {
    0: "0",
    1_000: "1 s",
    10_000: "10 s",
    60_000: "1 min",
    600_000: "10 min",
    3_600_000: "1 h",
    21_600_000: "6 h",
    86_400_000: "1 d",
    604_800_000: "7 d",
}
_DELAY_UNIT = 1_000
#: Percent that the axis of a curve names; up to the first one above 0 it is linear.
_SHARES = [0, 0.001, 0.01, 0.1, 1, 10, 100]


def _check_packages() -> None:
    for name in ("altair", "vl_convert"):
        package(name, "notebook", "a picture")


def _points(moments: Mapping[str, Sequence[MicroBatch]]) -> Iterator[dict[str, Any]]:
    for query, seen in moments.items():
        for moment in seen:
            for kind, time in zip(_KINDS, (moment.watermark, moment.newest), strict=True):
                if time is not None and not at_end(time):  # the end of time would flatten all that came before
                    yield {"query": query, "at": moment.at, "kind": kind, "time": time}


def _texts(boxes: Sequence[Box], below: int, field: str, weight: Any, x: alt.X, y: alt.Y) -> alt.Chart:
    import altair as alt

    rows = [{"x": b.x + _PADDING, "y": b.y + _PADDING + below, "text": getattr(b, field)} for b in boxes]
    mark = alt.Chart(alt.Data(values=rows)).mark_text(
        align="left", baseline="top", fontSize=11, fontWeight=weight, lineBreak="\n", lineHeight=_LINE, limit=_WIDTH
    )
    encoded: alt.Chart = mark.encode(x=x, y=y, text="text:N")
    return encoded


def _data(edges: Sequence[PlanEdge]) -> alt.Data:
    import altair as alt

    return alt.Data(values=[{"x": e.x, "y": e.y, "x2": e.x2, "y2": e.y2} for e in edges])


def _shortened(text: str) -> str:
    lines = textwrap.wrap(text, _CHARACTERS, break_long_words=True)
    return "\n".join(lines[:_MOST_LINES]) + (" ..." if len(lines) > _MOST_LINES else "")


def _svg(chart: Any) -> str:
    import vl_convert

    return str(vl_convert.vegalite_to_svg(chart.to_json()))
