"""What follows from a policy without running it: JSON, continuation, whether it finishes or looks at rows."""

from __future__ import annotations

import json

import pytest

from sqlext_udfs.windows.policy import (
    Cumulate,
    Global,
    Hop,
    KeepCount,
    KeepDelta,
    KeepTime,
    KeepUsing,
    Options,
    Policy,
    Session,
    Tumble,
)
from sqlext_udfs.windows.policy_json import policy_from_json, policy_to_json
from sqlext_udfs.windows.triggers.rules import batch_insensitive, can_finish, continuation, not_mergeable, uses_clock
from sqlext_udfs.windows.triggers.tree import (
    AfterCount,
    AfterDelay,
    AfterDelta,
    AfterIdle,
    AfterWatermark,
    Align,
    AllOf,
    AnyOf,
    Case,
    Delay,
    EachOf,
    EveryAligned,
    EveryEventTime,
    EveryPeriod,
    EveryRow,
    Never,
    Purging,
    Repeat,
    SameBatch,
    Timeout,
    Trigger,
    Until,
    Using,
    When,
    WindowClose,
)

DELAY = AfterDelay((Delay(5), Align(60, 3)))
TRIGGERS: list[Trigger] = [
    AfterCount(3, at_least=True),
    EveryRow(),
    DELAY,
    EveryPeriod(5, (Align(3),)),
    EveryAligned(5, repeat=True),
    EveryEventTime(5),
    AfterIdle(5, of_query=True),
    AfterDelta(2.5, absolute=True, column=1),
    When("x", (0, 2)),
    Case(1),
    Using("u", (1, 2.5, "x", None, True), (0,)),
    AfterWatermark(DELAY, EveryRow(), 3, 4),
    WindowClose(1, 2),
    Never(),
    SameBatch(),
    AllOf((Never(), EveryRow())),
    AnyOf((Never(), EveryRow())),
    EachOf((Never(), EveryRow())),
    Until(EveryRow(), AfterCount(5)),
    Repeat(AfterCount(2)),
    Timeout(AfterCount(2), 5, since_last_row=True, keep_state=True),
    Purging(AfterCount(2)),
]


@pytest.mark.parametrize("trigger", TRIGGERS, ids=lambda t: type(t).__name__)
def test_a_policy_survives_json(trigger: Trigger) -> None:
    for window in (Tumble(1), Hop(1, 2, 3), Cumulate(4, 2), Session(None), Session(3), Global()):
        for evictor in (None, KeepCount(1), KeepTime(2), KeepDelta(0.5, True, 1), KeepUsing("e", ("a",))):
            policy = Policy(window, trigger, evictor=evictor, options=Options(deadline="after"))
            assert policy_from_json(policy_to_json(policy)) == policy


def test_a_policy_of_another_version_is_refused() -> None:
    data = json.loads(policy_to_json(Policy(Global(), EveryRow()))) | {"version": 2}
    with pytest.raises(ValueError, match="version 2"):
        policy_from_json(json.dumps(data))


@pytest.mark.parametrize(
    ("trigger", "finishes"),
    [
        (AfterCount(3), True),
        (EveryRow(), False),
        (DELAY, True),
        (EveryPeriod(5), False),
        (AfterWatermark(), True),
        (AfterWatermark(early=EveryRow()), True),
        (AfterWatermark(late=Never()), False),
        (WindowClose(), False),
        (Never(), False),
        (Case(), False),
        (Using("u"), False),
        (AllOf((AfterCount(1), Never())), False),
        (AnyOf((AfterCount(1), Never())), True),
        (EachOf((AfterCount(1), EveryRow())), False),
        (Until(EveryRow(), AfterCount(5)), True),
        (Repeat(AfterCount(2)), False),
        (Timeout(AfterCount(2), 5), True),
        (Timeout(EveryRow(), 5), False),
        (Purging(AfterCount(2)), True),
    ],
    ids=repr,
)
def test_can_finish(trigger: Trigger, finishes: bool) -> None:
    assert can_finish(trigger) == finishes


@pytest.mark.parametrize(
    ("trigger", "continued"),
    [
        (AfterCount(7), AfterCount(1)),
        (EveryRow(), EveryRow()),
        (DELAY, SameBatch()),
        (EveryPeriod(5), EveryRow()),
        (AfterIdle(5), SameBatch()),
        (AfterDelta(5), AfterCount(1)),
        (Case(), Repeat(AfterCount(1))),
        (Timeout(AfterCount(2), 5), AnyOf((AfterCount(1), SameBatch()))),
        (Purging(AfterCount(2)), Purging(AfterCount(1))),
        (WindowClose(3), WindowClose(3)),
        (Never(), Never()),
        (AfterWatermark(DELAY, AfterCount(2), 3), AfterWatermark(SameBatch(), AfterCount(1), 3)),
        (Repeat(EachOf((AfterCount(2), DELAY))), Repeat(Repeat(AnyOf((AfterCount(1), SameBatch()))))),
    ],
    ids=repr,
)
def test_continuation(trigger: Trigger, continued: Trigger) -> None:
    assert continuation(trigger) == continued


def test_combining_rows() -> None:
    assert batch_insensitive(Policy(Tumble(1), AfterWatermark(DELAY, EveryRow())))
    assert not batch_insensitive(Policy(Tumble(1), AfterWatermark(early=AfterCount(2))))
    assert not batch_insensitive(Policy(Tumble(1), Case()))
    assert not batch_insensitive(Policy(Tumble(1), AfterWatermark(), evictor=KeepCount(1)))
    assert not batch_insensitive(Policy(Tumble(1), AfterWatermark(), pane_timestamp="LATEST"))
    assert not batch_insensitive(Policy(Session(1), DELAY, once=True))


def test_what_needs_the_clock_and_what_cannot_merge() -> None:
    assert uses_clock(Policy(Tumble(1), AfterWatermark(early=DELAY)))
    assert uses_clock(Policy(Tumble(1), WindowClose(timeout=3)))
    assert uses_clock(Policy(Tumble(1), AfterWatermark(), processing_time=True))
    assert not uses_clock(Policy(Tumble(1), AfterWatermark(early=AfterCount(2))))
    assert not_mergeable(Repeat(Timeout(EveryRow(), 3))) == Timeout(EveryRow(), 3)
    assert not_mergeable(AfterWatermark(early=DELAY)) is None
