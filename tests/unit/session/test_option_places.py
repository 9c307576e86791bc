"""A mistake in an option is shown at the option, not where its table is used."""

from __future__ import annotations

import pytest

from sqlext.session.offline.commands import check_file
from sqlext.source import Span

FILES = "'connector' = 'filesystem', 'path' = '/in', 'format' = 'json'"
STREAM = "'source.monitor-interval' = '1 s'"
TIMED = "ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND"


def places(script: str) -> list[tuple[str, str]]:
    """Return code and text at the place of each error."""
    found = [e for e in check_file(script) if e.severity == "error"]
    assert all(isinstance(e.span, Span) for e in found)
    return [(e.code, e.span.text) for e in found if e.span is not None]


def table(*options: str, name: str = "t") -> str:
    return f"CREATE TABLE {name} (k STRING, {TIMED}) WITH ({', '.join(options)});\n"


@pytest.mark.parametrize("use", ["SELECT k FROM t;", "INSERT INTO t SELECT 'a', LOCALTIMESTAMP;"])
@pytest.mark.parametrize(
    ("option", "code"),
    [
        ("'format' = 'jsn'", "OPT-005"),
        ("'json.ignore-parse-errors' = 'maybe'", "OPT-005"),
        ("'scan.watermark.idle-timeout' = 'soon'", "OPT-005"),
        ("'pathh' = '/x'", "OPT-003"),
    ],
)
def test_at_the_option(use: str, option: str, code: str) -> None:
    others = FILES.replace(", 'format' = 'json'", "") if option.startswith("'format'") else FILES
    assert places(table(others, option) + use) == [(code, option)]


@pytest.mark.parametrize(
    ("option", "code"),
    [
        ("'scan.watermark.alignment.group' = 'g'", "OPT-030"),
        ("'sqlext.bad-rows' = 'nowhere'", "OPT-035"),
    ],
)
def test_options_of_a_source(option: str, code: str) -> None:
    assert places(f"{table(FILES, option, STREAM)} SELECT k FROM t;") == [(code, option)]


def test_what_is_missing_is_missing_where_the_table_is_named() -> None:
    assert places(table("'connector' = 'kafka'") + "SELECT k FROM t;") == [("OPT-004", "t")]


def test_a_hint_is_at_fault_where_it_stands() -> None:
    wrong = "SELECT k FROM t /*+ OPTIONS('format' = 'jsn') */;"
    assert places(table(FILES) + wrong) == [("OPT-005", "'format' = 'jsn'")]


def test_a_use_is_at_fault_where_the_table_cannot_be_used_so() -> None:
    script = table("'connector' = 'print'") + "SELECT k FROM t AS u;"
    assert places(script) == [("OPT-006", "t AS u")]


def test_the_definition_that_counts() -> None:
    changed = "'format' = 'xml'"
    script = table(FILES) + f"ALTER TABLE t SET ({changed}); SELECT k FROM t;"
    assert places(script) == [("OPT-005", changed)]
    kept = table(FILES) + table("'connector' = 'print'", name="IF NOT EXISTS t") + "SELECT k FROM t;"
    assert places(kept) == []


def test_a_mistake_is_told_once() -> None:
    assert len(places(table(FILES, "'format' = 'jsn'") + "SELECT k FROM t; SELECT ts FROM t;")) == 1
