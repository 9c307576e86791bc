"""What ``check`` warns of, and of what it does not."""

from __future__ import annotations

from pathlib import Path

import pytest

import sqlext
from sqlext.session.offline.commands import check_file

TABLES = """
CREATE TABLE t (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH ('connector' = 'datagen');
CREATE TABLE still (k STRING, v INT, ts TIMESTAMP(3)) WITH (
  'connector' = 'filesystem', 'path' = '/in', 'format' = 'json', 'scan.mode' = 'snapshot');
"""
TUMBLE = "TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"
HOP = "TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '2' MINUTE))"
SESSION = "TABLE(SESSION(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"
GAPS = "TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTE, INTERVAL '1' MINUTE))"
WINDOW = "GROUP BY window_start, window_end"


def warnings(query: str, tables: str = TABLES) -> list[tuple[str, str]]:
    """Return code and text at the place of each warning; there is no error."""
    found = check_file(tables + query)
    assert {e.severity for e in found} <= {"warning"}, found
    return [(e.code, e.span.text if e.span is not None else "") for e in found]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT k, COUNT(*) FROM t GROUP BY k;", [("WARN-001", "k")]),
        ("SELECT DISTINCT k FROM t;", [("WARN-001", "SELECT DISTINCT k FROM t")]),
        ("SELECT COUNT(*) FROM t;", []),
        ("SET 'table.exec.state.ttl' = '1 d'; SELECT k, COUNT(*) FROM t GROUP BY k;", []),
        ("SELECT k, COUNT(*) FROM still GROUP BY k;", []),
        ("SELECT a.k FROM t AS a JOIN t AS b ON a.k = b.k;", [("WARN-002", "t AS a JOIN t AS b ON a.k = b.k")]),
        ("SELECT a.k FROM t AS a JOIN t AS b ON a.k = b.k AND a.ts BETWEEN b.ts AND b.ts + INTERVAL '1' HOUR;", []),
    ],
)
def test_state(query: str, expected: list[tuple[str, str]]) -> None:
    assert warnings(query) == expected


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("window_start, window_end", []),
        ("window_end, k, window_start", []),
        ("window_start", [("WARN-003", "window_start")]),
        ("k, window_end", [("WARN-003", "window_end")]),
        ("window_time", [("WARN-003", "window_time")]),
        ("k", [("WARN-001", "k")]),
    ],
)
def test_half_windows(keys: str, expected: list[tuple[str, str]]) -> None:
    assert warnings(f"SELECT COUNT(*) FROM {TUMBLE} GROUP BY {keys};") == expected


def test_a_part_of_a_window_above_its_grouping() -> None:
    inner = f"SELECT k, window_start, window_end, COUNT(*) AS n FROM {TUMBLE} {WINDOW}, k"
    assert warnings(f"SELECT window_start, SUM(n) FROM ({inner}) GROUP BY window_start;") == [
        ("WARN-003", "window_start")
    ]


def test_windows_with_gaps() -> None:
    assert warnings(f"SELECT COUNT(*) FROM {GAPS} {WINDOW};") == [("WARN-004", GAPS)]
    call = "HOP(ts, INTERVAL '5' MINUTE, INTERVAL '1' MINUTE)"
    assert warnings(f"SELECT COUNT(*) FROM t GROUP BY {call};") == [("WARN-004", call)]
    assert warnings(f"SELECT COUNT(*) FROM {HOP} {WINDOW};") == []


@pytest.mark.parametrize(
    ("source", "emit", "silent"),
    [
        (f"{TUMBLE} {WINDOW}", "NEVER", []),
        (f"{TUMBLE} {WINDOW}", "AFTER WATERMARK EARLY NEVER LATE NEVER", []),
        (f"{TUMBLE} {WINDOW}", "AFTER WATERMARK EARLY EVERY 30s OF EVENT TIME", []),
        (f"{TUMBLE} {WINDOW}", "EVERY 1m OF EVENT TIME", []),
        (f"{TUMBLE} {WINDOW}", "AFTER WATERMARK EARLY EVERY 1m OF EVENT TIME", ["EVERY 1m OF EVENT TIME"]),
        (f"{TUMBLE} {WINDOW}", "AFTER WATERMARK EARLY EVERY 90s OF EVENT TIME", []),
        (f"{HOP} {WINDOW}", "AFTER WATERMARK EARLY EVERY 1m OF EVENT TIME", []),
        (f"{SESSION} {WINDOW}", "AFTER WATERMARK EARLY EVERY 1h OF EVENT TIME", []),
        (f"{TUMBLE} {WINDOW}", "EVERY ROW OR NEVER", ["NEVER"]),
        (f"{TUMBLE} {WINDOW}", "AFTER 2 ROWS THEN AFTER 3 ROWS", []),
        (f"{TUMBLE} {WINDOW}", "EVERY ROW THEN AFTER 3 ROWS", ["AFTER 3 ROWS"]),
        ("t GROUP BY k", "NEVER", ["NEVER"]),
        ("still GROUP BY k", "EVERY ROW", ["EMIT EVERY ROW"]),
    ],
)
def test_emit_that_cannot_fire(source: str, emit: str, silent: list[str]) -> None:
    found = warnings(f"SELECT COUNT(*) FROM {source} EMIT {emit};")
    assert [text for code, text in found if code == "WARN-005"] == silent


@pytest.mark.parametrize(
    ("mark", "options", "warned"),
    [
        ("ts", "'source.monitor-interval' = '1 s'", True),
        ("(ts)", "'source.monitor-interval' = '1 s'", True),
        ("ts", "'maxFilesPerTrigger' = '1'", True),
        ("ts - INTERVAL '1' SECOND", "'source.monitor-interval' = '1 s'", False),
        ("ts", "'scan.mode' = 'snapshot'", False),
    ],
)
def test_watermarks_without_a_delay(mark: str, options: str, warned: bool) -> None:
    table = f"CREATE TABLE f (ts TIMESTAMP(3), WATERMARK FOR ts AS {mark}) WITH ('connector' = 'filesystem', "
    found = warnings(f"{table}'path' = '/in', 'format' = 'json', {options});", "")
    assert found == ([("WARN-006", mark)] if warned else [])


def test_a_source_that_gives_nothing_twice() -> None:
    table = "CREATE TABLE f (k STRING) WITH ('connector' = 'socket', 'hostname' = 'h', 'port' = '1', 'format' = 'csv');"
    assert warnings(table, "") == [("WARN-009", "f")]


JDBC = "TABLE k (a INT) WITH ('connector' = 'jdbc', 'url' = 'jdbc:sqlite:x', 'table-name' = 'a'"


@pytest.mark.parametrize(
    ("statement", "secret"),
    [
        (f"CREATE {JDBC}, {{}})", "password"),
        (f"CREATE {JDBC}); ALTER TABLE k SET ({{}})", "password"),
        ("SET {}", "spark.hadoop.fs.s3a.secret.key"),
    ],
)
def test_secrets_in_plain_text(statement: str, secret: str) -> None:
    found = warnings(statement.format(f"'{secret}' = 'hunter2'") + ";")
    assert [code for code, _ in found] == ["WARN-007"]
    assert found[0][1].strip("'") == "hunter2"
    assert warnings(statement.format(f"'{secret}' = 'env:X'") + ";") == []


def test_a_secret_within_a_url_and_one_from_a_variable(tmp_path: Path) -> None:
    table = "CREATE TABLE k (a INT) WITH ('connector' = 'jdbc', 'url' = '{}', 'table-name' = 'a');"
    script = tmp_path / "a.sql"
    script.write_text(table.format("jdbc:postgresql://me:hunter2@db/shop"))
    (found,) = check_file(script)
    assert (found.code, found.hint) == ("WARN-007", "'${NAME}' with --define, or an option of its own with 'env:NAME'")
    assert "hunter2" not in found.render()
    script.write_text(table.format("${URL}"))
    assert check_file(script, {"URL": "jdbc:postgresql://me:hunter2@db/shop"}) == []


@pytest.mark.parametrize(
    ("condition", "hint"),
    [
        ("v = NULL", "v IS NULL"),
        ("v <> NULL", "v IS NOT NULL"),
        ("NULL != v", "v IS NOT NULL"),
        ("v > (NULL)", "v IS NULL"),
        ("v = CAST(NULL AS INT)", "v IS NULL"),
        ("k NOT IN ('a', NULL)", "leave NULL out of the list"),
        ("k IN (NULL)", "k IS NULL"),
        ("v BETWEEN 1 AND NULL", "v IS NULL"),
        ("v BETWEEN 5 AND -1", "BETWEEN -1 AND 5"),
        ("k NOT LIKE NULL", "k IS NOT NULL"),
        ("t.v < t.v", "compare it with another one"),
    ],
)
def test_comparisons_that_are_never_true(condition: str, hint: str) -> None:
    (found,) = check_file(f"{TABLES} SELECT k FROM t WHERE v > 0 AND {condition};")
    assert (found.code, found.severity, found.hint) == ("WARN-010", "warning", hint)
    assert found.span is not None
    assert found.span.text == condition


@pytest.mark.parametrize(
    "condition",
    [
        "v IS NULL", "v <=> NULL", "v IS NOT DISTINCT FROM NULL", "k IN ('a', NULL)", "v NOT BETWEEN NULL AND 5",
        "v BETWEEN SYMMETRIC 5 AND 1", "v BETWEEN 1 AND 1.0", "v = v", "COALESCE(v, NULL) = 1",
        "CASE WHEN v IS NULL THEN NULL ELSE v END = 1",
    ],
)  # fmt: skip
def test_comparisons_that_can_be_true(condition: str) -> None:
    assert warnings(f"SELECT k FROM t WHERE {condition};") == []


def test_a_case_that_is_never_taken_in_a_view() -> None:
    view = "CREATE VIEW named AS SELECT CASE k WHEN 'a' THEN 1 WHEN NULL THEN 2 END AS n FROM t;"
    assert warnings(f"{view} SELECT n FROM named;") == [("WARN-010", "WHEN NULL THEN 2")]


SINK = "CREATE TABLE sink (k STRING) WITH ('connector' = 'blackhole');"


@pytest.mark.parametrize(
    ("script", "warned"),
    [
        (f"{SINK} SELECT k FROM t;", True),
        (f"{SINK} INSERT INTO sink SELECT k FROM t; SELECT k FROM t;", False),
        (f"{SINK} EXPLAIN INSERT INTO `sink` SELECT k FROM t; SELECT k FROM t;", False),
        (SINK, False),
        (f"{SINK} SELECT k, v FROM t;", False),
        (f"{SINK} SELECT nothing FROM t;", False),
    ],
)
def test_a_forgotten_insert(script: str, warned: bool) -> None:
    found = [(e.code, e.span and e.span.text) for e in check_file(TABLES + script) if e.code == "WARN-008"]
    assert found == ([("WARN-008", "sink")] if warned else [])


def test_a_view_has_its_warnings_once() -> None:
    view = "CREATE VIEW counts AS SELECT k, COUNT(*) AS n FROM t GROUP BY k;"
    assert len(warnings(f"{view} SELECT n FROM counts; SELECT k FROM counts;")) == 1


def test_a_statement_with_an_error_has_no_warning() -> None:
    assert [e.code for e in check_file(f"{TABLES} SELECT nothing, COUNT(*) FROM t GROUP BY k;")] == ["NAME-003"]


def test_a_session_gives_errors_alone_unless_asked() -> None:
    session = sqlext.connect()
    script = f"{TABLES} SELECT k, COUNT(*) FROM t GROUP BY k;"
    assert session.check(script) == []
    assert [e.code for e in session.check(script, warnings=True)] == ["WARN-001"]
