"""EXPLAIN WHY as text. Times are of 1970, in minutes and seconds."""

from __future__ import annotations

from sqlext.watermarks.ends import Ends, SessionEnd
from sqlext.watermarks.inputs import END_OF_TIME, Alignment, Input
from sqlext.watermarks.keeper import Seen, TimeKeeper
from sqlext.watermarks.report import TimeReport
from sqlext.watermarks.texts import duration, moment
from sqlext.watermarks.why import Asked, why

SECOND, MINUTE = 1000, 60_000
MINUTES = (Ends(MINUTE),)


def row(second: float, split: str = "") -> Seen:
    return Seen(int(second * SECOND), 1, split, int(second * SECOND))


def lines(keeper: TimeKeeper | None, *, status: str = "running", bounded: bool = False, live: bool = True) -> list[str]:
    report = None if keeper is None else TimeReport.of(keeper)
    return why(Asked("q", status, bounded, report, live), "UTC").replace("1970-01-01 ", "").splitlines()


def two() -> TimeKeeper:
    delayed = Input("b", delay=10 * SECOND, idle=MINUTE, ends=MINUTES)
    return TimeKeeper([Input("a", delay=10 * SECOND, ends=MINUTES), delayed], 0)


def test_before_the_first_row() -> None:
    assert lines(two()) == [
        "Query `q` is running.",
        "It has no watermark yet: no row has come from `a` and `b`.",
        "No row has come yet, so no window is open.",
        (
            "- `a` holds the query back: no row has come. It has no idle timeout: 'scan.watermark.idle-timeout' would "
            "let the others go on without it."
        ),
        (
            "- `b` holds the query back: no row has come. If it stays silent, it is idle at 00:01:00 and holds nobody "
            "back."
        ),
    ]


def test_who_must_reach_what() -> None:
    keeper = two()
    keeper.saw("a", [row(5), row(130)], 0)
    keeper.saw("b", [row(17)], SECOND)
    keeper.decide(SECOND)
    assert lines(keeper) == [
        "Query `q` is running.",
        "Its watermark is 00:00:07.",
        "The next window ends at 00:01:00; it closes when the watermark is there.",
        "- `a`: its watermark is 00:02:00, far enough.",
        (
            "- `b` holds the query back: the largest event time is 00:00:17, the watermark 10 s behind that. For the "
            "next window it must give a row of 00:01:10 or later. If it stays silent, it is idle at 00:01:01 and holds "
            "nobody back."
        ),
    ]
    keeper.decide(2 * MINUTE)
    assert lines(keeper)[-1] == "- `b` is idle since 00:00:01: it holds nobody back until it gives rows."


def test_a_single_input_and_a_clock_that_closes_its_windows() -> None:
    keeper = TimeKeeper([Input("a", idle=MINUTE, closes=True, ends=(SessionEnd(30 * SECOND),))], 0)
    keeper.saw("a", [row(5)], 0)
    keeper.decide(0)
    assert lines(keeper)[2:] == [
        "The newest session ends at 00:00:35; older ones end before it. It closes when the watermark is there.",
        (
            "- `a` holds the query back: the largest event time is 00:00:05. For the next window it must give a row of "
            "00:00:35 or later. It is the only input: nothing else moves the watermark."
        ),
    ]
    keeper.decide(MINUTE)
    assert lines(keeper)[3].endswith("If none does, the clock closes the window at 00:01:35.")
    asking = TimeKeeper([Input("a", idle=MINUTE, ends=MINUTES)], 0)
    asking.saw("a", [row(5)], 0)
    asking.decide(2 * MINUTE)
    assert lines(asking)[3].endswith("With 'sqlext.idle.close-windows' = 'true' the clock would close the window.")


def test_a_watermark_that_moves_at_an_interval() -> None:
    keeper = TimeKeeper([Input("a", interval=10 * SECOND, by_rows=False, ends=MINUTES), Input("b")], 0)
    keeper.saw("a", [row(5)], 0)
    keeper.decide(0)
    assert lines(keeper)[3].endswith("it must reach 00:01:00 too. Its watermark moves at most every 10 s.")


def test_splits_are_named() -> None:
    keeper = TimeKeeper([Input("k", idle=MINUTE, ends=MINUTES)], 0)
    keeper.saw("k", [row(130, "A"), *(row(20, str(n)) for n in range(7))], 0)
    keeper.decide(0)
    assert lines(keeper)[3] == (
        "- `k` holds the query back: the largest event time is 00:00:20 in splits `0`, `1`, `2`, `3`, `4` and 2 more. "
        "For the next window each of them must give a row of 00:01:00 or later. If they stay silent, they are idle at "
        "00:01:00 and hold nobody back."
    )


def test_who_is_held_back_by_whom() -> None:
    group = Alignment("g", 5 * MINUTE)
    keeper = TimeKeeper([Input("a", alignment=group, ends=MINUTES), Input("b", alignment=group)], 0)
    keeper.saw("a", [row(3600, "P1")], 0)
    keeper.saw("b", [row(60)], 0)
    keeper.decide(0)
    assert lines(keeper)[3] == (
        "- `a`: its watermark is 01:00:00; it must reach 01:01:00 too. Its split `P1` may give no rows until `b` "
        "catches up (alignment group 'g')."
    )


def test_what_is_not_known_is_said() -> None:
    assert lines(None) == [
        "Query `q` is running.",
        "No watermark is kept for it: nothing in it waits for event time, or it has not begun yet.",
    ]
    assert lines(None, bounded=True)[1].startswith("It is bounded: its windows close when all of its input has been")
    assert lines(None, status="finished")[1].startswith("It came to the end of its input")
    assert lines(None, status="stopped", bounded=True)[1].startswith("Nothing comes out while it does not run")
    keeper = TimeKeeper([Input("a"), Input("b", bounded=True)], 0)
    keeper.saw("a", [row(5)], 0)
    keeper.ended("b")
    keeper.decide(0)
    assert lines(keeper)[2:] == [
        "Which time it waits for is not known here: that is up to an operator (a join, OVER, a match, ...).",
        (
            "- `a` holds the query back: the largest event time is 00:00:05. It has no idle timeout: "
            "'scan.watermark.idle-timeout' would let the others go on without it."
        ),
        "- `b` has ended: it holds nobody back.",
    ]
    assert lines(keeper, live=False)[0] == (
        "Query `q` is running in another process, or was; what follows was written at 00:00:00."
    )
    assert lines(keeper, status="stopped", live=False)[0] == (
        "Query `q` is stopped; what follows was written at 00:00:00."
    )


def test_times_in_a_zone() -> None:
    assert moment(0, "Europe/Berlin") == "1970-01-01 01:00:00"
    assert moment(1, "UTC") == "1970-01-01 00:00:00.001"
    assert (moment(END_OF_TIME, "UTC"), moment(None, "UTC")) == ("the end of time", "none")
    assert [duration(ms) for ms in (0, 1, 1500, 2000, 90_000, 3_600_000, 172_800_000)] == [
        "0 ms", "1 ms", "1500 ms", "2 s", "90 s", "1 h", "2 d",
    ]  # fmt: skip
