"""The join operator's core without Spark: seconds of CPU time on one core, and the bytes of its state.

python tests/benchmarks/join_core.py [--rows 1000000] [--keys 1000000] [--batches 10] [--runs 1] [--only NAME ...]

``--rows`` of each side come in ``--batches`` micro-batches, keys at random. ``encode`` and ``decode`` are measured with
the step, as a bucket does them. A row carries a number and a text. The interval join has a hundredth of the keys, and
matches reach as far as a hundredth of a micro-batch's time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from sqlext_udfs.joins.operator import JoinOperator
from sqlext_udfs.joins.specification import (
    Bound,
    Comparison,
    IntervalBound,
    JoinKind,
    JoinSpecification,
    NearestBound,
    Unbounded,
    VersionBound,
    WindowBound,
)
from sqlext_udfs.kernel.operator import Clock
from sqlext_udfs.kernel.row_kinds import DELETE, INSERT

_SPAN_MS = 100_000  # event time in a micro-batch
_REACH_MS = 1_000
#: Key, side, left number and text, right number and text, left time, right times, end, kind, time.
_TYPES = [
    pa.int64(), pa.int8(), pa.int64(), pa.string(), pa.int64(), pa.string(), pa.int64(), pa.int64(), pa.int64(),
    pa.int64(), pa.int8(), pa.int64(),
]  # fmt: skip
_LEFT, _RIGHT, _LEFT_TIME, _RIGHT_TIME, _RIGHT_LAST, _END, _KIND, _TIME = (2, 3), (4, 5), 6, 7, 8, 9, 10, 11


class Case(NamedTuple):
    """A join to measure.

    Attributes:
        join: its kind.
        bound: of state.
        changes: whether a tenth of the rows is taken back in the micro-batch after.
        texts: whether keys are texts.
        fewer_keys: how many times fewer keys there are.
    """

    join: JoinKind
    bound: Bound = Unbounded()
    changes: bool = False
    texts: bool = False
    fewer_keys: int = 1


CASES = {
    "INNER": Case(JoinKind.INNER),
    "INNER, text keys": Case(JoinKind.INNER, texts=True),
    "LEFT": Case(JoinKind.LEFT),
    "FULL, changes": Case(JoinKind.FULL, changes=True),
    "SEMI": Case(JoinKind.SEMI),
    "ANTI, changes": Case(JoinKind.ANTI, changes=True),
    "interval LEFT": Case(JoinKind.LEFT, IntervalBound(_END), fewer_keys=100),
    "window FULL": Case(JoinKind.FULL, WindowBound(_END)),
    "temporal LEFT": Case(JoinKind.LEFT, VersionBound(_TIME), fewer_keys=100),
    "as-of LEFT": Case(JoinKind.LEFT, NearestBound(_TIME, ">="), fewer_keys=100),
    "as-of LEFT, ahead": Case(JoinKind.LEFT, NearestBound(_TIME, "<=", _SPAN_MS), fewer_keys=100),
    "as-of, NEAREST": Case(JoinKind.LEFT, NearestBound(_TIME, "NEAREST", _SPAN_MS), fewer_keys=100),
    "as-of, at once": Case(JoinKind.LEFT, NearestBound(_TIME, ">=", early=True), fewer_keys=100),
}


def operator(case: Case) -> JoinOperator:
    """Return the operator of a case."""
    conditions = (Comparison(_LEFT_TIME, "<=", _RIGHT_TIME), Comparison(_LEFT_TIME, ">=", _RIGHT_LAST))
    types = [pa.string() if case.texts else pa.int64(), *_TYPES[1:]]
    specification = JoinSpecification(
        1,
        1,
        _LEFT,
        _RIGHT if case.join.pairs else (),
        case.join,
        _KIND if case.changes else None,
        conditions if isinstance(case.bound, IntervalBound) else (),
        False,
        case.bound,
    )
    return JoinOperator(specification, types)


def batches(case: Case, rows: int, keys: int, count: int) -> Iterator[pa.Table]:
    """Yield micro-batches of both sides in random order; the last column is the bucket."""
    random = np.random.default_rng(0)
    previous: pa.Table | None = None
    for batch in range(count):
        made = _rows(case, random, 2 * rows // count, max(keys // case.fewer_keys, 1), batch)
        back = None if previous is None or not case.changes else _taken_back(previous)
        previous = made
        yield made if back is None else pa.concat_tables([made, back])


def _rows(case: Case, random: np.random.Generator, size: int, keys: int, batch: int) -> pa.Table:
    side = random.integers(0, 2, size)
    key = pa.array(random.integers(0, keys, size))
    number, time_ = random.integers(0, 1 << 40, size), random.integers(batch * _SPAN_MS, (batch + 1) * _SPAN_MS, size)
    text = pa.array(random.integers(0, 1000, size)).cast(pa.string())
    end = time_ + _REACH_MS if isinstance(case.bound, IntervalBound) else (time_ // _SPAN_MS + 1) * _SPAN_MS

    def of(which: int, values: pa.Array) -> pa.Array:
        return values.take(pa.array(np.arange(size), mask=side != which))

    numbers, times = pa.array(number), pa.array(time_)
    columns = [key.cast(pa.string()) if case.texts else key, pa.array(side.astype(np.int8))]
    columns += [of(0, numbers), of(0, text), of(1, numbers), of(1, text), of(0, times), of(1, times)]
    columns += [of(1, pa.array(time_ - _REACH_MS)), pa.array(end), pa.array(np.full(size, INSERT, np.int8)), times]
    columns.append(pa.array(np.zeros(size, np.int16)))
    return pa.table(columns, [*(f"c{i}" for i in range(len(columns) - 1)), "bucket"])


def _taken_back(rows: pa.Table) -> pa.Table:
    some = rows.take(np.arange(0, rows.num_rows, 10))
    return some.set_column(_KIND, f"c{_KIND}", pa.array(np.full(some.num_rows, DELETE, np.int8)))


def measure(case: Case, rows: int, keys: int, count: int) -> tuple[float, int, int]:
    """Return the seconds of all micro-batches, how many rows came out, and the bytes of the largest state."""
    made = operator(case)
    data, before, out, largest, seconds = made.encode(made.empty()), None, 0, 0, 0.0
    for number, batch in enumerate(batches(case, rows, keys, count)):
        watermark = number * _SPAN_MS
        started = time.process_time()
        arrived = made.partial(batch)
        arrived = arrived.remove_column(arrived.num_columns - 1)
        step = made.step(made.decode(data), arrived, Clock(watermark, before, number))
        data = made.encode(step.state)
        seconds += time.process_time() - started
        before, out, largest = watermark, out + step.out.num_rows, max(largest, len(data))
    return seconds, out, largest


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--batches", type=int, default=10)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=[])
    arguments = parser.parse_args()
    pa.set_cpu_count(1)
    print(f"{'':18}{'seconds':>9}{'rows out':>12}{'state, bytes':>14}")
    for name, case in CASES.items():
        if arguments.only and not any(o in name for o in arguments.only):
            continue
        runs = [measure(case, arguments.rows, arguments.keys, arguments.batches) for _ in range(arguments.runs)]
        print(f"{name:18}{min(r[0] for r in runs):>9.2f}{runs[0][1]:>12,}{runs[0][2]:>14,}", flush=True)


if __name__ == "__main__":
    main()
