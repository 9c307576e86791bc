"""What was measured, as a table, a plot, and the environment."""

from __future__ import annotations

import argparse
import datetime as dt
import math
import os
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from sqlext.extras import package

_PEERS = ("spark", "flink")
_LEAST = 0.1  # seconds


class Line(NamedTuple):
    """What a question took.

    Attributes:
        name: of the question.
        form: of the files.
        starts: seconds of each engine that ran it, on a small input.
        seconds: on the whole.
        differs: how answers differ; empty if they do not.
        refused: why engines did not run it.
    """

    name: str
    form: str
    starts: Mapping[str, float]
    seconds: Mapping[str, float]
    differs: str
    refused: Mapping[str, str]

    def ratio(self, peer: str) -> float | None:
        """Return how many times faster than a peer sqlext was, starts left out; None where that cannot be said."""
        ours, theirs = (self._beyond_start(side) for side in ("sqlext", peer))
        return theirs / ours if ours and theirs else None

    def _beyond_start(self, side: str) -> float | None:
        """Return what an engine needed for the rows; None if it did not run, or if noise is all that there is."""
        taken = self.seconds.get(side, 0) - self.starts.get(side, 0)
        return taken if taken > _LEAST else None

    def shown(self, side: str) -> str:
        """Return ``seconds (of which start)``, empty for an engine that did not run it."""
        return f"{self.seconds[side]:.2f} ({self.starts[side]:.2f})" if side in self.seconds else ""

    @property
    def text(self) -> str:
        """The line for a terminal."""
        times = [f"{side} {self.shown(side)} s" for side in self.seconds]
        ratios = [f"{ratio:.2f} times {peer}" for peer in _PEERS if (ratio := self.ratio(peer))]
        notes = [self.differs, *(f"not by {side}: {why}" for side, why in self.refused.items())]
        return f"{self.form:8} {self.name:14} {', '.join([*times, *ratios, *filter(None, notes)])}"


def write_report(folder: Path, lines: Sequence[Line], given: argparse.Namespace) -> None:
    """Write ``peers.md`` and ``peers.svg``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "peers.md").write_text("\n".join([_environment(given), *_table(lines), *_means(lines)]) + "\n", "utf-8")
    altair = package("altair", "plots", "the plot")
    package("vl_convert", "plots", "the plot")
    values = [
        {"question": f"{line.name} ({line.form})", "peer": peer, "times": ratio}
        for line in lines
        for peer in _PEERS
        if (ratio := line.ratio(peer))
    ]
    chart = (
        altair.Chart(altair.Data(values=values))
        .mark_bar()
        .encode(
            y=altair.Y("question:N", sort=None, title=None),
            yOffset="peer:N",
            x=altair.X("times:Q", title="times faster than the peer"),
            color=altair.Color("peer:N", title=None),
        )
    )
    chart.save(str(folder / "peers.svg"))


def _environment(given: argparse.Namespace) -> str:
    names = ("pyspark", "sqlglot", "delta-spark", "pyarrow", "numpy")
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 30
    machine = f"{os.cpu_count()} cores, {memory} GiB, {platform.platform()}, Python {platform.python_version()}"
    sizes = f"{given.rows:,} rows and {given.keys:,} keys, {given.events:,} Nexmark events, median of {given.runs} runs"
    return f"{dt.datetime.now(dt.timezone.utc).date()}: {machine}; {versions}, apache-flink 2.3.0. {sizes}.\n"


def _table(lines: Sequence[Line]) -> list[str]:
    head = [
        "| Question | Files | sqlext, s (start) | Spark by hand | Flink | times Spark | times Flink | |",
        "|---|---|--:|--:|--:|--:|--:|---|",
    ]
    return head + [_row(line) for line in lines]


def _row(line: Line) -> str:
    seconds = [line.shown(side) for side in ("sqlext", *_PEERS)]
    ratios = [f"{ratio:.2f}" if (ratio := line.ratio(peer)) else "" for peer in _PEERS]
    note = line.differs or "; ".join(f"not by {side}: {why[:80]}" for side, why in line.refused.items())
    return "| " + " | ".join([line.name, line.form, *seconds, *ratios, note.replace("|", " ")]) + " |"


def _means(lines: Sequence[Line]) -> list[str]:
    ratios = [ratio for line in lines if line.name.startswith("Nexmark") and (ratio := line.ratio("flink"))]
    if not ratios:
        return []
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    return ["", f"Nexmark, geometric mean over {len(ratios)} queries: {mean:.2f} times Flink."]
