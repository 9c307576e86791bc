"""One change of the example project, whatever it is: ``dbt build`` goes on, or begins anew, and ends well."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.dbt.test_dbt import project_in, run

MINUTE, HOUR, LARGE, SOURCES = (
    f"models/{name}" for name in ("per_minute.sql", "per_hour.sql", "large_orders.sql", "sources.yml")
)
#: The file, what is replaced, by what.
CHANGES = {
    "a column more": (MINUTE, "SUM(amount) AS total", "SUM(amount) AS total, COUNT(*) AS n"),
    "another aggregate": (MINUTE, "SUM(amount)", "MAX(amount)"),
    "a filter": (LARGE, ">= 10", ">= 5"),
    "a window": (MINUTE, "'1' MINUTE", "'2' MINUTE"),
    "EMIT": (HOUR, "EARLY EVERY ROW", "EARLY EVERY 2 ROWS"),
    "a lateness": (HOUR, "EARLY EVERY ROW", "EARLY EVERY ROW ALLOW LATENESS 1h"),
    "a key": (HOUR, "SELECT window_start", "SELECT COUNT(*) AS n, window_start"),
    "a column of the source": (
        SOURCES,
        "          - {name: ts,",
        "          - {name: extra, data_type: STRING}\n          - {name: ts,",
    ),
    "a type of the source": (SOURCES, "data_type: DOUBLE", "data_type: 'DECIMAL(10, 2)'"),
    "a watermark": (SOURCES, "'10' SECOND", "'20' SECOND"),
    "a seed": ("seeds/items.csv", "\n", "\nink,other\n"),
    "a materialization": (
        LARGE,
        "materialized='stream_view'",
        "materialized='streaming_table', rowtime='ts', watermark=\"ts - INTERVAL '10' SECOND\"",
    ),
    "a config": (MINUTE, "rowtime='minute_time'", "rowtime='minute_time', partition_by='item'"),
}
pytestmark = pytest.mark.slow


@pytest.mark.sampled(13)
@pytest.mark.parametrize("change", CHANGES)
def test_a_build_after_one_change_ends_well(change: str, tmp_path: Path) -> None:
    folder = project_in(tmp_path)
    said = run(folder, "python", str(Path(__file__).with_name("one_change.py")), *CHANGES[change])
    before, after, anew = json.loads(said.split("STORY ", 1)[1])
    for build in (before, after, anew):
        assert build["success"], build["said"]
    assert after["rows"] == anew["rows"], after["said"]
