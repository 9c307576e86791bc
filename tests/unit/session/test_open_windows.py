"""Windows that are open go on under an EMIT clause with other numbers, with the rows that they have."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hypothesis import Phase, event, example, given, settings
from hypothesis import strategies as st

from sqlext.analysis.inserts.changes import ChangeKind, changes
from sqlext_udfs.kernel.operator import Clock
from tests.unit.session.bucketed import GROUPED, MIDNIGHT, ROWS, Bucketed, plans_for

ROW: dict[str, object] = {"k": "a", "v": 1, "ts": "2024-01-01 00:00:31"}
EARLY = st.sampled_from(("EVERY {} ROWS", "EVERY {} SECOND", "EVERY {} SECOND REPEAT", "AFTER IDLE {} SECOND"))
LATE = st.sampled_from(("LATE EVERY ROW ", "LATE EVERY {} ROWS ", "")).map(
    "{}ALLOW LATENESS INTERVAL '{{}}' SECOND".format
)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[str, ...]:
    """Draw two EMIT clauses: most of them differ in numbers alone."""
    parts = st.tuples(st.one_of(st.just(""), EARLY.map("EARLY {}".format)), st.one_of(st.just(""), LATE))
    one = draw(parts)
    other = draw(parts) if draw(st.integers(0, 4)) == 0 else one
    return tuple(re.sub("{}", lambda _: str(draw(st.integers(1, 9))), " ".join(of)) for of in (one, other))


@settings(deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(pairs(), ROWS, ROWS, st.integers(1, 30))
@example(("EARLY EVERY 2 ROWS", "EARLY EVERY 3 ROWS"), [ROW, ROW, ROW], [ROW], 1)
@example(("EARLY EVERY 9 SECOND REPEAT", "EARLY EVERY 2 SECOND REPEAT"), [ROW], [ROW], 1)
@example(("ALLOW LATENESS INTERVAL '9' SECOND", "ALLOW LATENESS INTERVAL '1' SECOND"), [ROW], [], 30)
@example(("ALLOW LATENESS INTERVAL '1' SECOND", "ALLOW LATENESS INTERVAL '9' SECOND"), [ROW], [ROW], 30)
def test_open_windows_go_on_under_another_clause(
    pair: tuple[str, ...], first: list[dict[str, object]], then: list[dict[str, object]], second: int
) -> None:
    """The last pane of each window is that of the new query over all rows; none of them is late."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "in").mkdir()
        plans = [plans_for(folder, f"{GROUPED} EMIT AFTER WATERMARK {text}") for text in pair]
        found = changes(*(plan.prints for plan in plans))
        if any(change.kind not in (ChangeKind.PANES, ChangeKind.LATENESS) for change in found):
            event("refused")
            return
        event("goes on with other numbers" if found else "the same")
        old, new = (plan.script for plan in plans)
        assert old is not None and new is not None  # noqa: PT018
        in_time = [row for row in then if str(row["ts"]) >= f"2024-01-01 00:00:{second:02}"]
        before, anew = Bucketed(folder, old, 2), Bucketed(folder, new, 2)
        now, end = MIDNIGHT + 1000 * second, MIDNIGHT + 60_000
        shown = [run.rows(first, Clock(now, Clock.BEGIN, 0)) for run in (before, anew)]
        after = Bucketed(folder, new, 2, before.states)
        for run, seen in zip((after, anew), shown, strict=True):
            seen += run.rows(in_time, Clock(end, now, 7000))
            seen += run.rows([], Clock(Clock.END, end, 9000))
        assert last_panes(shown[0]) == last_panes(shown[1])


def last_panes(rows: Sequence[dict[str, Any]]) -> dict[tuple[str, str], tuple[int, int]]:
    """Return of each key and window what its last pane says: it counts the most rows."""
    panes: dict[tuple[str, str], tuple[int, int]] = {}
    for row in rows:
        window, pane = (row["k"], str(row["window_start"])), (row["EXPR$2"], row["EXPR$3"])
        panes[window] = max(panes.get(window, pane), pane)
    return panes
