"""The window operator's core without Spark: rows per second of CPU time of its two halves, on one core.

python tests/benchmarks/operator_core.py [--rows 2000000] [--keys 1000 1000000] [--runs 3]

``partial`` works on pieces of 262,144 rows, as before the shuffle; ``step`` takes all partial results of a micro-batch
of a fifth of the rows into one bucket, gives out the windows that are over, and encodes the state. The batch clock
moves on by 2 s a micro-batch, so EARLY fires in each. Prints the best of several runs, and the largest state.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from sqlext_udfs.aggregates.accumulator import AggregateCall
from sqlext_udfs.kernel.operator import Clock
from sqlext_udfs.windows.operator import WindowOperator
from sqlext_udfs.windows.policy import Cumulate, Hop, Policy, Session, Tumble
from sqlext_udfs.windows.specification import WindowSpecification
from sqlext_udfs.windows.triggers.tree import AfterDelay, AfterWatermark, Delay, Repeat

_PIECE = 1 << 18
_BATCHES = 5
_SPAN_MS = 20_000  # event time in a micro-batch
_CLOCK_MS = 2_000
_TYPES = [pa.int64(), pa.int64(), pa.float64()]
_EVERY_SECOND = AfterWatermark(early=Repeat(AfterDelay((Delay(1_000),))))
POLICIES: dict[str, Policy] = {
    "TUMBLE 10 s": Policy(Tumble(10_000), AfterWatermark()),
    "HOP 2 s / 10 s": Policy(Hop(10_000, 2_000), AfterWatermark()),
    "CUMULATE 2 s / 10 s": Policy(Cumulate(10_000, 2_000), AfterWatermark()),
    "SESSION 100 ms": Policy(Session(100), AfterWatermark()),
    "TUMBLE, EARLY 1 s": Policy(Tumble(10_000), _EVERY_SECOND, keep_index=False),
    "TUMBLE, RETRACTING": Policy(Tumble(10_000), _EVERY_SECOND, mode="RETRACTING", keep_index=False),
}


def operator(policy: Policy) -> WindowOperator:
    """Return COUNT(*) and SUM under a policy."""
    aggregates = (AggregateCall("count"), AggregateCall("sum", (2,)))
    return WindowOperator(WindowSpecification(1, policy, aggregates, time=1), _TYPES)


def batches(rows: int, keys: int) -> Iterator[pa.Table]:
    """Yield micro-batches of random keys, with times that run out of order within a batch."""
    random = np.random.default_rng(0)
    for batch in range(_BATCHES):
        size = rows // _BATCHES
        times = random.integers(batch * _SPAN_MS, (batch + 1) * _SPAN_MS, size)
        key = random.integers(0, keys, size)
        columns = [key, times, random.random(size), np.zeros(size, np.int16)]
        yield pa.table([pa.array(c) for c in columns], ["c0", "c1", "c2", "bucket"])


def measure(policy: Policy, rows: int, keys: int) -> tuple[float, float, int, int]:
    """Return the seconds of both halves for all rows, how many panes came out, and the bytes of the largest state."""
    made = operator(policy)
    state, before, panes, size = made.empty(), None, 0, 0
    halves = [0.0, 0.0]
    for number, batch in enumerate(batches(rows, keys)):
        started = time.process_time()
        pieces = [made.partial(batch.slice(at, _PIECE)) for at in range(0, batch.num_rows, _PIECE)]
        halves[0] += time.process_time() - started
        arrived = pa.concat_tables(p.remove_column(p.num_columns - 1) for p in pieces)
        watermark = number * _SPAN_MS
        started = time.process_time()
        step = made.step(state, arrived, Clock(watermark, before, number * _CLOCK_MS))
        size = max(size, len(made.encode(step.state)))
        halves[1] += time.process_time() - started
        state, before, panes = step.state, watermark, panes + step.out.num_rows
    return halves[0], halves[1], panes, size


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--keys", type=int, nargs="*", default=[1_000, 1_000_000])
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    pa.set_cpu_count(1)
    print(f"{'':22}{'keys':>10}{'partial, rows/s':>18}{'step, rows/s':>16}{'panes':>12}{'state, bytes':>14}")
    for name, policy in POLICIES.items():
        for keys in arguments.keys:
            runs = [measure(policy, arguments.rows, keys) for _ in range(arguments.runs)]
            first, second = (arguments.rows / min(r[i] for r in runs) for i in (0, 1))
            print(f"{name:22}{keys:>10,}{first:>18,.0f}{second:>16,.0f}{runs[0][2]:>12,}{runs[0][3]:>14,}")


if __name__ == "__main__":
    main()
