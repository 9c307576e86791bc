"""A crash between any two steps of a batch into Kafka, another driver, and a killed one: no row twice, none missing."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import pytest

from sqlext.connectors.kafka import transactions
from sqlext.connectors.kafka.transactions import Committed, Transactions
from sqlext.errors import SqlExtError
from tests.faults.kafka_batches import arrow
from tests.kafka_broker import committed_values, make_topic
from tests.markdown import ROOT
from tests.workspace import EVENTS, Workspace

pytestmark = pytest.mark.kafka

BATCHES = (("a", "b"), ("b", "c"))


class CrashError(BaseException):
    """The worker is gone."""


def test_a_crash_at_each_step(broker: str, monkeypatch: pytest.MonkeyPatch) -> None:
    left = [0]

    def at_step(name: str) -> None:
        left[0] -= 1
        if left[0] == 0:
            raise CrashError(name)

    monkeypatch.setattr(transactions, "at_step", at_step)
    steps, crashed = 0, True
    while crashed:  # with a step more each time, until none crashes
        steps, crashed = steps + 1, False
        topic = make_topic(broker, f"commit-{steps}", 2)
        writing = Transactions((("bootstrap.servers", broker),), topic, topic)
        left[0] = steps
        for number, values in enumerate(BATCHES):
            try:
                writing.write(0, 1, arrow(values), number)
            except CrashError:
                crashed = True
                writing.write(0, 1, arrow(values), number)
        assert committed_values(broker, topic) == sorted(v for values in BATCHES for v in values)
        left[0] = 0
        assert writing.write(0, 1, arrow(BATCHES[1]), 1) == 0
    assert steps > 10


def test_killed_at_each_step(broker: str) -> None:
    """Real processes, and real kills: nobody ends a transaction, and nobody says goodbye to the broker."""
    names: list[str] = []
    while True:  # with a step more each time, until none is killed
        topic = make_topic(broker, f"killed-{len(names)}", 2)
        command = [sys.executable, "-m", "tests.faults.kafka_batches", broker, topic, json.dumps(BATCHES)]
        step = str(len(names) + 1)
        first = subprocess.run([*command, step], capture_output=True, text=True, timeout=120, check=False, cwd=ROOT)
        assert first.returncode in {0, -signal.SIGKILL}, first.stderr
        if first.returncode == 0:
            break
        names.append(first.stdout.strip())
        subprocess.run([*command, "0"], check=True, timeout=120, cwd=ROOT)
        assert committed_values(broker, topic) == sorted(v for values in BATCHES for v in values), names
    steps = ["begun", "sending", *["batch"] * 2, "records", "number", "committed"]
    assert names == steps * len(BATCHES)


def test_as_many_writers_finish_a_batch_as_began_it(broker: str) -> None:
    topic = make_topic(broker, "writers", 1)
    writing = Transactions((("bootstrap.servers", broker),), topic, "q")
    assert (writing.committed(0), writing.writers(0, 2)) == (Committed(), 2)
    writing.write(1, 2, arrow(("b",)), 0)
    # The other one of the two never came: a start that wants three finds two.
    writing.write(0, 2, arrow(("a",)), 0)
    assert (writing.committed(1), writing.writers(0, 3), writing.writers(1, 3)) == (Committed(0, 2), 2, 3)
    assert committed_values(broker, topic) == ["a", "b"]


def test_more_writers_began_it_than_any_batch_before(broker: str) -> None:
    """The last of four alone has committed: with two, its records would come to others, and a second time."""
    topic = make_topic(broker, "more", 1)
    writing = Transactions((("bootstrap.servers", broker),), topic, "more")
    for writer in range(2):
        writing.write(writer, 2, arrow(("a",)), 0)
    writing.write(3, 4, arrow(("b",)), 1)
    assert writing.writers(1, 2) == 4
    assert (writing.writers(2, 2), writing.writers(0, 1)) == (2, 2)


@pytest.mark.parametrize("step", ["begun", "sending", "batch", "records", "number", "committed"])
def test_a_driver_that_was_thought_dead_is_fenced(broker: str, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    """Another driver writes the batch while the first one stands at a step: the topic has one of the two batches."""
    topic = make_topic(broker, f"fenced-{step}", 1)
    old, new = (Transactions((("bootstrap.servers", broker),), topic, f"q-{step}") for _ in "on")
    written: list[int] = []

    def at_step(name: str) -> None:
        if name == step:
            monkeypatch.setattr(transactions, "at_step", lambda _: None)
            written.append(new.write(0, 1, arrow(("new",)), 0))

    monkeypatch.setattr(transactions, "at_step", at_step)
    if step in {"begun", "committed"}:  # it finds the batch there, or its own one was
        written.append(old.write(0, 1, arrow(("old",)), 0))
        assert sorted(written) == [0, 1]
    else:
        with pytest.raises(SqlExtError, match=f"does not take records for topic `{topic}`") as raised:
            old.write(0, 1, arrow(("old",)), 0)
        assert raised.value.code == "RUN-077"
    assert committed_values(broker, topic) == ["old" if step == "committed" else "new"]
    assert old.write(0, 1, arrow(("old",)), 0) == 0
    assert new.write(0, 1, arrow(("new",)), 1) == 1
    assert committed_values(broker, topic) == ["new", "old" if step == "committed" else "new"]


def test_a_record_that_the_broker_refuses(broker: str) -> None:
    topic = make_topic(broker, "refused", 1)
    writing = Transactions((("bootstrap.servers", broker), ("message.max.bytes", "1000")), topic, "q")
    with pytest.raises(SqlExtError, match=r"RUN-077.*too large"):
        writing.write(0, 1, arrow(("a", "b" * 2000)), 0)
    assert committed_values(broker, topic) == []
    assert writing.committed(0) == Committed()


def test_no_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transactions, "_ANSWER", 1.0)
    writing = Transactions((("bootstrap.servers", "127.0.0.1:1"),), "t", "q")
    with pytest.raises(SqlExtError, match=r"RUN-060.*127\.0\.0\.1:1 does not answer"):
        writing.committed(0)


@pytest.mark.slow
@pytest.mark.parametrize("writers", [2])
def test_a_killed_driver(workspace: Workspace, broker: str, writers: int) -> None:
    """The topic has a batch of which Spark does not know."""
    topic = make_topic(broker, "killed", 2)
    script = (
        EVENTS.replace("'format'", "'maxFilesPerTrigger' = '1', 'format'")
        + f"CREATE TABLE t (k STRING, n BIGINT) WITH ('connector' = 'kafka', 'topic' = '{topic}', 'format' = 'json',"
        + f" 'properties.bootstrap.servers' = '{broker}', 'sink.delivery-guarantee' = 'exactly-once',"
        + f" 'sink.transactional-id-prefix' = 'tests', 'sink.parallelism' = '{writers}');\n"
        + "INSERT INTO t SELECT k, v FROM events;\n"
    )
    for number in range(3):
        workspace.put(str(number), f"a,{number},1", f"b,{number},2")
    workspace.killed(script, "after-commit:2")
    assert len(committed_values(broker, topic)) == 4
    workspace.run(script.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS"))
    assert committed_values(broker, topic) == sorted(f'{{"k":"{k}","n":{n}}}' for n in range(3) for k in "ab")
