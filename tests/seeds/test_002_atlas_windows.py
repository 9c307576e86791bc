"""MongoDB Atlas Stream Processing, windows: tumbling, hopping, hopping with gaps, and time by the event.

Windows by processing time, allowed lateness, dead letters and the idle timeout wait for the window operator.
"""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import sqlext

if TYPE_CHECKING:
    from sqlext.execution.session import Session

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


def test_processing_time_windows_wait_for_the_window_operator(session: Session, tmp_path: Path) -> None:
    with pytest.raises(sqlext.SqlExtError) as refused:
        windowed(session, tmp_path / "in", SECONDS, "TUMBLE(TABLE documents, DESCRIPTOR(arrived), INTERVAL '5' MINUTE)")
    assert refused.value.code == "LATER-402"
