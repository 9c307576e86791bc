"""kill -9 of a process that copies a topic without Spark, at each step of a micro-batch: each record once."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from confluent_kafka import Producer

from tests.kafka_broker import committed_values, make_topic
from tests.markdown import ROOT

pytestmark = [pytest.mark.kafka, pytest.mark.slow]

_SCRIPT = """
CREATE TABLE IF NOT EXISTS src (v INT) WITH ('connector' = 'kafka', 'topic' = '{topic}-in',
  'properties.bootstrap.servers' = '{broker}', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset');
CREATE TABLE IF NOT EXISTS copy (v INT) WITH ('connector' = 'kafka', 'topic' = '{topic}-out',
  'properties.bootstrap.servers' = '{broker}', 'format' = 'json', 'sink.delivery-guarantee' = 'exactly-once');
SET 'pipeline.name' = 'copy';
INSERT INTO copy SELECT v FROM src;
"""
#: Works off what is there, and kills itself at the first step of a name.
_DRIVER = """
import os, signal, sys
import sqlext
from sqlext.connectors.kafka import transactions
from sqlext.jobs.local import running
catalog, script, step = sys.argv[1:]
running.at_step = transactions.at_step = lambda name: os.kill(os.getpid(), signal.SIGKILL) if name == step else None
query = sqlext.connect(catalog=catalog, settings={"sqlext.engine": "local"}).run(script)[-1].query
query.process_available()
query.stop()
"""
_STEPS = ("batch begun", "number", "committed", "batch written", "batch done")


def _send(broker: str, topic: str, values: range) -> None:
    producer = Producer({"bootstrap.servers": broker})
    for value in values:
        producer.produce(topic, f'{{"v":{value}}}')
    assert producer.flush(30) == 0


def _drive(folder: Path, script: str, step: str) -> int:
    command = [sys.executable, "-c", _DRIVER, str(folder / "catalog"), script, step]
    ended = subprocess.run(command, check=False, capture_output=True, timeout=120, cwd=ROOT)
    assert ended.returncode in {0, -signal.SIGKILL}, ended.stderr.decode()
    return ended.returncode


def test_killed_at_each_step(broker: str, tmp_path: Path) -> None:
    """Each driver goes on where the one before was killed, and is killed at the next step."""
    topic, sent = "local-killed", 0
    for part in ("in", "out"):
        make_topic(broker, f"{topic}-{part}", 2)
    script = _SCRIPT.format(topic=topic, broker=broker)
    for step in _STEPS:
        _send(broker, f"{topic}-in", range(sent, sent + 10))
        sent += 10
        assert _drive(tmp_path, script, step) == -signal.SIGKILL, step
        # The first batch is repeated until it is done; once it is in the topic, it stays there alone.
        found = committed_values(broker, f"{topic}-out")
        assert len(found) == (10 if step in {"committed", "batch written", "batch done"} else 0), step
    assert _drive(tmp_path, script, "") == 0
    found = committed_values(broker, f"{topic}-out")
    assert found == sorted(f'{{"v":{value}}}' for value in range(sent))
