"""Windows with an offset of each row, on Spark: worked examples, random worlds, batch mode, restarts, wrong offsets."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import sqlext
from sqlext import SqlExtError
from tests.row_offsets import Expected, Grid, Order, of_batch
from tests.stepped_queries import END_OF_TIME, TIMED, JsonRow, Move, SteppedQuery, rows_of, run_together, text_of
from tests.workspace import EVENTS, Workspace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

START = datetime(2024, 1, 1)
HOUR = 3_600_000
END = "end"
Rows = list[tuple[Any, ...]]


def at(hours: float) -> datetime:
    return START + timedelta(hours=hours)


def row(key: str, value: int, hours: float, offset: float | None = 0) -> JsonRow:
    """Return a row; its time and its offset are hours."""
    gap = None if offset is None else int(offset * HOUR)
    return {"key": key, "value": value, "ts": text_of(at(hours)), "gap": gap}


def move(*rows: JsonRow, to: float | str | None = None) -> Move:
    """Return a micro-batch of rows; then the watermark moves on to an hour."""
    watermark = None if to is None else END_OF_TIME if to == END else at(float(to))
    return Move(rows, watermark)


def over(windows: str, sizes: str, offset: str = "gap", table: str = "input") -> str:
    rows = f"(SELECT * FROM {table} WHERE key IS NOT NULL)"
    return f"TABLE({windows}(TABLE {rows}, DESCRIPTOR(ts), {sizes}, {offset}))"


DAY = over("TUMBLE", "INTERVAL '1' DAY")
CUMULATE = over("CUMULATE", "INTERVAL '12' HOUR, INTERVAL '1' DAY")
FROM_SIX = over("TUMBLE", "INTERVAL '1' DAY", "INTERVAL '6' HOUR")
QUARTERS = over("TUMBLE", "INTERVAL '6' HOUR", "INTERVAL '0' HOUR")
BY_KEY = "GROUP BY key, gap, window_start, window_end"
SUMS = f"SELECT key, window_start, window_end, SUM(`value`) AS s FROM {{}} {BY_KEY}"
#: b's days begin at midnight, those of a at six.
TWO_SHOPS = [
    move(row("a", 1, 5, 6), row("a", 2, 7, 6), row("b", 4, 5), row("b", 8, 23)),
    move(to=24),
    move(row("a", 16, 29, 6), row("b", 32, 29), to=30),
    move(to=END),
]


@dataclass(frozen=True)
class Case:
    """A query, its micro-batches and what comes out of each: times as hours."""

    select: str
    moves: Sequence[Move]
    expected: Sequence[Rows]
    dropped: int = 0


CASES = {
    "a day ends where its own shop's does": Case(
        SUMS.format(DAY),
        TWO_SHOPS,
        [[], [("a", -18, 6, 1), ("b", 0, 24, 12)], [("a", 6, 30, 18)], [("b", 24, 48, 32)]],
    ),
    "a negative offset": Case(
        SUMS.format(DAY),
        [move(row("a", 1, 20, -3), row("a", 2, 22, -3), row("b", 4, 22)), move(to=21), move(to=END)],
        [[], [("a", -3, 21, 1)], [("a", 21, 45, 2), ("b", 0, 24, 4)]],
    ),
    "offsets longer than a day count modulo a day": Case(
        SUMS.format(DAY),
        [move(row("a", 1, 5, 30), row("b", 2, 5, -42), row("c", 4, 5, 6), to=6), move(to=END)],
        [[("a", -18, 6, 1), ("b", -18, 6, 2), ("c", -18, 6, 4)], []],
    ),
    "an interval of a column": Case(
        SUMS.format(over("TUMBLE", "INTERVAL '1' DAY", "gap * INTERVAL '0.001' SECOND")),
        TWO_SHOPS,
        [[], [("a", -18, 6, 1), ("b", 0, 24, 12)], [("a", 6, 30, 18)], [("b", 24, 48, 32)]],
    ),
    "an expression of the key": Case(
        "SELECT key, window_start, window_end, SUM(`value`) AS s FROM "
        + over("TUMBLE", "INTERVAL '1' DAY", "CASE key WHEN 'a' THEN INTERVAL '6' HOUR ELSE INTERVAL '0' HOUR END")
        + " GROUP BY key, window_start, window_end",
        TWO_SHOPS,
        [[], [("a", -18, 6, 1), ("b", 0, 24, 12)], [("a", 6, 30, 18)], [("b", 24, 48, 32)]],
    ),
    "HOP": Case(
        SUMS.format(over("HOP", "INTERVAL '12' HOUR, INTERVAL '1' DAY")),
        [move(row("a", 1, 7, 6), row("b", 2, 7)), move(to=18), move(to=END)],
        [[], [("a", -6, 18, 1), ("b", -12, 12, 2)], [("a", 6, 30, 1), ("b", 0, 24, 2)]],
    ),
    "HOP with gaps": Case(
        SUMS.format(over("HOP", "INTERVAL '1' DAY, INTERVAL '6' HOUR")),
        [move(row("a", 1, 7, 6), row("b", 2, 7), row("b", 4, 5), to=6), move(to=END)],
        [[("b", 0, 6, 4)], [("a", 6, 12, 1)]],
    ),
    "CUMULATE": Case(
        SUMS.format(CUMULATE),
        [move(row("a", 1, 7, 6), row("a", 2, 19, 6), row("b", 4, 7)), move(to=18), move(to=END)],
        [[], [("a", 6, 18, 1), ("b", 0, 12, 4)], [("a", 6, 30, 3), ("b", 0, 24, 4)]],
    ),
    "a row is late where its own window is over": Case(
        SUMS.format(DAY),
        [move(row("a", 1, 7, 6), row("b", 2, 7), to=26), move(row("a", 4, 8, 6), row("b", 8, 8)), move(to=END)],
        [[("b", 0, 24, 2)], [], [("a", 6, 30, 5)]],
        dropped=1,
    ),
    "months that begin on another day": Case(
        SUMS.format(over("TUMBLE", "INTERVAL '1' MONTH")),
        # Months of a begin on the fifth, those of b on the first, of January with 31 days.
        [move(row("a", 1, 72, 96), row("a", 2, 96, 96), row("b", 4, 72)), move(to=744), move(to=END)],
        [[], [("a", 96 - 744, 96, 1), ("b", 0, 744, 4)], [("a", 96, 840, 2)]],
    ),
    "early results": Case(
        f"{SUMS.format(DAY)} EMIT AFTER WATERMARK EARLY EVERY ROW",
        [move(row("a", 1, 7, 6)), move(row("a", 2, 25, 6), row("b", 4, 25), to=30), move(to=END)],
        [[("a", 6, 30, 1)], [("a", 6, 30, 3), ("a", 6, 30, 3), ("b", 24, 48, 4)], [("b", 24, 48, 4)]],
    ),
    "late results": Case(
        f"{SUMS.format(DAY)} EMIT AFTER WATERMARK LATE EVERY ROW ALLOW LATENESS '2' HOUR",
        [move(row("a", 1, 7, 6), row("b", 2, 7), to=31), move(row("a", 4, 8, 6), row("b", 8, 8)), move(to=END)],
        # b's day is over for seven hours, that of a for one.
        [[("a", 6, 30, 1), ("b", 0, 24, 2)], [("a", 6, 30, 5)], []],
        dropped=1,
    ),
    "early results of CUMULATE": Case(
        f"{SUMS.format(CUMULATE)} EMIT AFTER WATERMARK EARLY EVERY ROW",
        [move(row("a", 1, 19, 6)), move(to=END)],
        [[("a", 6, 30, 1)], [("a", 6, 30, 1)]],
    ),
    "the largest rows of a window": Case(
        "SELECT key, window_start, `value` FROM (SELECT *, ROW_NUMBER() OVER ("
        "PARTITION BY key, window_start, window_end "
        f"ORDER BY `value` DESC) AS n FROM {DAY}) WHERE n = 1",
        TWO_SHOPS,
        [[], [("a", -18, 1), ("b", 0, 8)], [("a", 6, 16)], [("b", 24, 32)]],
    ),
    "the largest sums of equal windows": Case(
        "SELECT key, window_start, s FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end "
        f"ORDER BY s DESC) AS n FROM (SELECT key, window_start, window_end, SUM(`value`) AS s FROM {DAY} {BY_KEY})) "
        "WHERE n = 1",
        [move(row("a", 1, 7, 6), row("b", 2, 7, 6), row("c", 4, 7)), move(to=24), move(to=END)],
        [[], [("c", 0, 4)], [("b", 6, 2)]],
    ),
    "a window join": Case(
        f"SELECT l.key, l.`value`, r.`value`, l.window_start FROM {DAY} AS l JOIN {DAY} AS r "
        "ON l.window_start = r.window_start AND l.window_end = r.window_end AND l.key = r.key "
        "WHERE l.`value` < r.`value`",
        TWO_SHOPS,
        [[], [("b", 4, 8, 0)], [("a", 2, 16, 6)], []],
    ),
    "a window join with windows of one grid": Case(
        f"SELECT l.key, r.key, l.window_start FROM {DAY} AS l JOIN {FROM_SIX} AS r "
        "ON l.window_start = r.window_start AND l.window_end = r.window_end",
        [move(row("a", 1, 7, 6), row("b", 2, 7)), move(to=END)],
        [[], [("a", "a", 6), ("a", "b", 6)]],
    ),
    "windows of windows": Case(
        "SELECT key, window_start, window_end, SUM(s) AS t FROM TABLE(TUMBLE(TABLE ("
        "SELECT key, gap, window_time AS wt, "
        f"SUM(`value`) AS s FROM {QUARTERS} GROUP BY key, gap, window_start, window_end, window_time), DESCRIPTOR(wt), "
        f"INTERVAL '1' DAY, gap)) {BY_KEY}",
        TWO_SHOPS,
        [[], [("a", -18, 6, 1), ("b", 0, 24, 12)], [("a", 6, 30, 18)], [("b", 24, 48, 32)]],
    ),
    "windows of windows with offsets": Case(
        "SELECT key, window_start, window_end, SUM(s) AS t FROM TABLE(TUMBLE(TABLE ("
        "SELECT key, gap, window_time AS wt, "
        f"SUM(`value`) AS s FROM {DAY} GROUP BY key, gap, window_start, window_end, window_time), DESCRIPTOR(wt), "
        f"INTERVAL '2' DAY, gap)) {BY_KEY}",
        [move(row("a", 1, 7, 6), row("a", 2, 31, 6), row("b", 4, 7)), move(to=48), move(to=END)],
        # Days are counted from 1970: January 1, 2024 is the second of its two.
        [[], [("a", -18, 30, 1), ("b", -24, 24, 4)], [("a", 30, 78, 2)]],
    ),
    "the next row of a window": Case(
        "SELECT key, `value`, LEAD(`value`) OVER (PARTITION BY key, window_start, window_end ORDER BY `value`) AS n "
        f"FROM {DAY}",
        TWO_SHOPS,
        [[], [("a", 1, None), ("b", 4, 8), ("b", 8, None)], [("a", 2, 16), ("a", 16, None)], [("b", 32, None)]],
    ),
    "rows that change": Case(
        "SELECT key, window_start, SUM(`value`) AS s FROM TABLE(TUMBLE(TABLE ("
        "SELECT key, `value`, ts, gap FROM (SELECT *, "
        "ROW_NUMBER() OVER (PARTITION BY key ORDER BY ts DESC) AS n FROM input WHERE key IS NOT NULL) WHERE n = 1), "
        f"DESCRIPTOR(ts), INTERVAL '1' DAY, gap)) {BY_KEY}",
        [move(row("a", 1, 5, 6)), move(row("a", 2, 7, 6), row("b", 4, 7)), move(to=24), move(to=END)],
        # The newer row takes the older one back out of the day before.
        [[], [], [("b", 0, 4)], [("a", 6, 2)]],
    ),
}


@pytest.fixture(scope="module")
def ran(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, SteppedQuery]:
    folder = tmp_path_factory.mktemp("offsets")
    queries = {
        name: SteppedQuery(spark, folder / str(number), f"{TIMED}{case.select};", case.moves)
        for number, (name, case) in enumerate(CASES.items())
    }
    run_together(list(queries.values()))
    return queries


def hours(value: Any) -> Any:
    """Return a time as hours behind the start; anything else as it is."""
    return (value - START) / timedelta(hours=1) if isinstance(value, datetime) else value


def in_hours(rows: Sequence[Sequence[Any]]) -> Rows:
    return sorted((tuple(map(hours, r)) for r in rows), key=repr)


@pytest.mark.parametrize("name", CASES)
def test_what_each_move_gives(ran: dict[str, SteppedQuery], name: str) -> None:
    case = CASES[name]
    found = [in_hours(rows) for rows in rows_of(ran[name])]
    assert found == [in_hours(rows) for rows in case.expected]
    assert sum(o.dropped for o in ran[name].outcomes) == case.dropped
    assert ran[name].outcomes[-1].state_rows == 0


GRIDS = {"TUMBLE": Grid(24, 24), "HOP": Grid(24, 6), "CUMULATE": Grid(24, 6, cumulates=True)}
SIZES = {"TUMBLE": "INTERVAL '1' DAY", **dict.fromkeys(("HOP", "CUMULATE"), "INTERVAL '6' HOUR, INTERVAL '1' DAY")}


class World:
    """Random rows of a dozen keys with offsets of their own, in micro-batches whose watermark runs behind and ahead."""

    def __init__(self, seed: int) -> None:
        chance = random.Random(seed)
        offsets = {f"k{n}": chance.choice([0, chance.randint(-23, 23), chance.randint(-99, 99)]) for n in range(12)}
        self.batches: list[tuple[list[Order], int]] = []
        for number in range(6):
            rows = [
                Order(key, offsets[key], chance.randint(number * 10 - 40, number * 10 + 40), chance.randint(1, 99))
                for key in chance.choices(list(offsets), k=40)
            ]
            self.batches.append((rows, number * 12 + chance.randint(-9, 9)))

    @property
    def moves(self) -> list[Move]:
        """The micro-batches, and the end."""
        made = [
            move(*(row(o.key, o.value, o.time, o.offset) for o in rows), to=watermark)
            for rows, watermark in self.batches
        ]
        return [*made, move(to=END)]

    def expected(self, grid: Grid) -> tuple[list[Rows], int]:
        """Return what each move gives, and how many rows are late."""
        stream = Expected(grid)
        given = [stream.move(rows, watermark) for rows, watermark in self.batches]
        return [sorted(rows, key=repr) for rows in [*given, stream.move((), 1 << 40)]], stream.late

    @property
    def rows(self) -> list[Order]:
        """All rows."""
        return [o for rows, _ in self.batches for o in rows]


WHOLE = "SELECT key, gap, window_start, window_end, COUNT(*) AS n, SUM(`value`) AS s FROM {} " + BY_KEY
#: Spark's own grouping, and our operator with a pane or several.
KEPT = {"by Spark": "", "by ours": " EMIT AFTER WATERMARK EARLY EVERY 9999 ROWS"}


@pytest.mark.parametrize("seed", [1, 2])
def test_random_worlds(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    """A stream gives each window by its own end, whatever the order, the cuts and what is late; a batch gives all."""
    world = World(seed)
    queries = {
        (function, kept): SteppedQuery(
            spark,
            tmp_path / f"{function} {kept}",
            f"{TIMED}{WHOLE.format(over(function, SIZES[function]))}{KEPT[kept]};",
            world.moves,
        )
        for function in GRIDS
        for kept in KEPT
    }
    run_together(list(queries.values()))
    for (function, kept), query in queries.items():
        expected, late = world.expected(GRIDS[function])
        found = [_plain(rows) for rows in rows_of(query)]
        assert found == expected, (function, kept)
        assert late
        if kept == "by ours" and function == "TUMBLE":
            assert sum(o.dropped for o in query.outcomes) == late
    session = sqlext.connect(spark, catalog=tmp_path / "batch")
    (folder,) = {q.folder / "in" for (f, k), q in queries.items() if (f, k) == ("TUMBLE", "by ours")}
    session.run(f"SET 'execution.runtime-mode' = 'batch'; {TIMED}", {"IN": str(folder), "CLOCK": str(tmp_path)})
    for function, grid in GRIDS.items():
        rows = session.sql(WHOLE.format(over(function, SIZES[function]))).rows
        assert _plain(rows) == sorted(of_batch(grid, world.rows), key=repr)


def _plain(rows: Sequence[Sequence[Any]]) -> Rows:
    """Return rows of WHOLE with whole hours, as ``Expected`` has them."""
    made = ((key, gap // HOUR, int(hours(start)), int(hours(end)), n, s) for key, gap, start, end, n, s in rows)
    return sorted(made, key=repr)


def test_restarted_with_other_partitions(spark: SparkSession, tmp_path: Path) -> None:
    """The state has each window's own bounds, so a restart between any two moves changes nothing."""
    case = CASES["early results"]
    for name, select in (("native", SUMS.format(DAY)), ("ours", case.select)):
        query = SteppedQuery(spark, tmp_path / name, _into_delta(select), case.moves)
        for number, each in enumerate(case.moves):
            query.start({"spark.sql.shuffle.partitions": str(1 + number % 2)} if name == "ours" else None)
            query.put(each)
            query.settle()
            query.stop()
        rows = spark.read.format("delta").load(str(tmp_path / name / "out")).collect()
        assert in_hours(rows) == in_hours([("a", 6, 30, 3), ("b", 24, 48, 4)])
    other = SUMS.format(over("TUMBLE", "INTERVAL '1' DAY", "gap + 1"))
    with pytest.raises(SqlExtError) as refused:
        SteppedQuery(spark, tmp_path / "native", _into_delta(other), case.moves).start()
    assert refused.value.code == "RUN-020", refused.value.render()
    assert "window offset" in refused.value.render()


def test_late_rows_go_into_a_table(spark: SparkSession, tmp_path: Path) -> None:
    """A row is late by the end of its own shop's day."""
    case = CASES["a row is late where its own window is over"]
    late = "CREATE TABLE late (key STRING, `value` BIGINT) WITH ('connector' = 'delta', 'path' = '${OUT}/late');"
    script = _into_delta(f"{case.select} EMIT AFTER WATERMARK LATE DATA TO late").replace("${OUT}'", "${OUT}/sums'")
    query = SteppedQuery(spark, tmp_path, late + script, case.moves)
    query.start()
    for each in case.moves:
        query.put(each)
        query.settle()
    query.stop()
    found = {name: spark.read.format("delta").load(str(tmp_path / "out" / name)).collect() for name in ("sums", "late")}
    assert in_hours(found["sums"]) == [("a", 6, 30, 5), ("b", 0, 24, 2)]
    assert in_hours(found["late"]) == [("b", 8)]


def _into_delta(select: str) -> str:
    return f"""{TIMED}
    CREATE TABLE sums (
      key STRING, s TIMESTAMP(3), e TIMESTAMP(3), total BIGINT, PRIMARY KEY (key, s, e) NOT ENFORCED
    ) WITH ('connector' = 'delta', 'path' = '${{OUT}}');
    INSERT INTO sums {select};"""


BATCH = "SET 'execution.runtime-mode' = 'batch';"
OF_EVENTS = """SELECT k, window_start, COUNT(*) AS n
FROM TABLE({function}(TABLE {table}, DESCRIPTOR(ts), {sizes}, NULLIF(v, 99) * INTERVAL '1' {unit}))
GROUP BY k, v, window_start, window_end{emit};"""


def of_events(**parts: str) -> str:
    given = {"function": "TUMBLE", "table": "events", "sizes": "INTERVAL '10' SECOND", "unit": "SECOND", "emit": ""}
    return OF_EVENTS.format(**{**given, **parts})


WRONG = {
    "NULL": (of_events(), "99"),
    "NULL, CUMULATE": (of_events(function="CUMULATE", sizes="INTERVAL '5' SECOND, INTERVAL '10' SECOND"), "99"),
    "NULL, early results": (of_events(emit=" EMIT AFTER WATERMARK EARLY EVERY ROW"), "99"),
    "28 days in a calendar": (of_events(sizes="INTERVAL '1' MONTH", unit="DAY"), "28"),
}


@pytest.mark.parametrize("mode", ["", BATCH])
@pytest.mark.parametrize("name", WRONG)
def test_an_offset_that_is_none_fails_the_job(workspace: Workspace, name: str, mode: str) -> None:
    query, value = WRONG[name]
    if mode and "EMIT" in query:
        pytest.skip("EMIT has no effect in batch mode")
    workspace.put("0.csv", "a,2,0", f"a,{value},5")
    with pytest.raises(SqlExtError) as failed:
        workspace.run(EVENTS, mode, query)
    assert failed.value.code == "RUN-092", failed.value.render()
    assert failed.value.line is not None


def test_a_sub_query_keeps_such_rows_out(workspace: Workspace) -> None:
    workspace.put("0.csv", "a,2,0", "a,99,5", "b,-27,27")
    found = workspace.run(EVENTS, of_events(table="(SELECT * FROM events WHERE v <> 99)"))[-1].rows
    assert sorted((k, s.minute, s.second, n) for k, s, n in found) == [("a", 59, 52, 1), ("b", 0, 23, 1)]
    # A month begins 27 days before its first midnight.
    months = of_events(sizes="INTERVAL '1' MONTH", unit="DAY", table="(SELECT * FROM events WHERE v < 0)")
    assert workspace.run(EVENTS, months)[-1].rows == [("b", datetime(2023, 12, 5), 1)]


IN_BERLIN = """SET 'table.local-time-zone' = 'Europe/Berlin';
CREATE TABLE instants (k STRING, v INT, ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${IN}', 'format' = 'csv');"""


@pytest.mark.parametrize("mode", ["", BATCH])
def test_days_of_a_zone_with_summer_time(workspace: Workspace, mode: str) -> None:
    """Clocks of Berlin go from 2 to 3 on March 31: at six o'clock is another instant then."""
    instants = ["2024-03-30 05:30:00", "2024-03-31 03:30:00", "2024-03-31 04:30:00", "2024-03-31 22:30:00"]
    workspace.put("0.csv", *(f"{key},{v},{i}.000Z" for i in instants for key, v in (("a", 6), ("b", 0))))
    script = """SELECT k, window_start, window_end, COUNT(*) AS n
    FROM TABLE(TUMBLE(TABLE instants, DESCRIPTOR(ts), INTERVAL '1' DAY, v * INTERVAL '1' HOUR))
    GROUP BY k, v, window_start, window_end;"""
    rows = sorted(workspace.run(IN_BERLIN, mode, script)[-1].rows)
    day = timedelta(days=1)
    six, midnight = datetime(2024, 3, 30, 6), datetime(2024, 3, 30)
    assert rows == [
        ("a", six, six + day, 2),
        ("a", six + day, six + 2 * day, 2),
        ("b", midnight, midnight + day, 1),
        ("b", midnight + day, midnight + 2 * day, 2),
        ("b", midnight + 2 * day, midnight + 3 * day, 1),
    ]
