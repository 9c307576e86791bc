"""Spark's real-time mode: rows go from topic to topic as they come, in a Spark of its own that has the connector."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer
from kafka_broker import fetch_spark_connector, make_topic

from sqlext.capabilities import REAL_TIME, has

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.slow,
    pytest.mark.skipif(not has(REAL_TIME), reason="this Spark has no real-time mode"),
]

_TABLES = """
CREATE TABLE src (k BIGINT, v INT) WITH ('connector' = 'kafka', 'topic' = '{topic}', 'format' = 'json',
  'properties.bootstrap.servers' = '{broker}', 'scan.startup.mode' = 'earliest-offset');
CREATE TABLE out (k BIGINT, v INT) WITH ('connector' = 'kafka', 'topic' = '{topic}-out', 'format' = 'json',
  'properties.bootstrap.servers' = '{broker}');
"""
_INSERT = "INSERT INTO out SELECT k, v * 2 FROM src WHERE v > 0;"
_REAL_TIME = "SET 'sqlext.trigger.real-time' = '5 s';"
#: Runs a script with so many cores until a line comes, or the query ends; says how it ended.
_DRIVER = """
import sys, threading, sqlext
from sqlext.spark.local import local_spark
folder, cores, jars, script = sys.argv[1:]
spark = local_spark(cores=int(cores), folder=f"{folder}/spark", settings={"spark.jars": jars})
query = sqlext.connect(spark, catalog=f"{folder}/catalog").run(script)[-1].query
print("runs", flush=True)
threading.Thread(target=lambda: sys.stdin.readline() and query.stop(), daemon=True).start()
try:
    query.await_termination()
    print("ended", query.progress["rows_out"])
except sqlext.SqlExtError as error:
    print("ended", error.code, error.message)
"""


class Driver:
    """A process that runs a script."""

    def __init__(self, folder: Path, script: str, cores: int = 3) -> None:
        jars = ",".join(map(str, fetch_spark_connector()))
        command = [sys.executable, "-c", _DRIVER, str(folder), str(cores), jars, script]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        assert next(line for line in self.process.stdout if line.startswith(("runs", "ended"))) == "runs\n"

    def ended(self) -> str:
        """Return how it ends by itself."""
        assert self.process.stdout is not None
        return next(line for line in self.process.stdout if line.startswith("ended"))

    def stop(self) -> str:
        """Ask it to end, and return how it did."""
        assert self.process.stdin is not None
        self.process.stdin.write("stop\n")
        self.process.stdin.flush()
        return self.ended()

    def kill(self) -> None:
        """End it amid its work."""
        self.process.kill()
        self.process.wait()


class Rows:
    """Sends rows into a topic, and takes what comes out of another."""

    def __init__(self, broker: str, topic: str, partitions: int) -> None:
        self.topic = make_topic(broker, topic, partitions)
        make_topic(broker, f"{topic}-out", 1)
        self._producer = Producer({"bootstrap.servers": broker, "linger.ms": "0"})
        settings = {"bootstrap.servers": broker, "group.id": topic, "auto.offset.reset": "earliest"}
        self._consumer = Consumer(settings)
        self._consumer.subscribe([f"{topic}-out"])
        self.found: set[int] = set()

    def send(self, keys: range, partitions: int = 1) -> None:
        """Send a row of each key."""
        for key in keys:
            self._producer.produce(self.topic, json.dumps({"k": key, "v": key % 2}), partition=key % partitions)
        self._producer.flush()

    def await_keys(self, wanted: set[int], patience: int = 60) -> set[int]:
        """Take what comes until some keys are there; ``patience``: seconds without a row."""
        while not wanted <= self.found and (message := self._consumer.poll(patience)) is not None:
            row = json.loads(message.value() or b"")
            assert row["v"] == 2
            self.found.add(row["k"])
        return self.found


def test_rows_go_through_and_none_is_lost_where_the_driver_dies(broker: str, tmp_path: Path) -> None:
    rows = Rows(broker, "real-time", 2)
    script = _TABLES.format(broker=broker, topic=rows.topic) + _REAL_TIME + _INSERT
    rows.send(range(10), 2)
    first = Driver(tmp_path, script)
    assert rows.await_keys({1, 3, 5, 7, 9}) == {1, 3, 5, 7, 9}
    rows.send(range(10, 20), 2)
    first.kill()
    rows.send(range(20, 30), 2)
    # Without the mode it goes on from the same place, and so back.
    second = Driver(tmp_path, script.replace(_REAL_TIME, ""))
    assert rows.await_keys(set(range(1, 30, 2))) == set(range(1, 30, 2))
    assert second.stop().startswith("ended")
    third = Driver(tmp_path, script)
    rows.send(range(30, 40), 2)
    assert rows.await_keys(set(range(1, 40, 2))) == set(range(1, 40, 2))
    assert third.stop().startswith("ended")


def test_more_partitions_than_cores(broker: str, tmp_path: Path) -> None:
    rows = Rows(broker, "real-time-narrow", 3)
    script = _TABLES.format(broker=broker, topic=rows.topic) + _REAL_TIME + _INSERT
    driver = Driver(tmp_path, script, cores=2)
    rows.send(range(10), 3)
    said = "ended RUN-097 real-time mode needs a core for each of 3 partitions, and Spark has 2\n"
    assert driver.ended() == said
