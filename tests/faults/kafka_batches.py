"""Write batches into a topic by transactions, and be killed at a step of one; run by test_kafka_commit.

usage: kafka_batches.py BROKER TOPIC BATCHES STEP, where BATCHES is a JSON of lists of values and STEP a number; 0: none
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Sequence

import pyarrow as pa

from sqlext.connectors.kafka import transactions
from sqlext.connectors.kafka.transactions import Transactions


def arrow(values: Sequence[str]) -> list[pa.RecordBatch]:
    """Return the records of a batch, each in a batch of Arrow's own."""
    names = ["value", "key", "headers"]
    headers = pa.list_(pa.struct({"key": pa.string(), "value": pa.binary()}))
    return [
        pa.record_batch([pa.array([v]), pa.array([v]), pa.array([[{"key": "h", "value": b"1"}]], headers)], names)
        for v in values
    ]


def main(broker: str, topic: str, batches: Sequence[Sequence[str]], step: int) -> None:
    """Write all batches."""
    steps = [0]

    def at_step(name: str) -> None:
        steps[0] += 1
        if steps[0] == step:
            print(name, flush=True)
            os.kill(os.getpid(), signal.SIGKILL)

    transactions.at_step = at_step
    writing = Transactions((("bootstrap.servers", broker),), topic, topic)
    for number, values in enumerate(batches):
        assert writing.writers(number, 1) == 1
        writing.write(0, 1, arrow(values), number)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], json.loads(sys.argv[3]), int(sys.argv[4]))
