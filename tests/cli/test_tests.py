"""``sqlext test``: scripts compared with what lies beside them, endless ones step by step on a clock of their own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from sqlext.cli.main import main

pytestmark = pytest.mark.usefixtures("spark")

BOUNDED = """\
CREATE TABLE words (word STRING) WITH ('connector' = 'filesystem', 'path' = '${IN}/words', 'format' = 'csv');
CREATE TABLE counts (word STRING, n BIGINT, PRIMARY KEY (word) NOT ENFORCED)
WITH ('connector' = 'delta', 'path' = '${OUT}/counts');
INSERT INTO counts SELECT word, COUNT(*) FROM words GROUP BY word;
SELECT word FROM words WHERE word <> 'a';
"""
BOUNDED_OUT = """\
=== 1. SELECT word FROM words WHERE word <> 'a'
word
b

=== table counts
word | n
a    | 2
b    | 1
"""
#: An early result every ten seconds of processing time, and the last one at the watermark.
ENDLESS = """\
CREATE TABLE orders (item STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json', 'source.monitor-interval' = '1 s');
SELECT item, COUNT(*) AS n, PANE_TIMING() AS timing
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY item, window_start, window_end
EMIT AFTER WATERMARK EARLY EVERY 10s;
SELECT item FROM orders;
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data" / "words").mkdir(parents=True)
    (tmp_path / "data" / "words" / "w.csv").write_text("a\nb\na\n")
    (tmp_path / "words.sql").write_text(BOUNDED)
    (tmp_path / "words.out").write_text(BOUNDED_OUT)
    (tmp_path / "definitions.sql").write_text("SELECT 1;\n")
    return tmp_path


def outcome(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["test", *arguments])


def order(item: str, time: str) -> dict[str, str]:
    return {"item": item, "ts": f"2024-01-01 {time}"}


def write_steps(folder: Path, *steps: dict[str, Any]) -> None:
    (folder / "early.sql").write_text(ENDLESS)
    (folder / "early.steps").write_text("\n".join(map(json.dumps, steps)))


def test_a_folder_stands_for_the_scripts_with_an_output(folder: Path) -> None:
    result = outcome(".")
    assert result.exit_code == 0, result.output
    first, last = result.stdout.splitlines()
    assert first.startswith("ok       words.sql (")
    assert last == "1 tests, all well"


def test_a_difference_is_shown_and_update_takes_it_over(folder: Path) -> None:
    (folder / "words.out").write_text(BOUNDED_OUT.replace("a    | 2", "a    | 3"))
    result = outcome("words.sql")
    assert result.exit_code == 1
    assert [line.strip() for line in result.stdout.splitlines() if "a    |" in line] == ["-a    | 3", "+a    | 2"]
    assert result.stdout.splitlines()[-1] == "1 tests, 1 failed"
    updated = outcome("words.sql", "--update")
    assert updated.exit_code == 0
    assert updated.stdout.startswith("updated ")
    assert (folder / "words.out").read_text() == BOUNDED_OUT


def test_a_script_without_an_output(folder: Path) -> None:
    (folder / "words.out").unlink()
    assert "TEST-003" in outcome(".").stderr
    assert "there is no words.out" in outcome("words.sql").stdout


def test_a_mistake_fails_its_test_and_no_other(folder: Path) -> None:
    (folder / "a.sql").write_text("SELEC 1;\n")
    (folder / "a.out").write_text("")
    result = outcome(".")
    assert result.exit_code == 1
    assert "a.sql:1:1: PARSE-002" in result.stdout
    assert "ok       words.sql" in result.stdout
    assert result.stdout.splitlines()[-1] == "2 tests, 1 failed"


def test_step_by_step_on_a_clock_of_its_own(folder: Path) -> None:
    write_steps(
        folder,
        {"clock": "2024-01-01 12:00:00", "orders": [order("pen", "00:00:05")]},
        {"clock": "2024-01-01 12:00:09"},
        {"clock": "2024-01-01 12:00:10"},
        {"orders": [order("pen", "00:00:30"), order("ink", "00:01:30")]},
    )
    assert outcome("early.sql", "--update").exit_code == 0
    every = (folder / "early.out").read_text().split("\n\n")
    sections, others = every[::2], every[1::2]
    assert [s.count("+I") for s in others] == [1, 0, 0, 2]
    rows = [[line.split(" | ") for line in section.strip().splitlines()[2:]] for section in sections]
    assert [s.partition(":")[0].strip() for s in sections] == [f"=== step {n}" for n in (1, 2, 3, 4)]
    assert [[[v.strip() for v in row] for row in step] for step in rows] == [
        [],
        [],
        [["+I", "pen", "1", "EARLY"]],
        [["+I", "pen", "2", "ON_TIME"]],
    ]
    assert outcome("early.sql").exit_code == 0


def test_an_endless_query_needs_steps(folder: Path) -> None:
    write_steps(folder)
    (folder / "early.steps").unlink()
    (folder / "data" / "orders").mkdir()
    result = outcome("early.sql")
    assert result.exit_code == 1
    assert "TEST-001: query `early.select` never ends" in result.stdout
    assert "early.steps" in result.stdout


@pytest.mark.parametrize("line", ["[]", "{", '{"clock": "noon"}', '{"orders": 1}', '{"clock": 12}'])
def test_a_line_that_is_no_step(line: str, folder: Path) -> None:
    write_steps(folder, {"clock": "2024-01-01 12:00:00"})
    with (folder / "early.steps").open("a") as file:
        file.write(f"\n{line}\n")
    result = outcome("early.sql")
    assert result.exit_code == 1
    assert "TEST-002: early.steps:2: this is no step" in result.stdout
