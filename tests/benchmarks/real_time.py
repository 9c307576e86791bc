"""From a topic to a topic: how long a row is on its way in micro-batches, and in Spark's real-time mode.

python -m tests.benchmarks.real_time [--rate 1000] [--seconds 60]

A row carries when it was sent; who takes it from the other topic knows then how long it took. The first half of the
time warms up and does not count. Prints the median and the 99th percentile in ms for each mode, in one JVM.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from confluent_kafka import Consumer, Producer
from pyspark.sql import SparkSession

import sqlext
from sqlext.spark.local import local_spark
from tests.kafka_broker import fetch_spark_connector, kafka_broker, make_topic

_PARTITIONS = 2
_SCRIPT = """
CREATE TABLE src (sent BIGINT, v INT) WITH ('connector' = 'kafka', 'topic' = '{mode}',
  'properties.bootstrap.servers' = '{broker}', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset');
CREATE TABLE answer (sent BIGINT, v INT) WITH ('connector' = 'kafka', 'topic' = '{mode}-out',
  'properties.bootstrap.servers' = '{broker}', 'format' = 'json');
{setting}
INSERT INTO answer SELECT sent, v + 1 FROM src WHERE v >= 0;
"""
_MODES = {
    "micro-batch": "SET 'sqlext.source' = 'spark';",
    "real-time": "SET 'sqlext.trigger.real-time' = '5 s';",
}


def send(broker: str, topic: str, rate: int, stopped: threading.Event) -> None:
    """Send rows at a steady rate until it is time to stop."""
    producer, began, sent = Producer({"bootstrap.servers": broker, "linger.ms": "1"}), time.time(), 0
    while not stopped.wait(0.005):
        for number in range(sent, int((time.time() - began) * rate)):
            row = {"sent": time.time_ns() // 1000, "v": number % 97}
            producer.produce(topic, json.dumps(row), partition=number % _PARTITIONS)
            sent += 1
        producer.poll(0)
    producer.flush()


def taken(broker: str, topic: str, seconds: int) -> list[float]:
    """Return how many ms each row of the second half of the time was on its way."""
    consumer = Consumer({"bootstrap.servers": broker, "group.id": topic, "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    until, found = time.time() + seconds, []
    while time.time() < until:
        for message in consumer.consume(1000, 0.01):
            now, sent = time.time_ns() // 1000, json.loads(message.value() or b"")["sent"]
            if time.time() > until - seconds / 2:
                found.append((now - sent) / 1000)
    consumer.close()
    return found


def measured(spark: SparkSession, root: Path, broker: str, mode: str, given: argparse.Namespace) -> None:
    """Run one mode and print."""
    make_topic(broker, mode, _PARTITIONS)
    make_topic(broker, f"{mode}-out", 1)
    session = sqlext.connect(spark.newSession(), catalog=str(root / mode))
    query = session.run(_SCRIPT.format(mode=mode, broker=broker, setting=_MODES[mode]))[-1].query
    assert query is not None
    stopped = threading.Event()
    sender = threading.Thread(target=send, args=(broker, mode, given.rate, stopped))
    sender.start()
    found = taken(broker, f"{mode}-out", given.seconds)
    stopped.set()
    sender.join()
    query.stop()
    p50, p99 = np.percentile(found, [50, 99])
    print(f"{mode:12} p50 {p50:5.0f} ms, p99 {p99:5.0f} ms; {len(found)} rows", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=int, default=1_000)
    parser.add_argument("--seconds", type=int, default=60)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "broker").mkdir()
        # Spark reads what its tasks say of topics by classes that must be there from the start.
        jars = {"spark.jars": ",".join(map(str, fetch_spark_connector()))}
        spark = local_spark(cores=_PARTITIONS, folder=root / "spark", settings=jars)
        with kafka_broker(root / "broker") as broker:
            for mode in _MODES:
                measured(spark, root, broker, mode, given)
        spark.stop()


if __name__ == "__main__":
    main()
