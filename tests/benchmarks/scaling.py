"""How the window operator's cost grows with rows and keys, and what its state takes, without Spark, on one core.

python tests/benchmarks/scaling.py [--rows 100000 1000000 10000000] [--keys 1000 10000 100000 1000000] [--plot FILE]

Prints nanoseconds of CPU time a row (both halves of ``operator_core``, best of several runs): over rows with 10,000
keys, over keys with 2,000,000 rows; and the bytes of the largest state for each key and slice of one micro-batch (HOP
keeps slices of the one before too, as long as a window needs them). ``--plot`` draws the same as an SVG. CPU time is
little disturbed by other work on the machine.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from operator_core import POLICIES, batches, measure

from sqlext.extras import package

_SLICE_MS = {"TUMBLE 10 s": 10_000, "HOP 2 s / 10 s": 2_000, "CUMULATE 2 s / 10 s": 2_000}
_KEYS, _ROWS, _RUNS = 10_000, 2_000_000, 3


class Point(NamedTuple):
    """What was measured.

    Attributes:
        window: of which question.
        over: what grows, rows or keys.
        count: how many there are of these.
        nanoseconds: CPU time a row.
        bytes: of state, for each key and slice; None where slices have no fixed length.
    """

    window: str
    over: str
    count: int
    nanoseconds: float
    bytes: float | None


def point(window: str, over: str, count: int) -> Point:
    """Measure one point."""
    rows, keys = (count, _KEYS) if over == "rows" else (_ROWS, count)
    runs = [measure(POLICIES[window], rows, keys) for _ in range(_RUNS)]
    seconds = min(first + second for first, second, *_ in runs)
    held = entries(rows, keys, _SLICE_MS[window]) if window in _SLICE_MS else None
    return Point(window, over, count, seconds / rows * 1e9, runs[0][3] / held if held else None)


def entries(rows: int, keys: int, length: int) -> int:
    """Return the most keys and slices that a state holds: those of one micro-batch, the ones before are closed."""
    held = 0
    for batch in batches(rows, keys):
        key, time = (batch.column(name).to_numpy() for name in ("c0", "c1"))
        held = max(held, len(np.unique(key * 1_000_000 + time // length)))
    return held


def drawn(points: list[Point], place: Path) -> None:
    """Draw the nanoseconds over rows and over keys."""
    altair = package("altair", "plots", "the plot")
    package("vl_convert", "plots", "the plot")
    charts = [
        altair.Chart(altair.Data(values=[p._asdict() for p in points if p.over == over]))
        .mark_line(point=True)
        .encode(
            x=altair.X("count:Q", scale=altair.Scale(type="log"), title=over),
            y=altair.Y("nanoseconds:Q", scale=altair.Scale(zero=True), title="CPU time a row, ns"),
            color=altair.Color("window:N", title=None),
        )
        for over in ("rows", "keys")
    ]
    altair.hconcat(*charts).save(str(place))


def main() -> None:
    """Measure, print and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="*", default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("--keys", type=int, nargs="*", default=[1_000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--plot", type=Path)
    arguments = parser.parse_args()
    pa.set_cpu_count(1)
    wanted = [("rows", n) for n in arguments.rows] + [("keys", n) for n in arguments.keys]
    points = []
    print(f"{'':22}{'over':>6}{'count':>12}{'ns a row':>10}{'bytes of state':>16}")
    for window in POLICIES:
        for over, count in wanted:
            found = point(window, over, count)
            points.append(found)
            held = f"{found.bytes:.1f}" if found.bytes is not None else "-"
            print(f"{window:22}{over:>6}{count:>12,}{found.nanoseconds:>10,.0f}{held:>16}", flush=True)
    if arguments.plot is not None:
        drawn(points, arguments.plot)


if __name__ == "__main__":
    main()
