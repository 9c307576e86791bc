"""What the bounds of columns say of rows that were not read: never that none passes where one does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlext.connectors.row_bounds import ColumnBounds, can_fail, may_hold
from sqlext.errors import SqlExtError
from sqlext.rewrite.arrow.translation import translated
from sqlext.sources.arrow_types import ArrowField
from sqlext.sources.decoding.parquet_decoder import ParquetDecoder
from sqlext.sources.file_slices import Range
from sqlext.sources.program import Facts, Nulls, Program, Rowtime, Stage
from sqlext_udfs.expressions.columns import Column, Compare, Expression, Literal, Rows
from sqlext_udfs.expressions.functions import INSTANT

_TYPES: dict[str, pa.DataType] = {"i": pa.int32(), "b": pa.int64(), "s": pa.string(), "ts": INSTANT}
_SMALL = st.integers(-5, 5)
_VALUES = {"i": _SMALL, "b": _SMALL, "s": st.sampled_from(["", "a", "b", "ä"]), "ts": _SMALL}
_LITERALS = {
    "i": _SMALL.map(str),
    "b": _SMALL.map(str),
    "s": st.sampled_from(["'a'", "'b'", "'ab'"]),
    "ts": st.sampled_from(["TIMESTAMP '1970-01-01 00:00:00'", "TIMESTAMP '1969-12-31 23:59:59.999998'"]),
}


def _resolved(parts: Sequence[str]) -> Expression:
    return Column(_TYPES[parts[0]], name=parts[0])


@st.composite
def _comparison(draw: st.DrawFn) -> str:
    name = draw(st.sampled_from(list(_TYPES)))
    operator = draw(st.sampled_from(["=", "<>", "<", "<=", ">", ">="]))
    other = {"i": "b", "b": "i"}.get(name)
    side = draw(_LITERALS[name] | st.just(other)) if other else draw(_LITERALS[name])
    shape = draw(st.sampled_from(["{n} {o} {s}", "{s} {o} {n}", "{n} IS NULL", "{n} IS NOT NULL", "i IN (1, 4)"]))
    return shape.format(n=name, o=operator, s=side)


_CONDITIONS = st.recursive(
    _comparison(),
    lambda inner: (
        st.tuples(inner, st.sampled_from(["AND", "OR"]), inner).map(lambda t: f"({t[0]}) {t[1]} ({t[2]})")
        | inner.map(lambda t: f"NOT ({t})")
    ),
    max_leaves=4,
)
_ROWS = st.lists(st.fixed_dictionaries({n: st.none() | v for n, v in _VALUES.items()}), min_size=1, max_size=6)


def _known(columns: dict[str, pa.Array]) -> dict[str, ColumnBounds]:
    found = {}
    for name, column in columns.items():
        values = column.drop_null().sort()
        ends = pa.concat_arrays([values[:1], values[-1:]])
        found[name] = ColumnBounds(ends, column.null_count)
    return found


@settings(deadline=None)
@given(_ROWS, _CONDITIONS)
def test_no_row_that_passes_is_passed_over(rows: list[dict[str, Any]], text: str) -> None:
    columns = {n: pa.array([r[n] for r in rows], of) for n, of in _TYPES.items()}
    condition = translated(text, _resolved, "UTC")
    holds = any(condition.evaluate(Rows.of(columns, len(rows))).to_pylist())
    assert may_hold(condition, _known(columns)) or not holds


@pytest.mark.parametrize(
    ("text", "may"),
    [
        ("i > 3", False),
        ("i >= 3", True),
        ("3 < i OR s = 'c'", False),
        ("i BETWEEN 1 AND 2 AND b = 7", False),
        ("b > i", True),
        ("CAST(i AS BIGINT) < b - 1", True),  # what is not known
        ("s IS NULL", False),
        ("unix_millis(ts) > 2", False),
        ("ts < TIMESTAMP '1970-01-01 00:00:00.002'", True),
    ],
)
def test_what_is_seen(text: str, may: bool) -> None:
    values = {"i": [1, 3], "b": [2, 3], "s": ["a", "b"], "ts": [1500, 2500]}
    known = {n: ColumnBounds(pa.array(v, _TYPES[n]), 0) for n, v in values.items()}
    assert may_hold(translated(text, _resolved, "UTC"), known) is may


def test_what_can_fail_at_an_end_or_nowhere() -> None:
    text = translated("timestamp_millis(b) > TIMESTAMP '2024-01-01 00:00:00'", _resolved, "UTC")
    assert not can_fail(text, {"b": ColumnBounds(pa.array([0, 10**12]), 0)})
    assert can_fail(text, {"b": ColumnBounds(pa.array([0, 2**62]), 0)})
    assert can_fail(text, {})


_TS, _V = Column(INSTANT, name="ts"), Column(pa.int64(), name="v")


def _file(folder: Path, times: Sequence[int | None], values: Sequence[int | None]) -> Range:
    """Write a file with two rows in a row group; times in microseconds."""
    place = folder / "a.parquet"
    pq.write_table(
        pa.table({"ts": pa.array(times, INSTANT), "v": pa.array(values, pa.int64())}), place, row_group_size=2
    )
    return Range(str(place), 0, place.stat().st_size)


def _read(part: Range, *, least: int, nulls: Nulls = "fail") -> tuple[int, Facts]:
    """Return how many row groups were read, and what the file turned out to hold."""
    where = Compare(pa.bool_(), op=">=", inputs=(_V, Literal(pa.int64(), value=least)))
    program = Program(None, Rowtime("ts", "t.ts", nulls), ((Stage((("c0", _V),), where),),))
    facts = Facts()
    decoder = ParquetDecoder((ArrowField("ts", INSTANT), ArrowField("v", pa.int64())))
    read = 0
    for batch in decoder.read(part, lambda known, rows: program.passes(facts, known, rows)):
        read += -(-batch.num_rows // 2)
        list(program.run(batch, facts))
    return read, facts


def test_row_groups_that_no_row_comes_through_count_and_move_the_watermark(tmp_path: Path) -> None:
    part = _file(tmp_path, [10, 30, 20, 50, 40, 45], [1, 2, 9, None, None, None])
    assert _read(part, least=5) == (1, Facts(6, 50, 10))
    assert _read(part, least=0) == (2, Facts(6, 50, 10))
    assert _read(part, least=10) == (0, Facts(6, 50, 10))


@pytest.mark.parametrize("times", [[10, None, 20, 30], [10, -1, 20, 30]])
def test_row_groups_with_a_row_that_fails_are_read(tmp_path: Path, times: list[int | None]) -> None:
    part = _file(tmp_path, times, [1, 1, 1, 1])
    with pytest.raises(SqlExtError, match=r"RUN-00[12]"):
        _read(part, least=5)


def test_bounds_that_python_has_no_value_for_are_not_known(tmp_path: Path) -> None:
    part = _file(tmp_path, [10, 2**62, 20, 30], [1, 1, 1, 1])
    assert _read(part, least=5) == (1, Facts(4, 2**62, 10))


def test_rows_without_a_time_that_are_dropped_do_not_count(tmp_path: Path) -> None:
    part = _file(tmp_path, [10, None, None, None], [1, 1, 1, 1])
    assert _read(part, least=5, nulls="drop") == (0, Facts(1, 10, 10))
    assert _read(part, least=5, nulls="skip_watermark") == (0, Facts(4, 10, 10))
