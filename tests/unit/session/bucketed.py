"""Runs a query in micro-batches in this process, as Spark's tasks would: its state in buckets, as bytes."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from sqlext.analysis.inserts.bound import BoundInsert
from sqlext.analysis.inserts.fingerprint import Fingerprint, fingerprint
from sqlext.analysis.names.environment import Environment
from sqlext.dialect.ast import statements as ast
from sqlext.dialect.script import parse_script
from sqlext.jobs.result import Result
from sqlext.local.engine import positional
from sqlext.local.reading import opened, rows_read
from sqlext.plan.timing import InputEnd
from sqlext.rewrite.arrow.in_process import Operated, compiled_script
from sqlext.rewrite.compiler.plans import script_of
from sqlext.rewrite.script.model import ReadView, SparkScript
from sqlext.session.interpreter import Interpreter
from sqlext.session.offline.compilation import new_state
from sqlext.session.offline.dry_run import DryRun
from sqlext.source import SourceText
from sqlext.sources.program import Facts
from sqlext.stores.location import Location
from sqlext_udfs.kernel.hashing import buckets_of
from sqlext_udfs.kernel.levelled import KeptLevels, LevelEntry, Levelled, LevelRules, StepTimes, is_levelled
from sqlext_udfs.kernel.levels import Hashes, Level
from sqlext_udfs.kernel.operator import Clock, StepResult
from sqlext_udfs.spark.rebucketing import wanted

TABLES = """CREATE TABLE events (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '{0}', 'format' = 'json');
CREATE TABLE results (k STRING, t TIMESTAMP(3), n BIGINT, m BIGINT) WITH ('connector' = 'print');
INSERT INTO results """
WINDOW = "TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '{size}' SECOND))"
WINDOWS = WINDOW.replace("{size}", "9")
GROUPED = f"SELECT k, window_start, COUNT(*), MAX(v) FROM {WINDOWS} GROUP BY k, window_start, window_end"
END = 60
ROWS = st.lists(
    st.builds(
        lambda k, v, second: {"k": k, "v": v, "ts": f"2024-01-01 00:00:{second:02}"},
        st.sampled_from("abc"),
        st.integers(-2, 4),
        st.integers(0, END - 1),
    ),
    max_size=8,
)
MIDNIGHT = 1_704_067_200_000


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
class Shelf:
    """Keeps the levels of a bucket as bytes, and some at hand."""

    kept: dict[str, tuple[bytes, bytes]] = field(default_factory=dict)
    at_hand: dict[str, Level] = field(default_factory=dict)

    def load(self, entry: LevelEntry) -> Level | None:
        return self.at_hand.get(entry.id)

    def read(self, entry: LevelEntry) -> tuple[bytes, Hashes]:
        data, gone = self.kept[entry.id]
        return data, np.frombuffer(gone, np.uint64)

    def write(self, entry: LevelEntry, level: Level) -> None:
        self.kept[entry.id] = bytes(level.data), level.gone.tobytes()
        self.remember(entry, level)

    def remember(self, entry: LevelEntry, level: Level) -> None:
        self.at_hand[entry.id] = level

    def remove(self, entry: LevelEntry) -> None:
        del self.kept[entry.id]
        self.at_hand.pop(entry.id, None)


@dataclass
class Bucketed:
    """Runs a query in micro-batches, its state in buckets, as bytes.

    Attributes:
        rules: when state is kept in levels; None: never.
        forgets: whether no level is at hand in the next micro-batch.
        levels: how many levels there were, most of all buckets.
    """

    folder: Path
    script: SparkScript
    buckets: int
    states: dict[int, list[bytes | None]] = field(default_factory=dict)
    rules: LevelRules | None = None
    forgets: bool = False
    shelves: dict[tuple[int, int], Shelf] = field(default_factory=dict)
    levels: int = 0
    opened: list[int] = field(default_factory=list)

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
            mine, gathered = rows.filter(pa.array(of == bucket)), None
            if mine.num_rows:
                marked = mine.append_column("bucket", pa.repeat(pa.scalar(bucket, pa.int16()), mine.num_rows))
                partial = operator.partial(marked)
                gathered = operator.gathered([partial.select(range(partial.num_columns - 1))])
            found = self._stepped(number, bucket, data, gathered, clock)
            if found.out.num_columns:
                out.append(found.out.rename_columns(schema.names).cast(schema))
        return pa.concat_tables(out) if out else schema.empty_table()

    def _stepped(
        self, number: int, bucket: int, data: bytes | None, rows: pa.Table | None, clock: Clock
    ) -> StepResult[Any]:
        step = self.script_step(number)
        operator, keys, _ = step.operator
        rules = self.rules if operator.separable else None
        shelf = self.shelves.setdefault((number, bucket), Shelf())
        levelled = Levelled(operator, keys, rules or LevelRules())
        done = levelled.step(data, rows, StepTimes(clock, clock.now), shelf if rules is not None else None)
        self.opened.append(done.open_groups)
        if done.kept is not None:
            self.states[number][bucket] = done.kept
            self.levels = max(self.levels, len(KeptLevels.decoded(done.kept).entries) if is_levelled(done.kept) else 0)
        if self.forgets:
            shelf.at_hand.clear()
        return done.step

    def script_step(self, number: int) -> Any:
        """Return a step of the query."""
        return compiled_script(self.script, "UTC").steps[number]


def _divided(step: Any, kept: Sequence[bytes | None], buckets: int) -> list[bytes | None]:
    operator, keys, _ = step.operator
    states = [operator.decode(data) for data in kept if data is not None]
    if not states:
        return [None] * buckets
    pieces = ([operator.of_keys(s, wanted(buckets_of, keys, b, buckets)) for s in states] for b in range(buckets))
    # Through bytes, as between two workers.
    return [operator.encode(operator.together([operator.decode(operator.encode(p)) for p in some])) for some in pieces]
