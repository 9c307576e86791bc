"""Records that are no rows, by a real broker: kept with topic, partition and offset."""

from __future__ import annotations

import pytest
from confluent_kafka import Producer
from kafka_broker import fetch_spark_connector, make_topic

from sqlext import SqlExtError
from tests.workspace import Workspace

pytestmark = [pytest.mark.kafka, pytest.mark.slow]

TABLE = """
CREATE TABLE events (id INT, v INT) WITH (
  'connector' = 'kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '{broker}',
  'scan.bounded.mode' = 'latest-offset', 'key.format' = 'json', 'key.fields' = 'id', 'value.format' = 'json',
  'value.fields-include' = 'EXCEPT_KEY', 'value.json.fail-on-missing-field' = 'true', 'sqlext.bad-rows' = 'broken');
CREATE TABLE broken (text STRING, place STRING, reason STRING)
WITH ('connector' = 'delta', 'path' = '${{OUT}}/broken');
SELECT id, v FROM events;
"""
RECORDS = [
    ('{"id": 1}', '{"v": 1}'),
    ('{"id": 2}', '{"v": "x"}'),
    ("{oops", '{"v": 3}'),
    ('{"id": 4}', ""),
    ('{"id": 5}', "{}"),
    (None, '{"v": 6}'),
    ('{"id": 7}', None),
]


def test_records_are_kept_with_their_offsets(workspace: Workspace, broker: str) -> None:
    topic = make_topic(broker, "bad-rows", 1)
    producer = Producer({"bootstrap.servers": broker})
    for key, value in RECORDS:
        producer.produce(topic, value, key=key, partition=0)
    assert producer.flush(30) == 0
    result = workspace.run(TABLE.format(topic=topic, broker=broker))[-1]
    assert sorted(result.rows, key=repr) == [(1, 1), (None, 6)]
    at = f"topic {topic}, partition 0, offset "
    assert sorted(workspace.delta("broken"), key=lambda row: row[1]) == [
        ('{"v": "x"}', f"{at}1", "a value does not fit its column: v"),
        ('{"v": 3}', f"{at}2", "key: it is no JSON object"),
        ("", f"{at}3", "it is no JSON object"),
        ("{}", f"{at}4", "it has no field v"),
    ]
    assert (result.query.progress["rows_in"], result.query.progress["rows_bad"]) == (len(RECORDS), 4)


@pytest.mark.parametrize("source", ["arrow", "spark"])
def test_by_default_a_record_fails_the_query_with_its_place(workspace: Workspace, broker: str, source: str) -> None:
    topic = make_topic(broker, f"bad-{source}", 1)
    producer = Producer({"bootstrap.servers": broker})
    for value in ('{"v": 1}', '{"v": "x"}'):
        producer.produce(topic, value, partition=0)
    assert producer.flush(30) == 0
    jars = "".join(f"ADD JAR '{jar}'; " for jar in fetch_spark_connector()) if source == "spark" else ""
    script = f"""{jars}SET 'sqlext.source' = '{source}';
    CREATE TABLE events (v INT) WITH (
      'connector' = 'kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '{broker}',
      'scan.bounded.mode' = 'latest-offset', 'format' = 'json');
    SELECT v FROM events;"""
    with pytest.raises(SqlExtError) as failed:
        workspace.run(script)
    assert (failed.value.code, failed.value.line) == ("RUN-066", 5)
    assert topic in failed.value.message
    assert "offset 1" in failed.value.message
    assert '{"v": "x"}' in failed.value.message
    assert "partition 0" in failed.value.message
    assert failed.value.hint is not None
