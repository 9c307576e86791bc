"""Windows with an offset of each row, without Spark: as Python computes them, whatever the rows are."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlext
from sqlext import SqlExtError
from tests.row_offsets import Grid, Order, of_batch

START = datetime(2024, 1, 1)
MINUTE = 60_000
TABLE = """CREATE TABLE orders (k STRING, off INT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' DAY)
WITH ('connector' = 'filesystem', 'path' = '{0}', 'format' = 'json');"""
SELECT = """SELECT k, off, window_start, window_end, COUNT(*) AS n, SUM(v) AS s
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR, {0})) GROUP BY k, off, window_start, window_end"""
OFFSETS = st.dictionaries(st.sampled_from("abc"), st.integers(-200, 200), min_size=1)
TIMES = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 300)), min_size=1, max_size=12)


def put(folder: Path, number: int, orders: Sequence[Order]) -> None:
    folder.mkdir(exist_ok=True)
    lines = [{"k": o.key, "off": o.offset, "v": o.value, "ts": str(START + timedelta(minutes=o.time))} for o in orders]
    (folder / f"{number}.json").write_text("".join(json.dumps(line) + "\n" for line in lines))


def run(folder: Path, offset: str) -> list[tuple[Any, ...]]:
    session = sqlext.connect(settings={"sqlext.engine": "local"})
    session.run(TABLE.format(folder))
    rows = session.sql(SELECT.format(offset)).rows
    minutes = [(k, o, *((w - START) // timedelta(minutes=1) for w in bounds), n, s) for k, o, *bounds, n, s in rows]
    return sorted(minutes, key=repr)


@settings(deadline=None, max_examples=25)
@given(OFFSETS, TIMES, st.integers(0, 12), st.sampled_from(["off * INTERVAL '1' MINUTE", f"off * {MINUTE}"]))
def test_as_python_computes_them(
    tmp_path_factory: pytest.TempPathFactory,
    offsets: dict[str, int],
    times: list[tuple[str, int]],
    cut: int,
    offset: str,
) -> None:
    orders = [Order(key, offsets[key], time, time + 1) for key, time in times if key in offsets]
    folder = tmp_path_factory.mktemp("orders")
    for number, part in enumerate((orders[:cut], orders[cut:])):
        put(folder, number, part)
    assert run(folder, offset) == sorted(of_batch(Grid(60, 60), orders), key=repr)


def test_a_row_without_offset_fails_the_query(tmp_path: Path) -> None:
    put(tmp_path / "orders", 0, [Order("a", 0, 5, 1)])
    with pytest.raises(SqlExtError) as failed:
        run(tmp_path / "orders", "NULLIF(off, 0)")
    assert failed.value.code == "RUN-092", failed.value.render()


def test_what_it_cannot_compute_is_spark_s(tmp_path: Path) -> None:
    put(tmp_path / "orders", 0, [Order("a", 0, 5, 1)])
    with pytest.raises(SqlExtError) as refused:
        run(tmp_path / "orders", "CASE k WHEN 'a' THEN INTERVAL '1' HOUR ELSE INTERVAL '0' HOUR END")
    assert refused.value.code == "OPT-036"
