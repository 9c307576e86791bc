"""Catalogs with queries of other processes, made by the project's own functions and without Spark."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow as pa
from deltalake import write_deltalake

import sqlext
from sqlext.analysis.inserts.bound import BoundInsert
from sqlext.dialect.script import parse_script
from sqlext.errors import SqlExtError
from sqlext.jobs.checkpoint import QueryHome
from sqlext.jobs.recording import Recorder
from sqlext.plan.nodes import PlanNode
from sqlext.plan.steps import steps_of
from sqlext.session.interpreter import Interpreter
from sqlext.session.offline.compilation import new_state
from sqlext.session.offline.dry_run import DryRun
from sqlext.source import SourceText
from sqlext.stores import lease
from sqlext.stores.owners import Owner
from sqlext.watermarks.ends import Ends
from sqlext.watermarks.history import OperatorState, Sample
from sqlext.watermarks.inputs import Input
from sqlext.watermarks.keeper import Seen, TimeKeeper
from sqlext.watermarks.report import TimeReport
from sqlext.watermarks.sketch import ALL, Arrived, SplitTimes
from sqlext_catalog import ddl
from sqlext_catalog.model import QueryRecord

__all__ = ["HOUR", "MINUTE", "Kept", "KeptQuery", "kept_query"]

SECOND, MINUTE, HOUR = 1000, 60_000, 3_600_000
#: Who has the lease of queries that run elsewhere.
_OTHER = Owner("machine-7", 4711, "1")
_TABLES = """
CREATE TABLE orders (item STRING, amount DOUBLE, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND)
WITH ('connector' = 'filesystem', 'path' = '{folder}/in/orders', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE payments (item STRING, paid DOUBLE, pts TIMESTAMP(3), WATERMARK FOR pts AS pts - INTERVAL '10' SECOND)
WITH ('connector' = 'filesystem', 'path' = '{folder}/in/payments', 'format' = 'json',
  'source.monitor-interval' = '1 s', 'scan.watermark.idle-timeout' = '1 min');
CREATE TABLE per_minute (item STRING, minute TIMESTAMP(3), total DOUBLE)
WITH ('connector' = 'delta', 'path' = '{folder}/out/per_minute');
"""
#: Parts of the time of a micro-batch, in percent.
_PARTS = {"addBatch": 70, "walCommit": 10, "queryPlanning": 10, "commitOffsets": 8}
STATEMENT = """INSERT INTO per_minute
SELECT item, window_start, SUM(amount)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY item, window_start, window_end"""
JOINED = """INSERT INTO per_minute
SELECT o.item, o.ts, o.amount - p.paid
FROM orders AS o JOIN payments AS p ON o.item = p.item AND p.pts BETWEEN o.ts AND o.ts + INTERVAL '5' MINUTE"""


@dataclass(frozen=True)
class KeptQuery:
    """What a query has kept.

    Attributes:
        span: ms that its history goes back.
        every: ms between two samples.
        idle: whether the input ``payments`` is idle.
        late: of a hundred rows so many came too late.
        error: why it failed.
        driven: whether somebody drives it.
        stands_since: ms since which it says nothing new.
    """

    name: str
    statement: str = STATEMENT
    status: str = "running"
    span: int = 10 * MINUTE
    every: int = 2 * SECOND
    idle: bool = False
    late: int = 0
    error: SqlExtError | None = None
    driven: bool = True
    stands_since: int = 0


@dataclass
class Kept:
    """A catalog with queries.

    Attributes:
        folder: the catalog's.
        now: the present moment, in ms since 1970 UTC.
    """

    folder: Path
    now: int
    homes: dict[str, QueryHome] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Declare the tables."""
        self.state = new_state(self.folder)
        sqlext.connect(catalog=self.folder)
        for statement in parse_script(SourceText.of(_TABLES.format(folder=self.folder))):
            Interpreter(self.state, DryRun(self.state)).run(statement)

    def add(self, query: KeptQuery) -> None:
        """Let a query have run, or have gone on."""
        plan, bound = self._bound(query.statement)
        with QueryHome(self.folder, query.name, force=True) as home:
            location, checkpoint = home.location, home.checkpoint
            recorder = Recorder(query.name, home.progress, False, steps_of(plan, f"{bound.table.name.name} (delta)"))
            recorder.begin()
            taken, last = [s.at for s in recorder.history.samples()], None
            for last in _samples(query, plan, self.now, self.now - query.span):
                if not taken or last.at > taken[-1]:
                    recorder.history.take(last)
            recorder.end(query.error)
            keeper = _keeper(query, last, self.now)
            state = {"known": keeper.to_json(), "report": TimeReport.of(keeper).to_json()}
            home.time.put("keeper.json", json.dumps(state))
        if query.status == "running":
            clock = (lambda: self.now) if query.driven else (lambda: 0)
            lease.take(location.store, owner=_OTHER, clock=clock, lasts=10 * HOUR if query.driven else 1, force=True)
        began = self.now - query.span
        writes = bound.table.name.plain
        read = ("orders", "payments") if query.statement == JOINED else ("orders",)
        reads = tuple(writes.replace("per_minute", name) for name in read)
        record = QueryRecord(query.name, query.statement, reads, writes, checkpoint, "f", query.status, None, began)
        self.state.catalog.apply(ddl.record_query(record), "INSERT")

    def write_rows(self, count: int = 8) -> None:
        """Write the rows of the sink, in two commits."""
        minute = self.now - self.now % MINUTE
        for part in range(2):
            times = pa.array([minute - (count - n) * MINUTE for n in range(part, count, 2)], pa.timestamp("ms"))
            items = pa.array([("pen", "ink", "paper")[n % 3] for n in range(part, count, 2)])
            totals = pa.array([n * 12.25 for n in range(part, count, 2)])
            rows = pa.table({"item": items, "minute": times.cast(pa.timestamp("us")), "total": totals})
            write_deltalake(str(self.folder / "out" / "per_minute"), rows, mode="append")

    def _bound(self, text: str) -> tuple[PlanNode, BoundInsert]:
        dry = DryRun(self.state.fork())
        for statement in parse_script(SourceText.of(text)):
            Interpreter(dry.state, dry).run(statement)
        compiled = dry.compiled[-1]
        assert compiled.insert is not None
        return compiled.plan, compiled.insert


def kept_query(folder: Path, query: KeptQuery, now: int) -> Kept:
    """Return a catalog with one query."""
    kept = Kept(folder, now)
    kept.add(query)
    return kept


def _samples(query: KeptQuery, plan: PlanNode, now: int, began: int) -> Iterator[Sample]:
    """Yield how it went: rows in waves, a batch a second, a watermark twelve seconds behind the clock."""
    both = query.statement == JOINED
    rows = out = late = busy = 0
    for number, at in enumerate(range(now - query.span, now - query.stands_since + 1, query.every)):
        wave = 60 + 40 * math.sin(number / 17) + 12 * math.sin(number / 3)
        rows += int(wave * query.every / SECOND)
        late += int(wave * query.every / SECOND * query.late / 100)
        out = rows // 20
        busy += int(180 + wave)
        watermark = at - 12 * SECOND - int(2000 * math.sin(number / 9))
        inputs: dict[str, tuple[int | None, str]] = {"orders": (watermark, "active")}
        if both:
            inputs["payments"] = (watermark, "idle" if query.idle and now - at < 3 * MINUTE else "active")
        groups = 40 + int(25 * math.sin(number / 15))
        operator = OperatorState(groups, rows, 48_000 + groups * 310, late)
        yield Sample(
            at, watermark, inputs, groups, rows, out, 0, late, late // 7, began, number + 1, operator.size, busy,
            int(wave * query.every / SECOND), int(180 + wave),
            {part: busy * share // 100 for part, share in _PARTS.items()},
            {"orders": rows * 2 // 3 if both else rows, **({"payments": rows // 3} if both else {})},
            (operator,),
        )  # fmt: skip


def _lags(query: KeptQuery, rows: int, since: int) -> Iterator[tuple[int, int, int]]:
    """Yield the times of rows: late ones between 12 s and some minutes behind, of some only between which times."""
    late = rows * query.late // 100
    for number in range(1, 9):
        time, count = since - (12 + number**3) * SECOND, late >> number
        yield (time - number * SECOND if number % 3 == 0 else time), time, count
    yield since, since, rows - sum(late >> n for n in range(1, 9))


def _keeper(query: KeptQuery, last: Sample | None, now: int) -> TimeKeeper:
    orders = Input("orders", delay=10 * SECOND, ends=(Ends(MINUTE),) if query.statement == STATEMENT else ())
    inputs = [orders]
    if query.statement == JOINED:
        inputs.append(replace(orders, name="payments", idle=MINUTE))
    keeper = TimeKeeper(inputs, now - query.span)
    for known in inputs:
        rows = last.read.get(known.name, 0) if last is not None else 0
        quiet = query.idle and known.name == "payments"
        since = now - (3 * MINUTE if quiet else SECOND)
        keeper.saw(known.name, [Seen(since - 2 * SECOND, rows, smallest=now - query.span)], since)
        keeper.arrived(
            Arrived(0, known.name, since, since - 12 * SECOND, [SplitTimes(ALL, list(_lags(query, rows, since)))])
        )
    keeper.decide(now)
    return keeper
