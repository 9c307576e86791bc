"""Where the rows of a job come from: a folder of files, a Delta table, a topic of Kafka."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.kills.rows import Row

_FIRST_FILE = 1_700_000_000
_ROWS = "k STRING, id INT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND"


class Input:
    """Where rows come from."""

    #: CREATE TABLE, the jars that Spark needs for it, and the engine.
    table = ""
    jars = ""
    engine = "spark"

    def put(self, rows: Sequence[Row]) -> None:
        """Let rows come."""
        raise NotImplementedError

    def disturb(self, chance: random.Random) -> None:
        """Change what was there, so that its rows stay the same."""


@dataclass
class Files(Input):
    """A folder of json files."""

    folder: Path
    reader: str
    engine: str = "spark"
    _count: int = 0

    def __post_init__(self) -> None:
        self.table = (
            f"SET 'sqlext.source' = '{self.reader}';\nCREATE TABLE IF NOT EXISTS events ({_ROWS})\n"
            f"WITH ('connector' = 'filesystem', 'path' = '{self.folder}', 'format' = 'json');"
        )
        self.folder.mkdir()

    def put(self, rows: Sequence[Row]) -> None:
        """Write a file, in place in one step."""
        new = self.folder.with_name("new.json")
        new.write_text("".join(f"{json.dumps(row.record)}\n" for row in rows))
        self._count += 1
        os.utime(new, (_FIRST_FILE + 60 * self._count,) * 2)
        new.replace(self.folder / f"{self._count:04}.json")

    def disturb(self, chance: random.Random) -> None:
        """Write a file once more with the same rows, a second later: it is another file to the system."""
        number = chance.randint(1, self._count)
        file, new = self.folder / f"{number:04}.json", self.folder.with_name("same.json")
        new.write_bytes(file.read_bytes())
        # Its place among the others stays: files are read in the order of their times.
        os.utime(new, (_FIRST_FILE + 60 * number + 1,) * 2)
        new.replace(file)


@dataclass
class Delta(Input):
    """A Delta table."""

    folder: Path

    def __post_init__(self) -> None:
        self.table = (
            f"CREATE TABLE IF NOT EXISTS events ({_ROWS})\nWITH ('connector' = 'delta', 'path' = '{self.folder}');"
        )

    def put(self, rows: Sequence[Row]) -> None:
        """Commit rows."""
        import pyarrow as pa
        from deltalake import write_deltalake

        types = pa.schema([("k", pa.string()), ("id", pa.int32()), ("v", pa.int32()), ("ts", pa.timestamp("us"))])
        found = pa.Table.from_pylist([{**row.record, "ts": row.time} for row in rows], schema=types)
        write_deltalake(str(self.folder), found, mode="append")


class Kafka(Input):
    """A topic of two partitions; one key is in one of them."""

    def __init__(self, broker: str, name: str) -> None:
        from tests.kafka_broker import fetch_spark_connector, make_topic

        self._broker = broker
        self._topic = make_topic(broker, name, 1)
        self.jars = ",".join(map(str, fetch_spark_connector()))
        self.table = (
            f"CREATE TABLE IF NOT EXISTS events ({_ROWS})\nWITH ('connector' = 'kafka', 'topic' = '{self._topic}', "
            f"'properties.bootstrap.servers' = '{broker}', 'format' = 'json', "
            "'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset');"
        )

    def put(self, rows: Sequence[Row]) -> None:
        """Send rows."""
        from confluent_kafka import Producer

        producer = Producer({"bootstrap.servers": self._broker})
        for row in rows:
            producer.produce(self._topic, json.dumps(row.record))
        assert producer.flush(30) == 0
