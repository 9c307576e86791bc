"""Random pairs of queries: where a query goes on, its state gives the new query the rows that its own would give."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import Phase, event, given, note, settings
from hypothesis import strategies as st

from sqlext.analysis.inserts.bound import BoundInsert
from sqlext.analysis.inserts.changes import ChangeKind, changes
from sqlext.analysis.names.environment import Environment
from sqlext.dialect.ast import statements as ast
from sqlext.dialect.script import parse_script
from sqlext.jobs.result import Result
from sqlext.session.drafts import Draft, Drafts, RunOptions
from sqlext.session.interpreter import Interpreter
from sqlext.session.offline.compilation import new_state
from sqlext.session.offline.dry_run import DryRun
from sqlext.source import SourceText
from sqlext_udfs.kernel.operator import Clock
from tests.unit.session.bucketed import END, MIDNIGHT, ROWS, TABLES, WINDOW, Bucketed

FRAME = "OVER (PARTITION BY {key} ORDER BY ts ROWS BETWEEN {size} PRECEDING AND CURRENT ROW)"
INNER = {
    "groups": f"SELECT {{key}} AS k, window_start AS t, {{a}} AS n, {{b}} AS m FROM {WINDOW} WHERE v > {{least}}"
    " GROUP BY {key}, window_start, window_end EMIT AFTER WATERMARK",
    "OVER": f"SELECT k, ts AS t, {{a}} {FRAME} AS n, {{b}} {FRAME} AS m FROM events WHERE v > {{least}}",
    "join": "SELECT l.k AS k, l.ts AS t, l.v AS n, r.v AS m FROM (SELECT * FROM events WHERE v > {least}) AS l LEFT"
    " JOIN events AS r ON l.{on} = r.{on} AND r.ts BETWEEN l.ts AND l.ts + INTERVAL '{size}' SECOND",
    "Top-N of a window": f"SELECT k, ts AS t, v AS n, r AS m FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY {{key}},"
    f" window_start, window_end ORDER BY {{a}}) AS r FROM {WINDOW} WHERE v > {{least}}) WHERE r <= 2",
    "MATCH_RECOGNIZE": "SELECT k, t, n, m FROM (SELECT * FROM events WHERE v > {least}) MATCH_RECOGNIZE (PARTITION BY k"
    " ORDER BY ts MEASURES FIRST(x.ts) AS t, LAST(y.v) AS n, FIRST(x.v) AS m PATTERN (x y) WITHIN INTERVAL '{size}'"
    " SECOND DEFINE y AS y.v > x.v)",
}
AGGREGATES = ("COUNT(*)", "MAX(v)", "SUM(v)", "MIN(v) + MAX(v)")
OUTER = ("n, m", "m, n", "n, n", "1, m", "CASE WHEN n > 1 THEN n END, m")
FILTERS = ("", " WHERE n > 1", " WHERE m IS NOT NULL", " WHERE k <> 'b'")


@dataclass
class Collector(DryRun):
    """Keeps the query that would start."""

    found: list[Draft] = field(default_factory=list)

    def insert(self, statement: ast.Statement, inserts: Sequence[BoundInsert], env: Environment) -> Result:
        self.found += Drafts.of(self.state, env, RunOptions()).job(inserts, local=True).drafts
        return Result()


def draft_of(folder: Path, text: str) -> Draft:
    state = new_state(None)
    collector = Collector(state)
    interpreter = Interpreter(state, collector)
    for statement in parse_script(SourceText.of(TABLES.replace("{0}", str(folder / "in")) + text)):
        interpreter.run(statement)
    return collector.found[-1]


@st.composite
def queries(draw: st.DrawFn, kind: str, *, alike: bool) -> str:
    """Draw a query of a kind; those that are alike have the same text below what stands above the state."""
    pick = {name: draw(st.sampled_from(values)) for name, values in _SLOTS.items()} if not alike else dict(_PLAIN)
    if kind == "Top-N of a window":
        pick["a"] = "v DESC" if alike else draw(st.sampled_from(("v DESC", "v", "k, v")))
    elif kind == "groups":
        pick["a"], pick["b"] = (draw(st.sampled_from(AGGREGATES)) for _ in range(2))
    inner = INNER[kind].format(**pick)
    return f"SELECT k, t, {draw(st.sampled_from(OUTER))} FROM ({inner}){draw(st.sampled_from(FILTERS))};"


_SLOTS = {
    "key": ("k", "UPPER(k)"),
    "on": ("k", "v"),
    "a": ("COUNT(*)", "MAX(v)"),
    "b": ("SUM(v)", "MIN(v)"),
    "least": ("-5", "0"),
    "size": ("5", "9"),
}
_PLAIN = {name: values[0] for name, values in _SLOTS.items()}


@st.composite
def pairs(draw: st.DrawFn) -> tuple[str, str]:
    """Draw two queries of a kind: half of the pairs differ above the state alone."""
    kind, alike = draw(st.sampled_from(tuple(INNER))), draw(st.booleans())
    return draw(queries(kind, alike=alike)), draw(queries(kind, alike=alike))


@settings(deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink))
@given(pairs(), ROWS, ROWS, st.integers(0, END))
def test_the_new_query_goes_on_with_the_state_of_the_old_one(
    pair: tuple[str, str], first: list[dict[str, object]], then: list[dict[str, object]], second: int
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "in").mkdir()
        old, new = (draft_of(folder, text) for text in pair)
        found = changes(old.prints, new.prints)
        if any(change.kind is not ChangeKind.ABOVE for change in found):
            event("refused")
            return
        if any(change.part == "aggregates in state" for change in found):
            event("other aggregates")  # which begin with the rows to come
            return
        event("goes on with a change" if found else "goes on")
        note(f"{pair}")
        watermark = MIDNIGHT + 1000 * second
        runs = [Bucketed(folder, draft.script, 1) for draft in (old, new)]
        for run in runs:
            run.step(first, Clock(watermark, None, 0))
        after, end = Bucketed(folder, new.script, 1, runs[0].states), Clock(Clock.END, watermark, 0)
        assert after.step(then, end) == runs[1].step(then, end)
