"""Indexes of a real OpenSearch."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from connectors.tables import table
from opensearchpy import OpenSearch
from pyspark.sql import SparkSession

from sqlext.connectors.registry import connector_of
from sqlext.connectors.search.sink import BulkAction, SearchSink, Server
from sqlext.errors import SqlExtError
from sqlext.sinks.base import SinkContext
from sqlext.types import BIGINT, STRING, TIMESTAMP3, array, decimal
from sqlext_catalog.model import Table
from tests.workspace import EVENTS, Workspace

# The server is 60 MB of jars, and takes half a minute to start.
pytestmark = [pytest.mark.slow, pytest.mark.costly]


def documents(url: str, index: str) -> dict[str, Any]:
    """Return the documents of an index, by their ids."""
    client = OpenSearch([url])
    client.indices.refresh(index=index)
    return {hit["_id"]: hit["_source"] for hit in client.search(index=index, size=100)["hits"]["hits"]}


def sink(definition: Table, context: SinkContext) -> SearchSink:
    return SearchSink(connector_of(definition).write_spec(definition), context)


def test_documents_of_a_key(spark: SparkSession, opensearch: str) -> None:
    """A row replaces the one before, one that is gone deletes it; sent again they say the same."""
    columns = {
        "a": STRING,
        "b": BIGINT,
        "n": decimal(30, 2),
        "ts": TIMESTAMP3,
        "l": array(STRING),
    }
    options = {"connector": "opensearch", "hosts": opensearch, "index": "keyed"}
    definition = table(columns, options, primary_key=("a", "b"))
    found = sink(definition, SinkContext("q", "c", mode="upsert", keys=("a", "b"), exists="there"))
    found.open(spark)
    schema = "a STRING, b BIGINT, n DECIMAL(30, 2), ts TIMESTAMP_NTZ, l ARRAY<STRING>, there BOOLEAN"
    when = datetime(2024, 1, 1, 8, 0, 30)

    def rows(*given: tuple[object, ...]) -> Any:
        return spark.createDataFrame(list(given), schema)

    first = rows(("x", 1, Decimal("12345678901234567890.10"), when, ["p"], True), ("y", 2, None, None, None, True))
    found.write(first, 0)
    expected = {"a": "x", "b": 1, "ts": "2024-01-01 08:00:30", "l": ["p"]}
    written = documents(opensearch, "keyed")
    assert sorted(written) == ["x_1", "y_2"]
    assert {k: v for k, v in written["x_1"].items() if k != "n"} == expected
    assert written["y_2"] == {"a": "y", "b": 2, "n": None, "ts": None, "l": None}
    gone = ("y", 2, None, None, None, False), ("z", 3, None, None, None, False)
    second = rows(("x", 1, Decimal("1.50"), when, [], True), *gone)
    for number in (1, 1):
        found.write(second, number)
    assert documents(opensearch, "keyed") == {"x_1": {**expected, "n": 1.5, "l": []}}


def test_documents_without_key(spark: SparkSession, opensearch: str) -> None:
    options = {"connector": "elasticsearch-7", "hosts": f"{opensearch}/", "index": "log-{s}-{ts|yyyy.MM}"}
    found = sink(table({"s": STRING, "ts": TIMESTAMP3}, options), SinkContext("q", "c"))
    found.open(spark)
    found.write(spark.sql("SELECT 'a' AS s, TIMESTAMP_NTZ '2024-02-03 00:00:00' AS ts"), 0)
    assert list(documents(opensearch, "log-a-2024.02").values()) == [{"s": "a", "ts": "2024-02-03 00:00:00"}]


def test_groups_that_change_without_key(spark: SparkSession, opensearch: str, tmp_path: Path) -> None:
    """Each value of a group is a document, and what it was before stays, as in Flink."""
    work = Workspace(spark, tmp_path)
    work.put("a", "x,1", "y,5")
    work.put("b", "x,2")
    work.run(f"""
    CREATE TABLE t (k STRING, v INT) WITH (
      'connector' = 'filesystem', 'path' = '${{IN}}', 'format' = 'csv', 'maxFilesPerTrigger' = '1');
    CREATE TABLE native (k STRING, s INT) WITH (
      'connector' = 'opensearch', 'hosts' = '{opensearch}', 'index' = 'native');
    CREATE TABLE own (k STRING, s INT) WITH ('connector' = 'opensearch', 'hosts' = '{opensearch}', 'index' = 'own');
    INSERT INTO native SELECT k, SUM(v) FROM t GROUP BY k;
    INSERT INTO own SELECT k, SUM(v) FROM t GROUP BY k EMIT EVERY ROW RETRACTING;
    """)
    for index in ("native", "own"):
        found = sorted((d["k"], d["s"]) for d in documents(opensearch, index).values())
        assert found == [("x", 1), ("x", 3), ("y", 5)]


def test_refusals_of_a_server(opensearch: str, tmp_path: Path) -> None:
    def server(**more: str) -> Server:
        return Server((("hosts", opensearch), ("index", "odd"), *more.items()))

    wrong: list[BulkAction] = [
        BulkAction({"index": {"_index": "odd"}}, text, text) for text in ('{"v": 1}', '{"v": {"w": 1}}')
    ]
    with pytest.raises(SqlExtError, match=r"RUN-076.*it refuses document .*mapper_parsing_exception"):
        server().send(wrong)
    assert server(**{"failure-handler": "ignore"}).send(wrong).taken == 1
    found = server().send(wrong, tells=True)
    assert (found.taken, [row.text for row in found.refused]) == (1, [wrong[1].text])
    assert "mapper_parsing_exception" in found.refused[0].reason
    with pytest.raises(SqlExtError, match="RUN-076"):
        Server((("hosts", "http://127.0.0.1:1"), ("index", "odd"))).check()


def test_documents_that_a_server_refuses_are_dead_letters(workspace: Workspace, opensearch: str) -> None:
    """A field whose type is settled by documents that were there; the others of the batch are sent."""
    client = OpenSearch([opensearch])
    client.indices.create(index="typed", body={"mappings": {"properties": {"v": {"type": "byte"}}}})
    script = f"""
    CREATE TABLE letters (cause STRING, code STRING, operator STRING, reason STRING, text STRING)
    WITH ('connector' = 'delta', 'path' = '${{OUT}}/letters');
    SET 'sqlext.dead-letters.table' = 'letters';
    CREATE TABLE typed (k STRING, v INT) WITH ('connector' = 'opensearch', 'hosts' = '{opensearch}', 'index' = 'typed');
    INSERT INTO typed SELECT k, v FROM events;
    """
    workspace.put("0", "a,1,1", "b,1000,2", "c,3,3", "d,-500,4")
    query = workspace.run(EVENTS, script)[-1].query
    assert sorted(row["k"] for row in documents(opensearch, "typed").values()) == ["a", "c"]
    found = workspace.delta("letters")
    assert [(*row[:3], row[4]) for row in found] == [
        ("sink", "RUN-076", "Sink", '{"k":"b","v":1000}'),
        ("sink", "RUN-076", "Sink", '{"k":"d","v":-500}'),
    ]
    assert all("mapper_parsing_exception" in row[3] for row in found)
    assert query.progress["dead_letters"] == 2
