"""Which bounded queries are one batch without state, as EXPLAIN says it."""

from __future__ import annotations

from pathlib import Path

import pytest

import sqlext
from sqlext.plan.timing import InputEnd
from sqlext.rewrite.arrow import choose_source
from sqlext.rewrite.compiler import boundedness
from sqlext.rewrite.script.begun import Begun, Readers
from sqlext.settings import Settings

_TUMBLE = "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND)"
_COUNTS = f"SELECT k, COUNT(*) FROM TABLE({_TUMBLE}) GROUP BY k, window_start, window_end"
_CUMULATED = _COUNTS.replace("TUMBLE(", "CUMULATE(").replace(", INTERVAL", ", INTERVAL '5' SECOND, INTERVAL")

_WINDOWED = _COUNTS.replace("SELECT k, COUNT(*)", "SELECT k, window_start, window_end, COUNT(*) AS n")
_TOP = f"""SELECT k, n FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY n DESC) AS place FROM ({_WINDOWED})
) WHERE place <= 3"""
_JOINED = f"""SELECT a.k, a.n FROM ({_WINDOWED}) AS a JOIN ({_WINDOWED.replace("TABLE t", "TABLE u")}) AS b
ON a.k = b.k AND a.window_start = b.window_start AND a.window_end = b.window_end"""


def is_at_once(folder: Path, query: str, options: str = "", settings: str = "") -> bool:
    session = sqlext.connect(catalog=str(folder / "catalog"))
    (folder / "in").mkdir(exist_ok=True)
    made = "\n".join(
        f"""CREATE TABLE {name} (k BIGINT, v INT, ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS ts) WITH (
          'connector' = 'filesystem', 'path' = '{folder / "in"}', 'format' = 'csv'{options});"""
        for name in "tu"
    )
    insert = f"{made} CREATE TABLE s (k BIGINT, n BIGINT) WITH ('connector' = 'blackhole'); INSERT INTO s {query};"
    return "all in one batch without state" in session.explain(f"SET 'sqlext.source' = 'arrow'; {settings} {insert}")[0]


@pytest.mark.parametrize(
    "query",
    [
        _COUNTS,
        _CUMULATED,
        _COUNTS.replace("TUMBLE(", "SESSION(").replace("TABLE t", "TABLE t PARTITION BY k"),
        f"SELECT k + 1, n FROM ({_COUNTS}) AS c (k, n) WHERE n > 1",
        f"{_CUMULATED} UNION ALL {_CUMULATED.replace('TABLE t', 'TABLE u')}",
        _COUNTS.replace("COUNT(*)", "COUNT(DISTINCT v)"),
        _TOP,
        _JOINED,
        "SELECT k, CAST(v AS BIGINT) FROM t WHERE v > 1",
        _JOINED.split(" AND a.window_start")[0],
        "SELECT t.k, COUNT(*) FROM t JOIN u ON t.k = u.k GROUP BY t.k",
    ],
)
def test_what_gives_each_row_once(tmp_path: Path, query: str) -> None:
    assert is_at_once(tmp_path, query)


@pytest.mark.parametrize(
    ("query", "options", "settings"),
    [
        (f"{_COUNTS} EMIT AFTER WATERMARK EARLY EVERY ROW", "", "SET 'sqlext.sink.updates' = 'final-state';"),
        (f"{_COUNTS} EMIT AFTER WATERMARK ALLOW LATENESS 1 MINUTE", "", "SET 'sqlext.sink.updates' = 'final-state';"),
        (_COUNTS, ", 'source.monitor-interval' = '1 s'", ""),
        (_COUNTS, ", 'maxFilesPerTrigger' = '1'", ""),
        (_COUNTS, "", "SET 'sqlext.bounded' = 'catch-up';"),
        (_COUNTS, "", "SET 'execution.runtime-mode' = 'batch';"),
        (f"{_COUNTS} UNION ALL SELECT k, CAST(v AS BIGINT) FROM u", "", ""),
        ("SELECT k, CAST(v AS BIGINT) FROM t", ", 'maxFilesPerTrigger' = '1'", ""),
        ("SELECT k, CAST(v AS BIGINT) FROM t", ", 'source.monitor-interval' = '1 s'", ""),
        ("SELECT k, CAST(CURRENT_WATERMARK(ts) IS NULL AS BIGINT) FROM t", "", ""),
    ],
)
def test_what_stays_a_stream(tmp_path: Path, query: str, options: str, settings: str) -> None:
    assert not is_at_once(tmp_path, query, options, settings)


@pytest.mark.parametrize("keys", ["k", "k, window_start, window_end"])
def test_groups_of_windows_are_one_batch(tmp_path: Path, keys: str) -> None:
    query = f"SELECT k, MAX(n) FROM ({_WINDOWED}) GROUP BY {keys}"
    assert is_at_once(tmp_path, query, "", "SET 'sqlext.sink.updates' = 'final-state';" if keys == "k" else "")


def test_more_rows_than_fit_into_memory_stay_a_stream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where an operator holds them as they come, and not where it combines them."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text("1,2,2024-01-01 00:00:00Z\n")
    joined = _JOINED.split(" AND a.window_start")[0]
    assert is_at_once(tmp_path, joined)
    monkeypatch.setattr(boundedness, "MOST_HELD", 10)
    assert not is_at_once(tmp_path, joined)
    assert is_at_once(tmp_path, _COUNTS)


def test_a_query_goes_on_as_what_it_began() -> None:
    assert Readers(Settings()).at_once(InputEnd.FINISH)
    assert not Readers(Settings()).at_once(InputEnd.CATCH_UP)
    assert not Readers(Settings(), Begun()).at_once(InputEnd.FINISH)
    assert Readers(Settings(), Begun.of({"reads all at once": ("yes", "1")})).at_once(InputEnd.FINISH)


def test_few_rows_are_one_batch_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose_source, "ENOUGH_AT_ONCE", 1)
    joined = "SELECT t.k, CAST(u.v AS BIGINT) FROM t JOIN u ON t.k = u.k"
    auto = "SET 'sqlext.source' = 'auto'; SET 'sqlext.sink.updates' = 'final-state';"
    assert not is_at_once(tmp_path, joined, "", auto)  # there are none
    (tmp_path / "other" / "in").mkdir(parents=True)
    (tmp_path / "other" / "in" / "0.csv").write_text("1,2,2024-01-01 00:00:00\n")
    assert is_at_once(tmp_path / "other", joined, "", auto)
