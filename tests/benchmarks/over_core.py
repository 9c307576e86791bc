"""The OVER operator's core without Spark: ms for one micro-batch on one core, and the bytes of its state.

python tests/benchmarks/over_core.py [--rows 200000] [--keys 1000] [--batches 4]

Each micro-batch has ``--rows`` rows in the order of time, a millisecond each; the last one is measured, with the state
read and written. Frames of time reach half a micro-batch back.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import pyarrow as pa

from sqlext_udfs.kernel.operator import Clock
from sqlext_udfs.over.operator import OverOperator
from sqlext_udfs.over.specification import OverCall, OverFrame, OverSpecification

_TYPES = [pa.int64(), pa.int64(), pa.int64(), pa.float64()]
_TIME, _WHOLE, _NUMBER = 1, 2, 3


def _cases(reach: int) -> dict[str, tuple[OverCall, ...]]:
    time_, ten = OverFrame("RANGE", reach), OverFrame("ROWS", 10)
    return {
        "COUNT, SUM of integers, RANGE": (OverCall("count", frame=time_), OverCall("sum", (_WHOLE,), time_)),
        "SUM of floating-point numbers, RANGE": (OverCall("sum", (_NUMBER,), time_),),
        "MIN, RANGE": (OverCall("min", (_WHOLE,), time_),),
        "AVG of floating-point numbers, 10 ROWS": (
            OverCall("sum", (_NUMBER,), ten),
            OverCall("count", (_NUMBER,), ten),
        ),
        "MAX, unbounded": (OverCall("max", (_NUMBER,)),),
        "COUNT(DISTINCT), unbounded": (OverCall("count", (_WHOLE,), distinct=True),),
        "COUNT(DISTINCT), 10 ROWS": (OverCall("count", (_WHOLE,), ten, distinct=True),),
        "LAG, ROW_NUMBER": (OverCall("lag", (_WHOLE,), OverFrame("ROWS")), OverCall("row_number")),
    }


def main() -> None:
    """Print a line for each case."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("rows", 200_000), ("keys", 1_000), ("batches", 4)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    random = np.random.default_rng(1)
    batches = [_batch(random, n, options.rows, options.keys) for n in range(options.batches)]
    for name, calls in _cases(options.rows // 2).items():
        milliseconds, size = _measured(calls, batches)
        print(f"{name:40} {milliseconds:8.0f} ms {size:12,} bytes")


def _batch(random: np.random.Generator, number: int, rows: int, keys: int) -> pa.Table:
    times = number * rows + np.arange(rows)
    columns = [random.integers(0, keys, rows), times, random.integers(0, 1000, rows), random.random(rows)]
    return pa.table([pa.array(c) for c in columns], [f"c{i}" for i in range(len(columns))])


def _measured(calls: tuple[OverCall, ...], batches: list[pa.Table]) -> tuple[float, int]:
    operator = OverOperator(OverSpecification(1, _TIME, (0, 1, 2, 3), calls), _TYPES)
    state = operator.encode(operator.empty())
    took = 0.0
    for number, rows in enumerate(batches):
        begin = time.process_time()
        clock = Clock((number + 1) * rows.num_rows, number * rows.num_rows)
        state = operator.encode(operator.step(operator.decode(state), rows, clock).state)
        took = time.process_time() - begin
    return took * 1000, len(state)


if __name__ == "__main__":
    main()
