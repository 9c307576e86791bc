"""Topics of current rows as relations: what stands above them, how their state ends, what they cannot do."""

from __future__ import annotations

import pytest

from sqlext.plan.base import walk
from sqlext.plan.current_rows import CurrentRows
from sqlext.plan.nodes import KIND, POSITION, Scan
from sqlext.plan.stateful import unbounded_states
from sqlext.rewrite.script.model import OperatorView

from .conftest import Analysis

PRICES = """
CREATE TABLE prices (
  item STRING, price INT, changed TIMESTAMP(3) METADATA FROM 'timestamp' VIRTUAL, pt AS PROCTIME(),
  PRIMARY KEY (item) NOT ENFORCED, WATERMARK FOR changed AS changed
) WITH ('connector' = 'upsert-kafka', 'topic' = 'p', 'properties.bootstrap.servers' = 'b:9092', 'key.format' = 'json',
  'value.format' = 'json');
CREATE TABLE appended (item STRING) WITH ('connector' = 'filesystem', 'path' = '/out', 'format' = 'json');
CREATE TABLE keyed (item STRING, price INT, PRIMARY KEY (item) NOT ENFORCED)
WITH ('connector' = 'delta', 'path' = '/out/keyed');
"""
WINDOWED = """
SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE prices, DESCRIPTOR(changed), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end
"""


@pytest.fixture
def prices(flink: Analysis) -> Analysis:
    flink.run(PRICES)
    return flink


def test_the_scan_upserts_and_the_operator_makes_changes(prices: Analysis) -> None:
    (node,) = (n for n in walk(prices.plan("SELECT * FROM prices")) if isinstance(n, CurrentRows))
    (scan,) = node.sources
    assert isinstance(scan, Scan)
    assert (scan.hidden, node.hidden) == ((KIND, POSITION), (KIND,))
    assert node.columns == scan.columns
    assert not list(unbounded_states(node))
    assert (node.what, node.bound) == ("current rows by item", "the row of each key")


def test_a_time_to_live(prices: Analysis) -> None:
    prices.run("SET 'table.exec.state.ttl' = '1 min'")
    compiled = prices.run("SELECT item FROM prices")
    assert compiled is not None
    (step,) = (s for s in compiled.script.steps if isinstance(s, OperatorView))
    assert (step.function, step.ticks, dict(dict(step.arguments)["specification"])["ttl"]) == (
        "current",
        "clock",
        60000,
    )


def test_a_versioned_table_is_its_records(prices: Analysis) -> None:
    query = "SELECT price FROM visits LEFT JOIN prices FOR SYSTEM_TIME AS OF visits.vt ON user_name = item"
    assert not [n for n in walk(prices.plan(query)) if isinstance(n, CurrentRows)]
    regular = prices.plan("SELECT price FROM visits JOIN prices ON user_name = item")
    assert len([n for n in walk(regular) if isinstance(n, CurrentRows)]) == 1


def test_windows_take_the_changes_and_are_final(prices: Analysis) -> None:
    plan = prices.plan(WINDOWED)
    assert not plan.changelog
    assert not plan.updating
    assert plan.inputs[0].changelog


def test_sinks_by_key_take_the_changes(prices: Analysis) -> None:
    assert prices.plan("INSERT INTO keyed SELECT item, price FROM prices").changelog


@pytest.mark.parametrize(
    ("query", "code", "at"),
    [
        ("INSERT INTO appended SELECT item FROM prices", "SINK-004", "SELECT item"),
        ("SELECT item FROM prices /*+ OPTIONS('scan.mode' = 'snapshot') */", "OPT-015", "prices"),
        (
            "SELECT item FROM prices /*+ OPTIONS('scan.startup.mode' = 'latest-offset') */",
            "OPT-003",
            "'scan.startup.mode'",
        ),
    ],
)
def test_refusals(prices: Analysis, query: str, code: str, at: str | None) -> None:
    prices.refuse(query, code, at=at)
