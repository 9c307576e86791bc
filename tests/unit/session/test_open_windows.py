"""Windows that are open go on under an EMIT clause with other numbers, with the rows that they have."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
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
from tests.unit.session.test_state_goes_on import MIDNIGHT, ROWS, TABLES, WINDOW

WINDOWS = WINDOW.replace("{size}", "9")
GROUPED = f"SELECT k, window_start, COUNT(*), MAX(v) FROM {WINDOWS} GROUP BY k, window_start, window_end"


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
