"""A real Kafka broker for tests: one KRaft node from Maven jars, fetched by the Ivy that pyspark brings along.

Needs Java, nothing else to be installed. The jars (43 MB) are fetched once, into ``~/.cache/sqlext``.
"""

from __future__ import annotations

import base64
import shutil
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.maven_jars import fetched, java
from tests.ports import await_port, free_port

VERSION = "4.1.0"

# Spark's connector and what it needs beyond Spark's own jars, one by one: some registries have no
# spark-token-provider newer than this one, whose classes the connector of 4.2.0 is content with.
_SPARK_CONNECTOR = (
    ("org.apache.spark", "spark-sql-kafka-0-10_2.13", "4.2.0"),
    ("org.apache.spark", "spark-token-provider-kafka-0-10_2.13", "4.1.0-preview1"),
    ("org.apache.kafka", "kafka-clients", "3.9.2"),
    ("org.apache.commons", "commons-pool2", "2.13.1"),
)
# The newest that every registry has; what it needs of Spark is the same in 4.2.0.
_SPARK_AVRO = (("org.apache.spark", "spark-avro_2.13", "4.1.1"),)

_START_SECONDS = 90
#: Messages that a producer holds at once.
_PRODUCED = 500_000


def fetch_broker() -> Path:
    """Return the folder of the broker's jars, fetched if need be."""
    return fetched(f"kafka-{VERSION}", (("org.apache.kafka", "kafka_2.13", VERSION),), transitive=True)


def fetch_spark_connector() -> list[Path]:
    """Return the jars that Spark needs to speak to a broker, fetched if need be."""
    name = f"spark-kafka-{_SPARK_CONNECTOR[0][2]}"
    return sorted(fetched(name, _SPARK_CONNECTOR, transitive=False).glob("*.jar"))


def fetch_spark_avro() -> list[Path]:
    """Return the jar that Spark needs to read and write Avro, fetched if need be."""
    return list(fetched(f"spark-avro-{_SPARK_AVRO[0][2]}", _SPARK_AVRO, transitive=False).glob("*.jar"))


@contextmanager
def kafka_broker(folder: Path, port: int | None = None) -> Iterator[str]:
    """Run a broker with its data in ``folder``; gives its address (``127.0.0.1:port``)."""
    jars = fetch_broker()
    broker, controller = port or free_port(), free_port()
    settings = folder / "server.properties"
    settings.write_text(_settings(folder / "data", broker, controller))
    classpath = ["-cp", f"{jars}/*", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
    # An id that begins with "-" would be taken for an option.
    cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=").replace("-", "A")
    formatting = [java(), *classpath, "kafka.tools.StorageTool", "format", "--standalone"]
    subprocess.run([*formatting, "-t", cluster, "-c", str(settings)], check=True, capture_output=True, timeout=60)
    with (folder / "broker.log").open("wb") as log:
        command = [java(), *classpath, "kafka.Kafka", str(settings)]
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
    try:
        await_port(process, broker, folder / "broker.log", _START_SECONDS)
        yield f"127.0.0.1:{broker}"
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()


def _settings(data: Path, broker: int, controller: int) -> str:
    return f"""process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{broker},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{broker},CONTROLLER://127.0.0.1:{controller}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs={data}
log.retention.ms=-1
num.partitions=1
auto.create.topics.enable=true
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
"""


def main() -> None:
    """Run a broker until Ctrl-C: ``python -m tests.kafka_broker FOLDER``; what it had before is removed."""
    folder = Path(sys.argv[1])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with kafka_broker(folder, port=9092) as address, suppress(KeyboardInterrupt):
        print(f"Kafka runs at {address}; Ctrl-C ends it", flush=True)
        signal.pause()


def make_topic(broker: str, name: str, partitions: int) -> str:
    """Make a topic; return its name."""
    from confluent_kafka.admin import AdminClient, NewTopic

    client = AdminClient({"bootstrap.servers": broker})
    (made,) = client.create_topics([NewTopic(name, partitions, 1)]).values()
    made.result()
    return name


def committed_values(broker: str, topic: str) -> list[str]:
    """Return the values that a reader of committed records sees, sorted."""
    from confluent_kafka import Consumer, TopicPartition

    settings = {"bootstrap.servers": broker, "group.id": "x", "isolation.level": "read_committed"}
    consumer = Consumer({**settings, "enable.partition.eof": "true"})
    found = []
    for partition in consumer.list_topics(topic).topics[topic].partitions:
        consumer.assign([TopicPartition(topic, partition, 0)])
        while (message := consumer.poll(30)) is not None and message.error() is None:
            found.append((message.value() or b"").decode())
    consumer.close()
    return sorted(found)


def send_lines(broker: str, topic: str, files: Sequence[Path]) -> None:
    """Send the lines of files, those of a file to a partition: first to the first."""
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": broker, "linger.ms": "50", "queue.buffering.max.messages": "1000000"})
    for partition, file in enumerate(files):
        with file.open("rb") as lines:
            for number, line in enumerate(lines):
                producer.produce(topic, line.rstrip(b"\n"), partition=partition)
                if number % _PRODUCED == _PRODUCED - 1:
                    producer.flush()
    producer.flush()


if __name__ == "__main__":
    main()
