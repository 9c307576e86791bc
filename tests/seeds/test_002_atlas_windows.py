"""MongoDB Atlas Stream Processing, windows: tumbling, hopping, hopping with gaps, time by the event, idle sources.

Dead letters: ``test_001_flink_windows.py``.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.stepped_queries import END_OF_TIME, TIMED, JsonRow, Move, SteppedQuery, rows_of, run_together, text_of
from tests.watermarks.timed_run import TimedRun

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from sqlext.session.api import Session

NOON = datetime(2024, 1, 1, 12)
DOCUMENTS = """CREATE TABLE documents (
  n INT, ts TIMESTAMP(3), arrived AS PROCTIME(), WATERMARK FOR ts AS ts - INTERVAL '10' MINUTE
) WITH ('connector' = 'filesystem', 'path' = '${IN}', 'format' = 'json');
"""
# One document a second, half a minute long; they come a little out of order.
SECONDS = [s ^ 1 for s in range(30)]

# (event time, processing time) in minutes after 12:00, as the page's table of the watermark has them.
BY_WATERMARK = [(0, 0), (0, 1), (1, 3), (3, 4), (2, 5), (1, 6), (4, 6), (5, 7), (6, 7), (6, 8)]


def at(seconds: int) -> datetime:
    return NOON + timedelta(seconds=seconds)


def windowed(session: Session, folder: Path, seconds: list[int], window: str) -> Counter[tuple[datetime, datetime]]:
    """Run a count per window; return the documents of each window."""
    folder.mkdir()
    rows = [json.dumps({"n": i, "ts": str(at(s))}) for i, s in enumerate(seconds)]
    (folder / "documents.json").write_text("\n".join(rows))
    query = f"SELECT window_start, window_end, COUNT(*) AS n FROM TABLE({window}) GROUP BY window_start, window_end;"
    result = session.run(DOCUMENTS + query, variables={"IN": str(folder)})[-1]
    assert result.query is not None
    return Counter({(start, end): n for start, end, n in result.rows})


def expected(size: int, hop: int, seconds: list[int]) -> Counter[tuple[datetime, datetime]]:
    """Count by the definition: the windows are [k * hop, k * hop + size)."""
    windows = [(k * hop, k * hop + size) for k in range(-size, max(seconds) + 1)]
    return +Counter({(at(a), at(b)): sum(a <= s < b for s in seconds) for a, b in windows})


def test_tumbling_3_seconds(session: Session, tmp_path: Path) -> None:
    found = windowed(session, tmp_path / "in", SECONDS, "TUMBLE(TABLE documents, DESCRIPTOR(ts), INTERVAL '3' SECOND)")
    assert found == expected(3, 3, SECONDS)
    assert sum(found.values()) == len(SECONDS)


def test_hopping_20_seconds_every_5(session: Session, tmp_path: Path) -> None:
    window = "HOP(TABLE documents, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '20' SECOND)"
    found = windowed(session, tmp_path / "in", SECONDS, window)
    assert found == expected(20, 5, SECONDS)
    assert sum(found.values()) == 4 * len(SECONDS)


def test_hopping_with_gaps_3_seconds_every_5(session: Session, tmp_path: Path) -> None:
    window = "HOP(TABLE documents, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '3' SECOND)"
    found = windowed(session, tmp_path / "in", SECONDS, window)
    assert found == expected(3, 5, SECONDS)
    assert sum(found.values()) == sum(s % 5 < 3 for s in SECONDS)


def test_event_time_puts_all_seven_documents_into_the_first_window(session: Session, tmp_path: Path) -> None:
    minutes = [60 * event for event, _ in BY_WATERMARK]
    window = "TUMBLE(TABLE documents, DESCRIPTOR(ts), INTERVAL '5' MINUTE)"
    found = windowed(session, tmp_path / "in", minutes, window)
    assert found == {(at(0), at(300)): 7, (at(300), at(600)): 3}


TUMBLE_5 = """SELECT window_start, window_end, COUNT(*)
FROM TABLE(TUMBLE(TABLE input, DESCRIPTOR(%s), INTERVAL '5' MINUTE))
WHERE key IS NOT NULL GROUP BY window_start, window_end %s;"""
# (event time, watermark, windows that are open then) in minutes after 12:00, of the table of the allowed lateness.
# The page shows the windows that a document can still go to.
BY_LATENESS = [
    (0, 0, 1),
    (1, 1, 1),
    (3, 3, 1),
    (2, 3, 1),
    (4, 4, 1),
    (1, 4, 1),
    (5, 5, 2),
    (6, 6, 2),
    (4, 6, 2),
    (7, 7, 1),
]


def document(minute: float) -> JsonRow:
    return {"key": "d", "value": 1, "ts": text_of(at(60 * minute))}


@pytest.fixture(scope="module")
def stepped(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, SteppedQuery]:
    """Run the page's tables, a document per micro-batch: by the clock, and with documents that come late."""
    by_clock = [Move([document(event)], clock=at(60 * arrived)) for event, arrived in BY_WATERMARK]
    by_clock.append(Move(clock=at(600)))
    late = [Move([document(event)], watermark=at(60 * mark)) for event, mark, _ in BY_LATENESS]
    late[0] = replace(late[0], clock=NOON)
    late += [Move([document(4)]), Move(watermark=END_OF_TIME)]
    scripts = {
        "clock": (TUMBLE_5 % ("p", ""), by_clock),
        "late": (TUMBLE_5 % ("ts", "EMIT AFTER WATERMARK ALLOW LATENESS '2' MINUTE"), late),
    }
    folder = tmp_path_factory.mktemp("atlas")
    found = {n: SteppedQuery(spark, folder / n, TIMED + sql, moves) for n, (sql, moves) in scripts.items()}
    run_together(list(found.values()))
    return found


def test_processing_time_puts_only_four_of_them_there(stepped: dict[str, SteppedQuery]) -> None:
    first, second = (at(0), at(300), 4), (at(300), at(600), 6)
    assert rows_of(stepped["clock"]) == [[], [], [], [], [first], [], [], [], [], [], [second]]


def test_allowed_lateness_of_two_minutes(stepped: dict[str, SteppedQuery]) -> None:
    panes = rows_of(stepped["late"])
    outcomes = stepped["late"].outcomes
    assert [o.state_rows for o in outcomes[:10]] == [n for _, _, n in BY_LATENESS]
    # At 12:05 the six documents that have come; then the one of 12:04 that comes when it is 12:06.
    assert panes == [[]] * 6 + [[(at(0), at(300), 6)], [], [(at(0), at(300), 7)], [], [], [(at(300), at(600), 3)]]
    # The first window closed at 12:07: one more of 12:04 goes nowhere.
    assert [o.dropped for o in outcomes] == [0] * 10 + [1, 0]
    assert outcomes[-1].state_rows == 0


IDLE = """CREATE TABLE documents (n INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'filesystem', 'path' = '${IN}/documents', 'format' = 'csv', 'source.monitor-interval' = '1 s',
  'scan.watermark.idle-timeout' = '1 min', 'sqlext.idle.close-windows' = 'true');
SET 'sqlext.clock' = '${CLOCK}';
SELECT window_start, window_end, COUNT(*) FROM TABLE(TUMBLE(TABLE documents, DESCRIPTOR(ts), INTERVAL '3' MINUTE))
GROUP BY window_start, window_end;
"""
# (processing time, event time or None where nothing comes, watermark, end of the open window) in minutes after 12:00,
# of the table of the idle timeout. At 12:07 its text has the watermark 12:06, where the table misprints 12:00.
BY_SILENCE = [
    (0, 0, 0, 3),
    (1, None, 0, 3),
    (2, None, 0, 3),
    (3, None, 0, 3),
    (4, 2, 2, 3),
    (5, 5, 5, 6),
    (6, None, 5, 6),
    (7, None, 6, 9),
    (8, None, 6, 9),
    (9, 9, 9, 12),
]


def epoch_seconds(minute: int) -> float:
    return (at(60 * minute) - datetime(1970, 1, 1)).total_seconds()


@pytest.mark.slow
def test_a_silent_source_closes_its_window_after_a_minute(spark: SparkSession, tmp_path: Path) -> None:
    run = TimedRun(spark, tmp_path, IDLE)
    run.clock(epoch_seconds(0))
    documents: list[int] = []
    try:
        run.put("documents", [])
        run.start()
        for clock, event, mark, open_until in BY_SILENCE:
            if event is not None:
                documents.append(event)
                # Before the clock moves on: else it may close a window while Spark has not seen the document.
                run.clock(epoch_seconds(clock) - 0.5)
                run.put("documents", [f"{clock},{at(60 * event)}"])
                run.settle()
            run.clock(epoch_seconds(clock))
            run.settle()
            (shown,) = run.session.sql("SHOW WATERMARKS").rows
            assert (clock, shown[4]) == (clock, at(60 * mark))
            closed = Counter(event // 3 for event in documents if event // 3 * 3 + 3 < open_until)
            assert run.rows == [(at(180 * n), at(180 * n + 180), count) for n, count in sorted(closed.items())]
    finally:
        run.stop()
    assert run.query.progress["rows_dropped"] == 0
