"""What a delay loses and costs, against a count row by row."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlext.watermarks.advice.alignment import aligned
from sqlext.watermarks.advice.arrivals import Arrivals, Gathering
from sqlext.watermarks.advice.assumption import Assumption
from sqlext.watermarks.advice.delays import chosen_delays, rounded_up
from sqlext.watermarks.advice.lateness import ALWAYS, Lateness
from sqlext.watermarks.advice.rows import COLUMNS, Advice
from sqlext.watermarks.ends import Ends
from sqlext.watermarks.inputs import Alignment, Input
from sqlext.watermarks.keeper import Seen, TimeKeeper

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


@pytest.mark.parametrize(
    ("labels", "shown"),
    [
        (["roof", None, "hall"], ["hall", "roof", "NULL"]),
        ([10, 9, None, -1], ["-1", "9", "10", "NULL"]),
    ],
)
def test_of_equal_partitions_the_order_is_that_of_their_names(labels: Sequence[Hashable], shown: Sequence[str]) -> None:
    """And not that in which files happened to be read."""
    gathering = Gathering()
    for label in labels:
        gathering.add([label], np.zeros(1, np.int64), np.zeros(1, np.int64), np.ones(1, np.int64), None)
    advice = Advice(Lateness(gathering.arrivals(), windows=Ends(1000)), 2000, (1000,))
    assert list(dict.fromkeys(row[0] for row in advice.rows())) == [None, *shown]
    assert list(advice.curve()) == [None, *shown]


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


def of_a_run(batches: Batches, assumed: Assumption, delay: int) -> tuple[list[tuple[int, str, int]], int]:
    """Return which rows (micro-batch, partition, time) a query with this declaration drops, and how many still wait.

    A keeper with the delay decides after each micro-batch. The clock is the largest time that has come.
    """
    labels = sorted({label for batch in batches for label, _ in batch})
    alignment = Alignment("g", assumed.drift) if assumed.drift is not None else None
    clock = max((t for _, t in batches[0]), default=0) if batches else 0
    keeper = TimeKeeper([Input("t", delay, assumed.idle, alignment=alignment)], clock)
    if assumed.per_partition:
        keeper.saw("t", [Seen(None, 0, label) for label in labels], clock)
    waiting: dict[str, list[list[int]]] = {label: [] for label in labels}
    held: frozenset[str] = frozenset()
    watermarks: list[int | None] = []
    dropped = []
    while True:
        number = len(watermarks)
        for label in labels if number < len(batches) else ():
            if times := [t for of, t in batches[number] if of == label]:
                clock = max([clock, *times])
                waiting[label].append(times)
        free = [label for label in labels if waiting[label] and label not in held]
        if number >= len(batches) and not free:
            return dropped, sum(len(times) for queue in waiting.values() for times in queue)
        judging = watermarks[number - assumed.behind] if number >= assumed.behind else None
        for label in free:
            pieces = len(waiting[label]) if assumed.behind == 1 else 1
            times = [t for piece in waiting[label][:pieces] for t in piece]
            del waiting[label][:pieces]
            dropped += [(number, label, t) for t in times if judging is not None and t <= judging]
            split = label if assumed.per_partition else ""
            keeper.saw("t", [Seen(t, 1, split) for t in times], clock)
        held = keeper.decide(clock).held.get("t", frozenset())
        watermarks.append(keeper.watermark)


def of_the_advisor(batches: Batches, assumed: Assumption, delay: int) -> tuple[list[tuple[int, str, int]], int]:
    """Return the same as ``of_a_run``, as it is foretold."""
    waited = aligned(arrivals(batches), assumed)
    rows = waited.arrivals
    late = Lateness(rows, assumed).late(delay)
    each = zip(rows.batch.tolist(), rows.partition.tolist(), rows.time.tolist(), rows.rows.tolist(), strict=True)
    found = [
        (b, str(rows.labels[p]), t)
        for (b, p, t, n), is_late in zip(each, late, strict=True)
        if is_late
        for _ in range(n)
    ]
    return found, waited.left


@given(BATCHES, ASSUMED, st.sampled_from([None, 0, 30]), st.sampled_from([0, 25, 120]))
def test_losses_are_those_of_a_run_with_each_declaration(
    batches: Batches, assumed: Assumption, drift: int | None, delay: int
) -> None:
    batches = [batch for batch in batches if batch]
    declared = replace(assumed, leaves_out=False, drift=drift if assumed.per_partition else None)
    lost, left = of_a_run(batches, declared, delay)
    foretold, still = of_the_advisor(batches, declared, delay)
    assert (sorted(foretold), still) == (sorted(lost), left)


#: `b` falls silent after its first row, and `a` goes on for 100 ms. Then rows of both come that are 60 ms old.
SILENT: Batches = [
    [("a", 0), ("b", 0)],
    *([("a", time)] for time in range(10, 101, 10)),
    [("a", 40), ("b", 41)],
    [("a", 110)],
]
#: `a` is 100 ms ahead at once, and `b` catches up by 20 ms a micro-batch.
APART: Batches = [[("a", 0), ("b", 0)], *([("a", 100 + time), ("b", time)] for time in range(20, 121, 20))]


@pytest.mark.parametrize(
    ("batches", "assumed", "late"),
    [
        # One watermark for all partitions does not wait for the silent one.
        (SILENT, Assumption(), [("a", 40), ("b", 41)]),
        # With one of each, the silent one holds the watermark; until it is idle.
        (SILENT, Assumption(per_partition=True), []),
        (SILENT, Assumption(per_partition=True, idle=50), [("a", 40), ("b", 41)]),
        (SILENT, Assumption(per_partition=True, idle=200), []),
        # A whole input without rows is idle, and follows nobody.
        (SILENT, Assumption(idle=50), [("a", 40), ("b", 41)]),
        # A partition that alignment holds back moves no watermark that it shares with others.
        (APART, Assumption(), [("b", t) for t in range(40, 121, 20)]),
        (APART, Assumption(per_partition=True), []),
        (APART, Assumption(per_partition=True, drift=30), []),
    ],
)
def test_what_a_declaration_changes(batches: Batches, assumed: Assumption, late: list[Row]) -> None:
    lost, _ = of_the_advisor(batches, assumed, 0)
    assert [(label, time) for _, label, time in lost] == late
    assert sorted(lost) == sorted(of_a_run(batches, assumed, 0)[0])


def test_rows_from_the_future_move_the_watermark_until_they_are_left_out() -> None:
    batches = [[("a", 10)], [("a", LIMIT + 1)], [("a", 20)], [("a", 30)]]
    late = {n: Lateness(arrivals(batches), Assumption(leaves_out=n)).late(5).tolist() for n in (False, True)}
    assert late == {False: [False, False, True, True], True: [False, True, False, False]}


def test_alignment_holds_back_who_is_ahead_and_less_is_open() -> None:
    declared = Assumption(per_partition=True)
    waited = aligned(arrivals(APART), replace(declared, drift=30))
    # `a` has read up to 120 when it must wait: its other five rows come when `b` has reached 100.
    assert waited.arrivals.batch[waited.arrivals.partition == 0].tolist() == [0, 1, 6, 6, 6, 6, 6]
    assert (waited.later, waited.most, waited.left, waited.partitions) == (4, 4, 0, 1)
    # While `b` is far behind, two of the three rows of `a` that have come are not open, but wait.
    behind = APART[:4]
    waited = aligned(arrivals(behind), replace(declared, drift=30))
    before, after = Lateness(arrivals(behind), declared), Lateness(waited.arrivals, replace(declared, drift=30))
    assert (before.held(0)[0], after.held(0)[0], waited.left) == (3, 1, 2)
    assert aligned(arrivals(APART), replace(declared, drift=200)).later == 0
    # One input is never ahead of itself.
    assert aligned(arrivals(APART), Assumption(drift=30)).later == 0


def test_a_partition_waits_for_ever_for_a_silent_one_unless_that_is_idle() -> None:
    silent = [*SILENT[:11]]
    waited = {n: aligned(arrivals(silent), Assumption(n, per_partition=True, drift=30)) for n in (None, 50)}
    # 10 to 40 are read; the drift is passed by 40.
    assert waited[None].left == 6
    assert waited[50].left == 0
    assert waited[50].most > 0


@given(BATCHES, ASSUMED, st.sampled_from([None, 30]), st.sampled_from([10, 60]), st.integers(0, 120))
def test_wrong_windows_are_those_whose_count_is_wrong(
    batches: Batches, assumed: Assumption, drift: int | None, size: int, delay: int
) -> None:
    declared = replace(assumed, drift=drift)
    rows = aligned(arrivals(batches), declared).arrivals
    lateness = Lateness(rows, declared, Ends(size))
    late = lateness.late(delay).tolist()
    counts: dict[bool, dict[tuple[int, int], int]] = {False: {}, True: {}}
    for partition, time, n, is_late in zip(
        rows.partition.tolist(), rows.time.tolist(), rows.rows.tolist(), late, strict=True
    ):
        window = time // size, partition
        counts[True][window] = counts[True].get(window, 0) + n
        if not is_late:
            counts[False][window] = counts[False].get(window, 0) + n
    wrong = {window for window, n in counts[True].items() if counts[False].get(window) != n}
    found, of_each = lateness.windows_of(lateness.late(delay))
    assert found == len({window for window, _ in wrong})
    assert of_each.tolist() == [sum(p == n for _, p in wrong) for n in range(len(rows.labels))]
    totals = {
        (window + 1) * size: [sum(n for (w, _), n in counts[kept].items() if w == window) for kept in (True, False)]
        for window in {w for w, _ in wrong}
    }
    named = lateness.wrong_windows(delay)
    assert {end: (rows, rows - lost) for end, lost, rows in named} == {end: (*two,) for end, two in totals.items()}
    assert [lost for _, lost, _ in named] == sorted((lost for _, lost, _ in named), reverse=True)
