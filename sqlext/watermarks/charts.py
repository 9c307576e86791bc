"""Draw charts of a query's watermarks over time, in Vega-Lite by altair. No Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from sqlext.extras import package
from sqlext.watermarks.history import Sample
from sqlext.watermarks.inputs import END_OF_TIME
from sqlext.watermarks.texts import wall

if TYPE_CHECKING:
    import altair as alt

#: The line that is no input's.
QUERY = "the query"
_STATES = {"active": "#c9d8c5", "idle": "#d9a441", "held": "#b5534c", "ended": "#999999"}
_FORMAT = "%Y-%m-%d %H:%M:%S.%L"
_AXIS = "%m-%d %H:%M:%S"
_WIDTH, _LEFT = 820, 90
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - a wall clock


def plotting(name: str) -> Any:
    """Return a package of the extra ``plots``.

    Raises:
        SqlExtError: ENV-011 if it is missing.
    """
    return package(name, "plots", "the page of a query")


def chart(samples: Sequence[Sample], zones: Mapping[str, str], zone: str) -> alt.VConcatChart:
    """Return the charts, one below the other, over one axis: the clock.

    Args:
        samples: how it went, oldest first.
        zones: input -> whose wall clock shows its times.
        zone: whose wall clock shows when something happened.

    Raises:
        SqlExtError: ENV-011 if altair is missing.
    """
    charts = _Charts(plotting("altair"), zone)
    whole: alt.VConcatChart = charts.together(
        charts.watermarks(list(watermark_points(samples, zones, zone))),
        charts.states(list(state_spans(samples, zone))),
        charts.counts("Windows and groups open", list(count_points(samples, zone, {"open": "open"}))),
        charts.counts("Rows read", list(count_points(samples, zone, {"read": "rows_in"}))),
        charts.counts("Rows given out: panes that fired", list(count_points(samples, zone, {"given out": "rows_out"}))),
        charts.counts("Late rows", list(count_points(samples, zone, {"kept": "rows_late", "dropped": "rows_dropped"}))),
    )
    return whole


class _Charts:
    """Vega-Lite charts over the clock; ``alt`` is altair."""

    def __init__(self, alt: Any, zone: str) -> None:
        self.alt = alt
        self.zone = zone
        axis = alt.Axis(format=_AXIS, labelOverlap="greedy")
        self.clock = alt.X("at:T", title=None, scale=alt.Scale(type="utc"), axis=axis)
        self.color = alt.Color("input:N", title="input")

    def watermarks(self, points: list[dict[str, Any]]) -> Any:
        alt = self.alt
        # Every chart leaves the same room at its left, so that their clocks lie below each other.
        times = alt.Axis(format=_AXIS, minExtent=_LEFT)
        shown = [
            alt.Tooltip(f"{n}:T", format=_FORMAT, title=t) for n, t in (("at", "clock"), ("watermark", "watermark"))
        ]
        lines = self._lines(points).encode(
            x=self.clock,
            y=alt.Y("watermark:T", title="event time", scale=alt.Scale(type="utc"), axis=times),
            tooltip=[alt.Tooltip("input:N"), *shown],
        )
        inputs = lines.transform_filter(alt.datum.input != QUERY).encode(color=self.color)
        query = lines.transform_filter(alt.datum.input == QUERY)
        query = query.encode(color=alt.value("#222"), strokeDash=alt.value([5, 3]))
        title = f"Watermarks over the clock ({self.zone}); dashed: the query's"
        return alt.layer(inputs, query).properties(width=_WIDTH, height=260, title=title)

    def states(self, spans: list[dict[str, Any]]) -> Any:
        alt = self.alt
        colors = alt.Scale(domain=list(_STATES), range=list(_STATES.values()))
        bars = alt.Chart(alt.Data(values=spans)).mark_bar()
        return bars.encode(
            x=self.clock,
            x2="until:T",
            y=alt.Y("input:N", title=None, axis=alt.Axis(minExtent=_LEFT)),
            color=alt.Color("state:N", title="state", scale=colors),
            tooltip=[alt.Tooltip("input:N"), alt.Tooltip("state:N")],
        ).properties(width=_WIDTH, title="Inputs that are active, idle, held back by alignment, ended")

    def counts(self, title: str, points: list[dict[str, Any]]) -> Any:
        alt = self.alt
        several = len({p["what"] for p in points}) > 1
        return (
            self._lines(points)
            .encode(
                x=self.clock,
                y=alt.Y("count:Q", title=None, axis=alt.Axis(tickMinStep=1, minExtent=_LEFT)),
                color=alt.Color("what:N", title=None) if several else alt.value("#555"),
                tooltip=[alt.Tooltip("what:N"), alt.Tooltip("count:Q"), alt.Tooltip("at:T", format=_FORMAT)],
            )
            .properties(width=_WIDTH, height=80, title=title)
        )

    def together(self, *charts: Any) -> Any:
        """Return charts below each other; their clocks are one, their colours are not."""
        whole = self.alt.vconcat(*charts).resolve_scale(x="shared", color="independent")
        return whole.configure_title(anchor="start")

    def _lines(self, points: list[dict[str, Any]]) -> Any:
        """Return lines that stay where they are until the next point; the points are there to be pointed at."""
        points_at = {"filled": True, "size": 60, "opacity": 0}
        return self.alt.Chart(self.alt.Data(values=points)).mark_line(interpolate="step-after", point=points_at)


def watermark_points(samples: Sequence[Sample], zones: Mapping[str, str], zone: str) -> Iterator[dict[str, Any]]:
    """Yield a point for each watermark of each sample; not the end of time, which an input that has ended is at."""
    for sample in samples:
        watermarks = {**{name: w for name, (w, _) in sample.inputs.items()}, QUERY: sample.watermark}
        for name, watermark in watermarks.items():
            if watermark is not None and watermark < END_OF_TIME:
                shown = _shown(watermark, zones.get(name, next(iter(zones.values()), "UTC")))
                yield {"at": _shown(sample.at, zone), "input": name, "watermark": shown}


def state_spans(samples: Sequence[Sample], zone: str) -> Iterator[dict[str, Any]]:
    """Yield when each input was in which state; what follows each other without a change is one."""
    for name in dict.fromkeys(name for sample in samples for name in sample.inputs):
        known = [(sample.at, sample.inputs[name][1]) for sample in samples if name in sample.inputs]
        starts = [known[0], *(now for before, now in pairwise(known) if now[1] != before[1])]
        for (at, state), (until, _) in pairwise([*starts, known[-1]]):
            yield {"input": name, "state": state, "at": _shown(at, zone), "until": _shown(until, zone)}


def count_points(samples: Sequence[Sample], zone: str, counts: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Yield a point for each of some counts (what to call it: the sample's attribute) of each sample."""
    for sample in samples:
        for what, attribute in counts.items():
            yield {"at": _shown(sample.at, zone), "what": what, "count": getattr(sample, attribute)}


def _shown(ms: int, zone: str) -> int:
    """Return the ms at which the clocks of UTC, which the charts show, look as those of a zone do at ``ms``."""
    return (wall(ms, zone) - _EPOCH) // timedelta(milliseconds=1)
