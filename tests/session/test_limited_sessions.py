"""Sessions with a maximum length on Spark: streams, batch mode and both readers give what plain Python gives."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import pytest

from tests.workspace import Workspace

SOURCE = """CREATE TABLE ev (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '20' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${{IN}}', 'format' = 'csv', {});"""
ARROW, SPARK = "'sqlext.source' = 'arrow'", "'sqlext.source' = 'spark'"
SINK = """CREATE TABLE {0} (k STRING, s STRING, e STRING, n BIGINT, v BIGINT)
WITH ('connector' = 'delta', 'path' = '${{OUT}}/{0}');"""
BATCH = "SET 'execution.runtime-mode' = 'batch';"
LENGTHS = "INTERVAL '5' SECOND, INTERVAL '12' SECOND"
BY_TIME = "DATE_FORMAT({}, 'mm:ss')"
BOUNDS = f"{BY_TIME.format('window_start')}, {BY_TIME.format('window_end')}"
WINDOWS = f"TABLE(SESSION(TABLE ev PARTITION BY k, DESCRIPTOR(ts), {LENGTHS}))"
GROUPED = f"SELECT k, {BOUNDS}, COUNT(*), SUM(v) FROM {WINDOWS} GROUP BY k, window_start, window_end"
ROWS = f"SELECT k, {BOUNDS}, CAST(v AS BIGINT), CAST(v AS BIGINT) FROM {WINDOWS}"
#: Sessions of a user, grouped without the user.
OTHERS = f"SELECT 'all', {BOUNDS}, COUNT(*), SUM(v) FROM {WINDOWS} GROUP BY window_start, window_end"
STARTED, ENDED = (BY_TIME.format(f"SESSION_{bound}(ts, {LENGTHS})") for bound in ("START", "END"))
LEGACY = f"SELECT k, {STARTED}, {ENDED}, COUNT(*), SUM(v) FROM ev GROUP BY k, SESSION(ts, {LENGTHS})"
#: A window above: ends of sessions are its times.
BELOW = f"""(SELECT window_time AS t, COUNT(*) AS n FROM {WINDOWS}
GROUP BY k, window_start, window_end, window_time)"""
ABOVE = f"""SELECT 'all', {BOUNDS}, COUNT(*), CAST(SUM(n) AS BIGINT)
FROM TABLE(TUMBLE({BELOW}, DESCRIPTOR(t), INTERVAL '30' SECOND)) GROUP BY window_start, window_end"""
QUERIES = {"grouped": GROUPED, "rows": ROWS, "others": OTHERS, "legacy": LEGACY, "above": ABOVE}
Event = tuple[str, int, int]


def sessions(events: Sequence[Event]) -> Iterator[tuple[str, int, int, list[int]]]:
    """Yield key, start, end (s) and values of each session."""
    for key in sorted({k for k, _, _ in events}):
        start = last = -100
        values: list[int] = []
        for _, value, second in sorted((e for e in events if e[0] == key), key=lambda e: e[2]):
            if second > last + 5 or second >= start + 12:
                if values:
                    yield key, start, min(last + 5, start + 12), values
                start, values = second, []
            last = second
            values.append(value)
        yield key, start, min(last + 5, start + 12), values


def shown(second: int) -> str:
    """Return a time as the queries show it."""
    return f"{second // 60:02}:{second % 60:02}"


def expected(events: Sequence[Event]) -> dict[str, list[tuple[str, ...]]]:
    """Return what each query gives, its values as text."""
    found = list(sessions(events))
    grouped = [(k, shown(s), shown(e), str(len(v)), str(sum(v))) for k, s, e, v in found]
    rows = [(k, shown(s), shown(e), str(one), str(one)) for k, s, e, v in found for one in v]
    bounds = sorted({(s, e) for _, s, e, _ in found})
    same = {b: [one for _, s, e, v in found if (s, e) == b for one in v] for b in bounds}
    others = [("all", shown(s), shown(e), str(len(v)), str(sum(v))) for (s, e), v in same.items()]
    # ``window_time`` lies in the last millisecond of a session.
    above: dict[int, list[int]] = {}
    for _, _, end, values in found:
        above.setdefault((end * 1000 - 1) // 30_000 * 30, []).append(len(values))
    tumbled = [("all", shown(w), shown(w + 30), str(len(n)), str(sum(n))) for w, n in above.items()]
    results = {"grouped": grouped, "rows": rows, "others": others, "legacy": grouped, "above": tumbled}
    return {name: sorted(result) for name, result in results.items()}


@pytest.fixture
def filled(workspace: Workspace) -> tuple[Workspace, list[Event]]:
    """Rows over two minutes in three files, in each out of order; with a session that is cut several times."""
    random_ = random.Random(4)
    times = [*(random_.randrange(0, 150) for _ in range(50)), *range(10, 50, 3)]
    events = [(random_.choice("ab"), i, t) for i, t in enumerate(times)]
    # Nothing is late: a file is not older than the one before by more than the watermark's delay.
    events.sort(key=lambda e: e[2] // 15)
    for number in range(3):
        part = events[number * 22 : (number + 1) * 22]
        workspace.put(f"{number}.csv", *(f"{k},{v},2024-01-01 00:{shown(t)}" for k, v, t in part))
    return workspace, events[:66]


@pytest.mark.parametrize("reader", [ARROW, SPARK])
def test_a_stream_gives_what_the_rule_says(filled: tuple[Workspace, list[Event]], reader: str) -> None:
    workspace, events = filled
    source = SOURCE.format(f"{reader}, 'maxFilesPerTrigger' = '1'")
    inserts = [SINK.format(name) + f"INSERT INTO {name} {query};" for name, query in QUERIES.items()]
    workspace.run(source, *inserts)
    assert {name: workspace.delta(name) for name in QUERIES} == expected(events)


def test_batch_mode_gives_the_same(filled: tuple[Workspace, list[Event]]) -> None:
    workspace, events = filled
    results = workspace.run(BATCH, SOURCE.format(SPARK), *(f"{query};" for query in QUERIES.values()))[-len(QUERIES) :]
    found = {n: sorted(tuple(map(str, row)) for row in r.rows) for n, r in zip(QUERIES, results, strict=True)}
    assert found == expected(events)


def test_a_row_behind_the_watermark_is_late_and_kept(workspace: Workspace) -> None:
    """It lies in a session that is over by then, and would have moved all cuts behind it."""
    late = """CREATE TABLE late (k STRING, v INT) WITH ('connector' = 'delta', 'path' = '${OUT}/late');"""
    workspace.put("0.csv", *(f"a,1,2024-01-01 00:00:{t:02}" for t in (10, 14, 18, 23)))
    workspace.put("1.csv", "b,1,2024-01-01 00:02:00")
    workspace.put("2.csv", "b,1,2024-01-01 00:02:01")
    workspace.put("3.csv", "a,7,2024-01-01 00:00:08", "b,1,2024-01-01 00:02:02")
    source = SOURCE.format(f"{SPARK}, 'maxFilesPerTrigger' = '1'")
    script = f"{SINK.format('counts')} {late} INSERT INTO counts {GROUPED} EMIT AFTER WATERMARK LATE DATA TO late;"
    workspace.run(source, script)
    assert workspace.delta() == [
        ("a", "00:10", "00:22", "3", "3"),
        ("a", "00:23", "00:28", "1", "1"),
        ("b", "02:00", "02:07", "3", "3"),
    ]
    assert workspace.delta("late") == [("a", "7")]


def test_nothing_comes_of_nothing(workspace: Workspace) -> None:
    workspace.put("0.csv")
    for mode in ("", BATCH):
        results = workspace.run(mode, SOURCE.format(SPARK), f"{GROUPED};", f"{ROWS};")[-2:]
        assert [r.rows for r in results] == [[], []]


def test_rows_of_sessions_touch_alike_in_both_modes(workspace: Workspace) -> None:
    """Two rows that are exactly a gap apart are of one session, with and without a maximum."""
    workspace.put("0.csv", *(f"a,{t},2024-01-01 00:00:{t:02}" for t in (0, 5, 10, 16)))
    plain = ROWS.replace(LENGTHS, "INTERVAL '5' SECOND")
    for mode in ("", BATCH):
        without, limited = workspace.run(mode, SOURCE.format(SPARK), f"{plain};", f"{ROWS};")[-2:]
        assert sorted(r[1:4] for r in without.rows) == [
            ("00:00", "00:15", 0),
            ("00:00", "00:15", 5),
            ("00:00", "00:15", 10),
            ("00:16", "00:21", 16),
        ]
        assert sorted(r[1:3] for r in limited.rows) == [
            *[("00:00", "00:12")] * 3,
            ("00:16", "00:21"),
        ]


def test_rows_know_their_session_behind_a_static_join_and_in_aggregates(workspace: Workspace) -> None:
    workspace.put("0.csv", *(f"{k},{t},2024-01-01 00:00:{t:02}" for k in "ab" for t in (0, 4, 8, 20)))
    names = "CREATE TABLE names (k STRING, name STRING) WITH ('connector' = 'filesystem', 'path' = '${OUT}/names', "
    names += "'format' = 'csv', 'scan.mode' = 'snapshot');"
    (workspace.folder / "out" / "names").mkdir(parents=True)
    (workspace.folder / "out" / "names" / "1.csv").write_text("a,ann\n")
    plain = WINDOWS.replace(LENGTHS, "INTERVAL '5' SECOND")
    joined = f"SELECT n.name, v, {BOUNDS} FROM {plain} AS s JOIN names AS n ON s.k = n.k;"
    inside = (
        f"SELECT k, MAX(TIMESTAMPDIFF(SECOND, window_start, ts)) FROM {plain} GROUP BY k, window_start, window_end;"
    )
    for mode in ("", BATCH):
        rows, most = workspace.run(mode, SOURCE.format(SPARK), names, joined, inside)[-2:]
        assert sorted(rows.rows) == [
            *(("ann", t, "00:00", "00:13") for t in (0, 4, 8)),
            ("ann", 20, "00:20", "00:25"),
        ]
        assert sorted(most.rows) == [("a", 0), ("a", 8), ("b", 0), ("b", 8)]
