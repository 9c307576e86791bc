"""FILL in this process: both modes give the same rows, with what panes say of themselves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sqlext

ROWS = (("a", "00:01"), ("a", "00:40"), ("b", "02:30"), ("a", "03:30"))
QUERY = """SELECT k, MINUTE(window_start), PANE_TIMING(), PANE_INDEX(), PANE_IS_FIRST(), PANE_IS_LAST(), COUNT(*)
FROM TABLE(TUMBLE(TABLE o, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY k, window_start, window_end
{} EMIT FILL FOR {}"""
REAL = [("a", 0, "ON_TIME", 2), ("a", 3, "ON_TIME", 1), ("b", 2, "ON_TIME", 1)]
FILLED = {
    "1m": [("a", 1), ("a", 4), ("b", 3)],
    "EACH KEY OF keys": [("a", 1), ("a", 2), *(("c", minute) for minute in range(4))],
}


@pytest.mark.parametrize("fill", FILLED)
@pytest.mark.parametrize("mode", ["streaming", "batch"])
def test_what_panes_say_of_themselves(tmp_path: Path, fill: str, mode: str) -> None:
    session = sqlext.connect(catalog=tmp_path / "catalog", settings={"sqlext.engine": "local"})
    orders = [{"k": k, "ts": f"2024-01-01 10:{time}"} for k, time in ROWS]
    for name, rows in (("o", orders), ("keys", [{"k": "a"}, {"k": "c"}])):
        (tmp_path / f"{name}.json").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    files = "WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = "
    session.run(f"""SET 'execution.runtime-mode' = '{mode}';
        CREATE TABLE o (k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) {files}'{tmp_path}/o.json');
        CREATE TABLE keys (k STRING) {files}'{tmp_path}/keys.json');""")
    filled = [(*pane, "FILLED", 0, True, True, 0) for pane in FILLED[fill]]
    real = [(k, minute, timing, 0, True, True, n) for k, minute, timing, n in REAL]
    assert sorted(session.sql(QUERY.format("", fill)).rows) == sorted([*real, *filled])
    assert sorted(session.sql(QUERY.format("HAVING PANE_TIMING() = 'FILLED'", fill)).rows) == filled
