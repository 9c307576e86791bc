"""Write the demo's rows into files, in arrival order, and report how far out of order they are."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from sqlext.demo.nycflights import EVENT_TIME, flights, weather

if TYPE_CHECKING:
    import pandas as pd

FILES = 12
_LAYOUT = "1"  # Raise it when the files change: older ones are then written anew.
_TIME_FORMAT = "%Y-%m-%d %H:%M:%S"
_FIRST_WRITTEN = 1_356_998_400  # 2013-01-01T00:00Z


def prepare(folder: Path) -> list[str]:
    """Write ``flights/*.json`` and ``weather/*.csv`` into ``folder`` and return a report's lines.

    Does nothing but report if the files are there already.
    """
    stamp = folder / f".prepared-{_LAYOUT}"
    if not stamp.exists():
        report = [
            *_write("flights", flights(), folder),
            *_write("weather", weather(), folder),
        ]
        stamp.write_text("\n".join(report))
    return stamp.read_text().splitlines()


def _write(name: str, rows: pd.DataFrame, folder: Path) -> list[str]:
    """Write one data set as equal parts; return a line for the set and one for each part."""
    final, draft = folder / name, folder / f".{name}-{os.getpid()}"
    draft.mkdir(parents=True)
    behind = _disorder(rows[EVENT_TIME[name]])
    lines = [f"{name}: {len(rows):,} rows in {FILES} files, {_order(behind.max())}"]
    size = -(-len(rows) // FILES)
    for i in range(FILES):
        part = slice(i * size, (i + 1) * size)
        file = _write_part(name, rows.iloc[part], draft / f"part-{i + 1:02}")
        # A streaming source takes files by the time of their last change: let that be arrival order.
        os.utime(file, (_FIRST_WRITTEN + i, _FIRST_WRITTEN + i))
        lines.append(f"  {final / file.name}: {_order(behind.iloc[part].max())}")
    shutil.rmtree(final, ignore_errors=True)
    draft.rename(final)
    return lines


def _write_part(name: str, rows: pd.DataFrame, stem: Path) -> Path:
    if name == "flights":
        time = EVENT_TIME[name]
        rows = rows.assign(**{time: rows[time].dt.strftime(_TIME_FORMAT)})
        rows.to_json(file := stem.with_suffix(".json"), orient="records", lines=True)
    else:
        # No header line, as Flink writes and reads CSV.
        file = stem.with_suffix(".csv")
        rows.to_csv(file, index=False, header=False, na_rep="NA", date_format=_TIME_FORMAT)
    return file


def _disorder(event_time: pd.Series[pd.Timestamp]) -> pd.Series[pd.Timedelta]:
    """Return how far each row lies behind the latest event time before it: what a watermark must wait."""
    return event_time.cummax() - event_time


def _order(behind: pd.Timedelta) -> str:
    minutes = int(behind.total_seconds()) // 60
    return f"up to {minutes // 60} h {minutes % 60:02} min out of order" if minutes else "in order"
