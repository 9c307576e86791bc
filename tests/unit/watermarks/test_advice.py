"""What a delay loses and costs, against a count row by row."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sqlext.watermarks.advice.arrivals import Arrivals, Gathering
from sqlext.watermarks.advice.assumption import Assumption
from sqlext.watermarks.advice.delays import chosen_delays, rounded_up
from sqlext.watermarks.advice.lateness import ALWAYS, Lateness
from sqlext.watermarks.advice.rows import COLUMNS, Advice
from sqlext.watermarks.ends import Ends

Row = tuple[str, int]
Batches = Sequence[Sequence[Row]]

LIMIT = 150
BATCHES = st.lists(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 200)), max_size=8), max_size=8)
ASSUMED = st.builds(
    Assumption,
    idle=st.sampled_from([None, 40]),
    per_partition=st.booleans(),
    leaves_out=st.booleans(),
    behind=st.integers(1, 3),
)


def arrivals(batches: Batches) -> Arrivals:
    gathering = Gathering()
    for batch in batches:
        labels = sorted({label for label, _ in batch})
        places = np.array([labels.index(label) for label, _ in batch], np.int64)
        times = np.array([time for _, time in batch], np.int64)
        gathering.add(labels, places, times, np.ones(len(batch), np.int64), LIMIT)
        gathering.next_batch()
    return gathering.arrivals()


def watermarks(batches: Batches, assumed: Assumption) -> list[int | None]:
    """Return the watermark without a delay after each batch, by the rules of the pages."""
    labels = {label for batch in batches for label, _ in batch} if assumed.per_partition else {""}
    largest: dict[str, int] = {}
    since: dict[str, int] = {}
    clock = 0
    watermark: int | None = None
    found = []
    for batch in batches:
        counted = [(label if assumed.per_partition else "", t) for label, t in batch if not _left_out(t, assumed)]
        clock = max([clock, *(t for _, t in counted)])
        for label, time in counted:
            largest[label] = max(largest.get(label, time), time)
            since[label] = clock
        if not found:
            since = {label: since.get(label, clock) for label in labels}
        active = {n for n in labels if assumed.idle is None or clock - since[n] < assumed.idle}
        reached = None
        if not active:
            reached = max(largest.values(), default=None)
        elif active <= set(largest):
            reached = min(largest[n] for n in active)
        if reached is not None:
            watermark = reached if watermark is None else max(watermark, reached)
        found.append(watermark)
    return found


def _left_out(time: int, assumed: Assumption) -> bool:
    return assumed.leaves_out and time > LIMIT


def late_rows(batches: Batches, assumed: Assumption, window: int | None, delay: int) -> list[tuple[str, int]]:
    """Return partition and deadline of each row that is late."""
    after = watermarks(batches, assumed)
    late = []
    for number, batch in enumerate(batches):
        judging = after[number - assumed.behind] if number >= assumed.behind else None
        for label, time in batch:
            deadline = time if window is None else time // window * window + window
            if _left_out(time, assumed) or (judging is not None and deadline <= judging - delay):
                late.append((label, deadline))
    return late


@given(BATCHES, ASSUMED, st.sampled_from([None, 10, 60]), st.integers(0, 120))
def test_late_rows_are_those_of_a_count_row_by_row(
    batches: Batches, assumed: Assumption, window: int | None, delay: int
) -> None:
    # The last batches may be empty: nothing is known of them.
    while batches and not batches[-1]:
        batches = batches[:-1]
    rows = arrivals(batches)
    lateness = Lateness(rows, assumed, Ends(window) if window else None)
    late = late_rows(batches, assumed, window, delay)
    found = dict(zip(rows.labels, lateness.rows(lateness.late(delay)).tolist(), strict=True))
    assert found == {label: sum(n == label for n, _ in late) for label in rows.labels}
    windows, of_each = lateness.windows_of(lateness.late(delay))
    assert windows == len({deadline for _, deadline in late})
    assert of_each.tolist() == [len({d for n, d in late if n == label}) for label in rows.labels]


@given(BATCHES, st.integers(0, 120))
def test_rows_are_open_from_their_batch_until_the_watermark_passes_them(batches: Batches, delay: int) -> None:
    rows = arrivals(batches)
    lateness = Lateness(rows)
    after = watermarks(batches, lateness.assumed)[: rows.batches]
    most = 0
    for number, watermark in enumerate(after):
        judged = [(n, t) for n, batch in enumerate(batches[: number + 1]) for _, t in batch]
        in_time = [(n, t) for n, t in judged if n == 0 or after[n - 1] is None or t > after[n - 1] - delay]  # type: ignore[operator]
        most = max(most, sum(watermark is None or t > watermark - delay for _, t in in_time))
    assert lateness.held(delay)[0] == most


@given(BATCHES)
def test_chosen_delays_lose_less_and_less_and_the_last_one_nothing(batches: Batches) -> None:
    lateness = Lateness(arrivals(batches))
    delays = chosen_delays(lateness.lag, lateness.arrivals.rows, ALWAYS)
    lost = [int(lateness.rows(lateness.late(delay)).sum()) for delay in delays]
    assert delays[0] == 0
    assert lost == sorted(lost, reverse=True)
    assert lost[-1] == 0


@given(st.integers(1, 10**9))
def test_delays_are_rounded_up_to_what_people_write(delay: int) -> None:
    assert delay <= rounded_up(delay) <= delay * 1.2 + 100
    assert rounded_up(rounded_up(delay)) == rounded_up(delay)


def test_rows_of_the_result() -> None:
    batches = [[("a", 10_000), ("b", 20_000)], [("a", 14_000), ("b", 21_000)], [("b", 40_000)]]
    gathering = Gathering(nulls=2)
    for batch in batches:
        for label, time in batch:
            gathering.add([label], np.zeros(1, np.int64), np.array([time]), np.ones(1, np.int64), 30_000)
        gathering.next_batch()
    advice = Advice(Lateness(gathering.arrivals(), windows=Ends(1000)), 2000, (1000, 9000))
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in advice.rows()]
    assert [(r["partition"], r["delay"].seconds, r["declared"], r["rows"], r["late rows"]) for r in rows] == [
        (None, 1, False, 5, 1),
        (None, 2, True, 5, 1),
        (None, 9, False, 5, 0),
        ("a", 1, False, 2, 1),
        ("a", 2, True, 2, 1),
        ("a", 9, False, 2, 0),
        ("b", 1, False, 3, 0),
        ("b", 2, True, 3, 0),
        ("b", 9, False, 3, 0),
    ]
    assert (rows[0]["windows"], rows[0]["wrong windows"], rows[0]["late share"]) == (5, 1, 0.2)
    assert (rows[0]["longest gap"], rows[0]["rows ahead"]) == (timedelta(seconds=19), 1)
    told = [advice.summary(), *advice.warnings()]
    assert told[0] == "Late rows: 1 s 20 %, 2 s 20 %, 9 s 0 %."
    assert [text.split()[0] for text in told[1:]] == ["1", "2"]  # a row ahead of the clock, two without a time


def test_of_one_batch_nothing_is_known() -> None:
    told = list(Advice(Lateness(arrivals([[("a", 5), ("a", 3)]]))).warnings())
    assert any("no row can be late" in text for text in told)
    empty = Advice(Lateness(arrivals([])))
    assert [empty.summary(), *empty.warnings()] == ["There are no rows with an event time."]


@given(BATCHES, ASSUMED)
def test_the_curve_is_the_share_of_late_rows(batches: Batches, assumed: Assumption) -> None:
    """At its points, and between them: the share falls where a point stands."""
    lateness = Lateness(arrivals(batches), assumed)
    curves = Advice(lateness, 7).curve()
    total = int(lateness.rows().sum())
    assert next(iter(curves)) is None
    for delay in range(202):
        late = int(lateness.rows(lateness.late(delay)).sum())
        share = next(share for at, share in reversed(curves[None]) if at <= delay)
        assert share == (round(late / total, 6) if total else 0.0)
