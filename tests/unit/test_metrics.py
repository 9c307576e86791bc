"""Prometheus metrics, read back by Prometheus's own parser from a real server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families

import sqlext
from sqlext import SqlExtError
from sqlext.jobs.progress import Progress
from sqlext.jobs.query import Query
from sqlext.metrics import Metrics, MetricsServer, serve
from sqlext.watermarks.inputs import END_OF_TIME, Input
from sqlext.watermarks.keeper import Seen, TimeKeeper
from sqlext.watermarks.report import TimeReport


class Kept(Query):
    """A query that runs nowhere: its rows were written, its keeper was told what is known of its inputs."""

    def __init__(self, report: TimeReport) -> None:
        counted = Progress()
        super().__init__("q", {"q": counted}, streaming=True, bounded=False)
        counted.wrote(7)
        self.report = report

    def time_report(self, name: str) -> TimeReport:
        return self.report


@pytest.fixture
def query() -> Query:
    keeper = TimeKeeper([Input("a", delay=10_000), Input("b", idle=60_000), Input("c", bounded=True)], 0)
    keeper.saw("a", [Seen(100_000, 3, "0"), Seen(90_000, 2, "1")], 70_000)
    keeper.saw("b", [Seen(20_000, 1)], 0)
    keeper.ended("c")
    keeper.decide(70_000)
    return Kept(TimeReport.of(keeper))


@pytest.fixture
def server(query: Query, tmp_path: Path) -> Iterator[MetricsServer]:
    session = sqlext.connect(catalog=tmp_path)
    session._queries.append(query)
    with serve(session, 0) as server:
        yield server


def samples(server: MetricsServer) -> dict[str, dict[tuple[str, ...], float]]:
    """Return name -> labels, without the query's -> value."""
    with urlopen(f"http://127.0.0.1:{server.port}/metrics") as answer:
        families = list(text_string_to_metric_families(answer.read().decode()))
    found: dict[str, dict[tuple[str, ...], float]] = {}
    for sample in (s for family in families for s in family.samples):
        labels = tuple(v for k, v in sample.labels.items() if k != "query")
        found.setdefault(sample.name, {})[labels] = sample.value
    return found


def test_what_is_served(server: MetricsServer) -> None:
    found = samples(server)
    assert found["sqlext_query_rows_written_total"] == {(): 7}
    assert found["sqlext_query_batch_duration_seconds_count"] == {(): 0}
    assert found["sqlext_query_state_rows"] == found["sqlext_query_state_bytes"] == {(): 0}
    assert found["sqlext_input_rows_total"] == {("a", "0"): 3, ("a", "1"): 2, ("b", ""): 1, ("c", ""): 0}
    assert found["sqlext_input_event_timestamp_seconds"] == {("a", "0"): 100, ("a", "1"): 90, ("b", ""): 20}
    assert found["sqlext_input_watermark_timestamp_seconds"] == {("a", "0"): 80, ("a", "1"): 80, ("b", ""): 80}
    assert {of for of, value in found["sqlext_input_idle"].items() if value} == {("b", "")}
    assert {of for of, value in found["sqlext_input_holds_back"].items() if value} == {("a", "1")}
    assert set(found["sqlext_input_held"].values()) == {0}


def test_how_far_behind_the_clock(query: Query) -> None:
    families = {m.name: m for m in Metrics(lambda: [query], clock=lambda: 200.0).collect()}
    lags = {s.labels["input"]: s.value for s in families["sqlext_input_watermark_lag_seconds"].samples}
    assert lags == {"a": 120, "b": 120}
    assert query.progress["inputs"][-1]["watermark"] == END_OF_TIME


def test_who_has_ended_is_told_of_no_more(server: MetricsServer, query: Query) -> None:
    query.release()
    assert "sqlext_query_rows_written_total" not in samples(server)


def test_a_port_that_is_taken(server: MetricsServer, tmp_path: Path) -> None:
    session = sqlext.connect(catalog=tmp_path)
    for port in (server.port, 70_000):
        with pytest.raises(SqlExtError) as caught:
            serve(session, port)
        assert caught.value.code == "ENV-012"
