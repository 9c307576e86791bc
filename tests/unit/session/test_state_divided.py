"""State that is divided into other buckets gives the rows that it would have given in those from the start."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import Phase, event, example, given, settings
from hypothesis import strategies as st

from sqlext.analysis.inserts.bound import BoundInsert
from sqlext.analysis.inserts.changes import ChangeKind, changes
from sqlext.analysis.inserts.fingerprint import Fingerprint, fingerprint
from sqlext.analysis.names.environment import Environment
from sqlext.dialect.ast import statements as ast
from sqlext.dialect.script import parse_script
from sqlext.jobs.result import Result
from sqlext.local.engine import opened, positional, rows_read
from sqlext.plan.timing import InputEnd
from sqlext.rewrite.arrow.in_process import Operated, compiled_script
from sqlext.rewrite.compiler.plans import script_of
from sqlext.rewrite.script.model import ReadView, SparkScript
from sqlext.session.interpreter import Interpreter
from sqlext.session.offline.compilation import new_state
from sqlext.session.offline.dry_run import DryRun
from sqlext.source import SourceText
from sqlext.sources.hashing import buckets_of
from sqlext.sources.program import Facts
from sqlext.stores.location import Location
from sqlext_udfs.kernel.operator import Clock
from sqlext_udfs.spark.rebucketing import wanted
from tests.unit.session.test_state_goes_on import MIDNIGHT, ROWS, TABLES, WINDOW

WINDOWS = WINDOW.replace("{size}", "9")
GROUPED = f"SELECT k, window_start, COUNT(*), MAX(v) FROM {WINDOWS} GROUP BY k, window_start, window_end"
SESSIONS = "TABLE(SESSION(TABLE events PARTITION BY k, DESCRIPTOR(ts), INTERVAL '5' SECOND))"
CHANGES = "(SELECT k, COUNT(*) AS n, MAX(ts) AS ts FROM events GROUP BY k)"
FRAME = "PARTITION BY k ORDER BY ts"
OVER = "SELECT k, ts, SUM(v) OVER (%s), v FROM events"
#: A query of each operator, and of each form of its state.
QUERIES = {
    "windows of one pane": f"{GROUPED} EMIT AFTER WATERMARK",
    "windows of several panes": f"{GROUPED} EMIT AFTER WATERMARK EARLY EVERY 2 ROWS ALLOW LATENESS INTERVAL '9' SECOND",
    "windows that take back": f"{GROUPED} EMIT AFTER WATERMARK EARLY EVERY 2 ROWS RETRACTING",
    "discarding": f"{GROUPED} EMIT AFTER WATERMARK EARLY EVERY 2 ROWS DISCARDING",
    "groups one by one": f"{GROUPED} EMIT AFTER WATERMARK EARLY EVERY 2 ROWS KEEP LAST 2 ROWS",
    "sessions": f"SELECT k, window_start, COUNT(*), SUM(v) FROM {SESSIONS} GROUP BY k, window_start, window_end"
    " EMIT AFTER WATERMARK",
    "sessions of several panes": f"SELECT k, window_start, COUNT(*), SUM(v) FROM {SESSIONS}"
    " GROUP BY k, window_start, window_end EMIT AFTER WATERMARK EARLY EVERY 2 ROWS",
    "FILL": f"{GROUPED} EMIT FILL FOR 1 MINUTE",
    "without a window": "SELECT k, MAX(ts), COUNT(*), COUNT(DISTINCT v) FROM events GROUP BY k",
    "of changes": f"SELECT MIN(k), MAX(ts), n, COUNT(*) FROM {CHANGES} GROUP BY n",
    "DISTINCT": "SELECT DISTINCT k, CAST(NULL AS TIMESTAMP(3)), v, v FROM events",
    "Top-N": "SELECT k, ts, v, r FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS r FROM events)"
    " WHERE r <= 2",
    "Top-N of a window": "SELECT k, ts, v, r FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k, window_start,"
    f" window_end ORDER BY v) AS r FROM {WINDOWS}) WHERE r <= 2",
    "first row": f"SELECT k, ts, v, 1 FROM (SELECT *, ROW_NUMBER() OVER ({FRAME}) AS r FROM events) WHERE r = 1",
    "OVER rows": OVER % f"{FRAME} ROWS BETWEEN 1 PRECEDING AND CURRENT ROW",
    "OVER all": OVER % FRAME,
    "OVER ahead": OVER % f"{FRAME} ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING",
    "OVER time": OVER % f"{FRAME} RANGE BETWEEN INTERVAL '9' SECOND PRECEDING AND CURRENT ROW",
    "join": "SELECT l.k, l.ts, l.v, r.v FROM events AS l LEFT JOIN events AS r ON l.k = r.k AND l.v < r.v",
    "interval join": "SELECT l.k, l.ts, l.v, r.v FROM events AS l LEFT JOIN events AS r ON l.k = r.k"
    " AND r.ts BETWEEN l.ts AND l.ts + INTERVAL '9' SECOND AND l.v < r.v",
    "MATCH_RECOGNIZE": "SELECT k, t, n, m FROM events MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES FIRST(x.ts)"
    " AS t, LAST(y.v) AS n, FIRST(x.v) AS m PATTERN (x y) DEFINE y AS y.v > x.v)",
    "one above the other": f"SELECT MIN(k), CAST(NULL AS TIMESTAMP(3)), c, COUNT(*) FROM (SELECT k, COUNT(*) AS c"
    f" FROM {WINDOWS} GROUP BY k, window_start, window_end EMIT AFTER WATERMARK) GROUP BY c",
}


@dataclass
class Plans(DryRun):
    """Keeps the query that would start."""

    script: SparkScript | None = None
    prints: Fingerprint = field(default_factory=dict)

    def insert(self, statement: ast.Statement, inserts: Sequence[BoundInsert], env: Environment) -> Result:
        self.script = script_of(inserts[0].plan, env, end=InputEnd.NONE, local=True, stepwise=True)
        self.prints = fingerprint(inserts[0], env.zone, env.mode, "none")
        return Result()


def script_for(folder: Path, query: str) -> SparkScript:
    """Return a query as views and operators that this process runs."""
    script = plans_for(folder, query).script
    assert script is not None
    return script


def plans_for(folder: Path, query: str) -> Plans:
    """Return what is planned for a query."""
    state = new_state(None)
    plans = Plans(state)
    interpreter = Interpreter(state, plans)
    text = f"{TABLES.replace('{0}', str(folder / 'in'))}{query};"
    for statement in parse_script(SourceText.of(text)):
        interpreter.run(statement)
    return plans


@dataclass
class Bucketed:
    """Runs a query in micro-batches, its state in buckets, as bytes."""

    folder: Path
    script: SparkScript
    buckets: int
    states: dict[int, list[bytes | None]] = field(default_factory=dict)

    def step(self, rows: Sequence[dict[str, object]], clock: Clock) -> list[str]:
        """Return what comes out of a micro-batch, sorted."""
        return sorted(map(str, self.rows(rows, clock)))

    def rows(self, rows: Sequence[dict[str, object]], clock: Clock) -> list[dict[str, Any]]:
        """Return the rows that come out of a micro-batch."""
        (self.folder / "in" / "1.json").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        script, tables = compiled_script(self.script, "UTC"), dict[str, pa.Table]()
        for number, step in enumerate(script.steps):
            if isinstance(step, ReadView):
                with tempfile.TemporaryDirectory() as sources:
                    reader = opened(step, Location.of(sources))
                    pieces = reader.slices(reader.initial(), reader.latest(reader.initial(), None))
                    tables[step.view] = rows_read(step, (b for p in pieces for b in reader.read(p)), Facts())
                    reader.close()
            elif isinstance(step, Operated):
                tables[step.view] = self._operated(number, step, positional(tables[step.input]), clock)
            else:
                tables[step.view] = step.query.run(tables)
        return list(script.query.run(tables).to_pylist())

    def divided(self, buckets: int) -> Bucketed:
        """Return the query with its state in other buckets."""
        steps = compiled_script(self.script, "UTC").steps
        states = {n: _divided(steps[n], kept, buckets) for n, kept in self.states.items()}
        return Bucketed(self.folder, self.script, buckets, states)

    def _operated(self, number: int, step: Operated, rows: pa.Table, clock: Clock) -> pa.Table:
        operator, keys, columns = step.operator
        kept = self.states.setdefault(number, [None] * self.buckets)
        schema, out = pa.schema(list(columns)), []
        of = buckets_of([c.combine_chunks() for c in rows.columns[:keys]], rows.num_rows, self.buckets)
        for bucket, data in enumerate(kept):
            state = operator.decode(data) if data is not None else operator.empty()
            mine, gathered = rows.filter(pa.array(of == bucket)), None
            if mine.num_rows:
                marked = mine.append_column("bucket", pa.repeat(pa.scalar(bucket, pa.int16()), mine.num_rows))
                partial = operator.partial(marked)
                gathered = operator.gathered([partial.select(range(partial.num_columns - 1))])
            found = operator.step(state, gathered, clock)
            kept[bucket] = operator.encode(found.state)
            if found.out.num_columns:
                out.append(found.out.rename_columns(schema.names).cast(schema))
        return pa.concat_tables(out) if out else schema.empty_table()


def _divided(step: Any, kept: Sequence[bytes | None], buckets: int) -> list[bytes | None]:
    operator, keys, _ = step.operator
    states = [operator.decode(data) for data in kept if data is not None]
    if not states:
        return [None] * buckets
    pieces = ([operator.of_keys(s, wanted(buckets_of, keys, b, buckets)) for s in states] for b in range(buckets))
    # Through bytes, as between two workers.
    return [operator.encode(operator.together([operator.decode(operator.encode(p)) for p in some])) for some in pieces]


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
def test_open_windows_go_on_under_another_clause(
    pair: tuple[str, ...], first: list[dict[str, object]], then: list[dict[str, object]], second: int
) -> None:
    """The last pane of each window is that of the new query over all rows; none of them is late."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "in").mkdir()
        plans = [plans_for(folder, f"{GROUPED} EMIT AFTER WATERMARK {text}") for text in pair]
        found = changes(*(plan.prints for plan in plans))
        if any(change.kind is not ChangeKind.PANES for change in found):
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


BUCKETS = st.integers(1, 5)


@pytest.mark.parametrize("name", QUERIES)
@settings(deadline=None, max_examples=settings().max_examples // 10)
@given(ROWS, ROWS, ROWS, st.tuples(BUCKETS, BUCKETS), st.tuples(st.integers(0, 30), st.integers(30, 60)))
def test_other_buckets_give_the_same_rows(
    name: str,
    first: list[dict[str, object]],
    then: list[dict[str, object]],
    last: list[dict[str, object]],
    buckets: tuple[int, int],
    seconds: tuple[int, int],
) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "in").mkdir()
        script = script_for(folder, QUERIES[name])
        one, two = (MIDNIGHT + 1000 * s for s in seconds)
        runs = [Bucketed(folder, script, number) for number in buckets]
        for run in runs:
            run.step(first, Clock(one, Clock.BEGIN, 0))
        after = runs[0].divided(buckets[1])
        for rows, clock in ((then, Clock(two, one, 0)), (last, Clock(Clock.END, two, 0))):
            assert after.step(rows, clock) == runs[1].step(rows, clock)


def test_what_is_divided_is_all_there() -> None:
    """Each row of a key is in the bucket of the key, and in no other one."""
    columns = [pa.array(["a", "b", None, "a", "c"]), pa.array([1, 2, 3, 4, 5])]
    parts = [wanted(buckets_of, 1, bucket, 3)(columns, 5) for bucket in range(3)]
    assert np.array(parts).sum(axis=0).tolist() == [1] * 5
    assert all(part[0] == part[3] for part in parts)
