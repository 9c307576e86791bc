"""Windows that differ in aggregates, keys or width do their partial work once, and each gets what it had alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations
from typing import NamedTuple

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlext.local.reading import worked
from sqlext.session.offline.compilation import compile_source, new_state, read_source
from sqlext.sources.packed import FAILURE, MEMBER, PackedWork, SharedWork, Together
from sqlext.sources.together import Worked, works_together
from sqlext_udfs.expressions.functions import INSTANT
from sqlext_udfs.kernel import partial_work
from sqlext_udfs.kernel.operator import Clock
from sqlext_udfs.kernel.table_codec import decode_rows
from sqlext_udfs.making import made
from sqlext_udfs.windows.shares import Share

_TABLES = """
SET 'sqlext.source' = 'arrow';
CREATE TABLE t (
  k STRING, v INT, w INT, ts TIMESTAMP_LTZ(3), half AS CAST(v AS DOUBLE) * CAST(0.5 AS DOUBLE), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '/nowhere', 'format' = 'csv');
"""
_WINDOWS = [
    "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND)",
    "HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)",
    "SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '2' SECOND)",
]
_AGGREGATES = ["COUNT(*)", "SUM(v)", "MIN(w)", "AVG(half)", "COUNT(DISTINCT v)", "COUNT(v), MAX(w)"]
_WIDER = [
    "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '30' SECOND)",
    "HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '30' SECOND)",
    "CUMULATE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '20' SECOND)",
]
_FILTERS = ["", "WHERE v > 0", "WHERE v > 0.0", "WHERE w > 0"]


def _query(aggregates: str, window: str = _WINDOWS[0], where: str = "", keys: str = "k, ") -> str:
    return f"SELECT {keys}{aggregates} FROM TABLE({window}) {where} GROUP BY {keys}window_start, window_end"


_NO_KEY = ""


class Member(NamedTuple):
    """A query: what is done with its rows, and its work without others."""

    worked: Worked
    work: PackedWork


def members(queries: Sequence[str]) -> list[Member]:
    """Return the works of queries, in their order."""
    return [_compiled(query) for query in queries]


@cache
def _compiled(query: str) -> Member:
    source = read_source(f"{_TABLES}CREATE TABLE s WITH ('connector' = 'blackhole') AS {query};\n")
    ((_, (compiled,)),) = [c for c in compile_source(source, new_state(None)) if c[1]]
    (step,) = compiled.script.read_by_arrow
    of = worked(step, 4)
    here = made(of.function, of.arguments, [f"c{i}" for i in range(len(of.types))], of.types)
    return Member(of, PackedWork(of.program, here.operator, here.keys, of.buckets))


def together(found: Sequence[Member]) -> tuple[Together, ...]:
    """Return the works of members, those that are alike as one."""
    works = works_together([member.worked for member in found])
    done = {share.member for work in works for share in work.shares}
    alone = [Together(m.work, (Share(n),)) for n, m in enumerate(found) if n not in done]
    return (*works, *alone)


_ROWS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", None]),
        st.none() | st.integers(-2, 3),
        st.none() | st.integers(-2, 3),
        st.integers(0, 40),
    ),
    max_size=12,
)


def _batch(rows: list[tuple[str | None, int | None, int | None, int]]) -> pa.RecordBatch:
    k, v, w, seconds = ([row[i] for row in rows] for i in range(4))
    times = pa.array([s * 1_000_000 for s in seconds], pa.int64()).view(INSTANT)
    columns = [pa.array(k, pa.string()), pa.array(v, pa.int32()), pa.array(w, pa.int32()), times]
    return pa.record_batch(columns, ["k", "v", "w", "ts"])


def _panes(member: Member, packed: list[dict[str, object]]) -> list[object]:
    """Return what a bucket after the other gives at the end of time, and how many rows were read."""
    tables: dict[object, list[pa.Table]] = {}
    for row in packed:
        if isinstance(row["rows"], bytes):
            tables.setdefault(row["bucket"], []).append(decode_rows(row["rows"]))
    operator, found = member.work.operator, []
    for came in tables.values():
        out = operator.step(operator.empty(), operator.gathered(came), Clock(Clock.END, None, 0)).out
        found += [tuple(row.values()) for row in out.to_pylist()]
    # How many cells there are does not matter; all but one of a slice tell of no rows.
    marks = [row[name] for row in packed for name in ("read", "mark", "least") if row[name] not in (None, 0)]
    return [*sorted(found, key=repr), *marks]


def _all_panes(found: list[Member], batches: list[pa.RecordBatch]) -> tuple[list[object], list[object]]:
    """Return what each gets of the shared work, and alone."""

    def read(_: object) -> Iterator[pa.RecordBatch]:
        return iter(batches)

    shared = [row for batch in SharedWork(together(found)).process("files", read) for row in batch.to_pylist()]
    mine = [_panes(m, [row for row in shared if row[MEMBER] == number]) for number, m in enumerate(found)]
    alone = [_panes(m, [row for b in m.work.process("files", read) for row in b.to_pylist()]) for m in found]
    return mine, alone


@given(
    st.lists(
        st.builds(
            _query,
            st.sampled_from(_AGGREGATES),
            st.sampled_from([*_WINDOWS, *_WIDER]),
            st.sampled_from(_FILTERS),
            st.sampled_from(["k, ", "k, w, ", _NO_KEY]),
        ).filter(lambda query: "SESSION" not in query or "GROUP BY k, window" in query),
        min_size=1,
        max_size=5,
    ),
    st.lists(_ROWS, max_size=4),
    st.sampled_from([2, 5, 1 << 18]),
)
def test_each_gets_what_it_had_alone(queries: list[str], pieces: list[object], patience: int) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(partial_work, "PATIENCE", patience)  # so that few rows are many pieces
        mine, alone = _all_panes(members(queries), [_batch(rows) for rows in pieces])  # type: ignore[arg-type]
    assert mine == alone


@pytest.mark.parametrize("window", _WINDOWS)
def test_other_aggregates_are_one_work(window: str) -> None:
    (one,) = together(members([_query(a, window) for a in ("COUNT(*), SUM(v)", "MIN(w), SUM(v)", "AVG(half)")]))
    assert [share.member for share in one.shares] == [0, 1, 2]
    assert one.work.program.computed is not None


@pytest.mark.parametrize(
    "other",
    [
        _query("SUM(v)", where="WHERE v > 0"),
        _query("SUM(v)", _WINDOWS[0].replace("10", "15")),
        _query("SUM(v)", keys="w, "),
        _query("AVG(half)", keys=_NO_KEY),
        _query("MIN(half)", _WIDER[0], keys="w, "),
    ],
)
def test_other_rows_windows_and_keys_are_works_of_their_own(other: str) -> None:
    found = together(members([_query("COUNT(*)"), other]))
    assert sorted(share.member for of in found for share in of.shares) == [0, 1]
    assert len(found) == 2


@pytest.mark.parametrize("finer", [_WINDOWS[0], _WINDOWS[1]])
@pytest.mark.parametrize("wider", _WIDER)
@pytest.mark.parametrize("keys", ["k, ", _NO_KEY])
def test_fewer_keys_and_wider_slices_are_made_of_finer_ones(finer: str, wider: str, keys: str) -> None:
    queries = [_query("COUNT(v), MAX(w)", wider, keys=keys), _query("SUM(w)", finer, keys="k, w, ")]
    (one,) = together(members(queries))
    assert [(share.member, share.coarser is None) for share in one.shares] == [(1, True), (0, False)]


def test_sums_that_are_rounded_are_not_made_of_others() -> None:
    """The order in which they are added shows in their last bits."""
    assert len(together(members([_query("SUM(half)", _WIDER[0]), _query("SUM(half)")]))) == 2


def test_a_key_that_can_fail_is_no_others() -> None:
    queries = [_query("SUM(v)", keys=_NO_KEY), _query("SUM(v)", keys="v / w, ")]
    assert len(together(members(queries))) == 2


def test_a_sum_that_overflows_is_its_own() -> None:
    """The sum of all keys is too large, those of each key are not."""
    value = f"CAST({2**62} AS BIGINT)"
    found = members([_query(f"SUM({value})"), _query(f"SUM({value})", keys=_NO_KEY)])
    work = SharedWork(together(found))
    assert len(work.works) == 1

    def read(_: object) -> Iterator[pa.RecordBatch]:
        yield _batch([("a", 1, 1, 1), ("b", 1, 1, 1)])
        yield _batch([("c", 1, 1, 1), ("d", 1, 1, 1)])

    packed = [row for batch in work.process("files", read) for row in batch.to_pylist()]
    failed = {row[MEMBER]: row[FAILURE] for row in packed if row[FAILURE] is not None}
    assert list(failed) == [1]
    assert failed[1].startswith("[RUN-035]")
    assert len(_panes(found[0], [row for row in packed if row[MEMBER] == 0])) > 4


def test_the_same_filter_is_one_work() -> None:
    alike = [_query("COUNT(*)", where=_FILTERS[1]), _query("SUM(w)", where=_FILTERS[1])]
    assert len(together(members(alike))) == 1


def test_a_zero_is_not_its_negative() -> None:
    """They are equal, and give other rows."""
    queries = [_query(f"MIN(CAST(v AS DOUBLE) * {zero})") for zero in ("CAST(0.0 AS DOUBLE)", "CAST(-0.0 AS DOUBLE)")]
    for pair in combinations(queries, 2):
        mine, alone = _all_panes(members(pair), [_batch([("a", 1, 1, 1)])])
        assert list(map(repr, mine)) == list(map(repr, alone))


def test_what_can_fail_is_a_work_of_its_own() -> None:
    """A sum of products may overflow, and the other INSERT's rows have nothing to do with it."""
    found = together(members([_query("COUNT(*)"), _query("SUM(v * w)"), _query("SUM(w)")]))
    assert sorted([share.member for share in of.shares] for of in found) == [[0, 2], [1]]
