"""Eight hours of a stream in this process, a file a minute: what it keeps is as much after eight hours as after two."""

from __future__ import annotations

import os
from pathlib import Path

from tests.local.streams.stream_desk import COUNTS, Desk
from tests.local.test_eight_hours import files, held, memory

_HOURS, _MINUTES = 8, 60
_MARGIN, _OTHERS = 48 << 20, 4


def test_eight_hours(desk: Desk) -> None:
    table = desk.root / "out"
    short = "'delta', 'delta.logRetentionDuration' = 'interval 30 minutes', 'delta.checkpointInterval' = '10'"
    script = desk.script(COUNTS.replace("'delta'", short))
    kept, process, sizes = [], [], []
    query = desk.start(script)
    for hour in range(_HOURS):
        for minute in range(_MINUTES):
            number = hour * _MINUTES + minute
            desk.tick(60_000)
            desk.put("events", f"{number:05}.json", [(f"k{number % 7}", number, number)])
            query.process_available()
        _remove_old(desk.root / "events", keep=10)
        kept.append(files(desk.root / "catalog" / "queries"))
        process.append(held())
        sizes.append(memory())
        for path in (table / "_delta_log").iterdir():  # by the machine's clock, which Delta asks
            os.utime(path, (path.stat().st_mtime - 3600,) * 2)
    query.stop()
    assert query.exception is None
    assert query.progress["rows_in"] == _HOURS * _MINUTES
    assert max(kept[1:]) <= kept[1] + 24
    # A Spark of other tests in this process opens and ends some of its own.
    assert max(fds for fds, _ in process) <= process[1][0] + _OTHERS
    assert max(threads for _, threads in process) <= process[1][1] + _OTHERS
    assert max(sizes) < sizes[0] + _MARGIN


def _remove_old(folder: Path, keep: int) -> None:
    for path in sorted(folder.iterdir())[:-keep]:
        path.unlink()
