"""Write a batch into a topic by transactions of Kafka, which also commit its number: written again, it is left out.

A batch has one or more writers, each a task with a transactional producer. A writer commits the number of its batch as
the offset of a consumer group of its own (``send_offsets_to_transaction``), so it stands there with the records or not
at all. A row goes to the same writer each time, and a batch that some writers have committed is finished by as many
writers as began it. A producer that begins ends what another one of the same id has left open, and shuts it out
(KIP-98): that fences a driver that was thought dead.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from sqlext.errors import SqlExtError

if TYPE_CHECKING:
    import pyarrow as pa
    from confluent_kafka import Consumer, Producer, TopicPartition

_T = TypeVar("_T")

#: Seconds that the broker has to answer, and between two questions where it says that it may be asked again.
_ANSWER = 60.0
_PAUSE = 0.1
#: Seconds after which a writer that was not used is opened anew.
_FRESH = 3600.0
#: Milliseconds that a transaction may take; brokers allow 900,000 unless told otherwise.
_TRANSACTION_MS = "600000"
#: As Java's producer chooses partitions: a key goes where it goes with 'at-least-once'.
PARTITIONER = "murmur2_random"


def at_step(name: str) -> None:
    """Mark a place where a crash may come; tests replace it."""


@dataclass(frozen=True, slots=True)
class Committed:
    """What a writer has committed last.

    Attributes:
        batch: the number of the batch, -1 if there is none.
        writers: how many writers that batch had.
    """

    batch: int = -1
    writers: int = 0


@dataclass(frozen=True)
class Transactions:
    """The transactions of a query into a topic; it can be pickled, with the login in it.

    Attributes:
        settings: of the client, secrets resolved.
        topic: takes the records.
        name: of the query; transactional ids and groups are named after it.
    """

    settings: tuple[tuple[str, str], ...] = field(repr=False)
    topic: str
    name: str

    def writers(self, batch_id: int, wanted: int) -> int:
        """Return how many writers a batch that may come again has: as many as began it, else as many as wanted.

        What a killed driver has left open is ended first: until then Kafka does not say what was committed.

        Raises:
            SqlExtError: RUN-060 if Kafka does not answer.
        """
        for writer in sorted({0, *self._writers()}):
            self._begin(writer)
            found = self.committed(writer)
            if found.batch == batch_id:
                return found.writers
        return wanted

    def committed(self, writer: int) -> Committed:
        """Return what a writer has committed last.

        Raises:
            SqlExtError: RUN-060 if Kafka does not answer.
        """
        with self._consumer(writer) as consumer:
            return self._committed(consumer)

    def write(self, writer: int, writers: int, records: Iterable[pa.RecordBatch], batch_id: int) -> int:
        """Write the records of one of the writers, as ``OpenWriter.write`` of a new one."""
        return self.opened(writer).write(writers, records, batch_id)

    def opened(self, writer: int) -> OpenWriter:
        """Return one of the writers, which may write several batches; one that was opened before is shut out.

        Raises:
            SqlExtError: RUN-060 if Kafka does not answer.
        """
        producer = self._begin(writer)
        at_step("begun")
        with self._consumer(writer) as consumer:
            group, last = consumer.consumer_group_metadata(), self._committed(consumer).batch
        return OpenWriter(self, producer, group, last)

    def _begin(self, writer: int) -> Producer:
        """Return a producer; an open transaction of its id has ended, so what was committed is known for certain."""
        producer = self._producer(writer)
        with self.failures("RUN-060"):
            _again(lambda: producer.init_transactions(_ANSWER))
        return producer

    def _writers(self) -> Iterator[int]:
        """Yield the writers that have ever sent a number, by their groups: a batch may have had more than the last."""
        from confluent_kafka.admin import AdminClient

        with self.failures("RUN-060"):
            client = AdminClient({**_of_consumers(self.settings), "log_level": "0"})
            groups = client.list_consumer_groups(request_timeout=_ANSWER).result().valid
        for group in groups:
            name, _, number = group.group_id.rpartition("-")
            if name == self.name and number.isdecimal():
                yield int(number)

    def _committed(self, consumer: Consumer) -> Committed:
        with self.failures("RUN-060"):
            (found,) = _again(lambda: consumer.committed([self.number()], _ANSWER))
        return Committed(found.offset - 1, int(found.metadata or 0)) if found.offset > 0 else Committed()

    def _id(self, writer: int) -> str:
        return f"{self.name}-{writer}"

    def number(self, batch_id: int = -1, writers: int = 0) -> TopicPartition:
        """Return a batch and its writers as a group keeps them: an offset, which is above 0, and a text beside it."""
        from confluent_kafka import TopicPartition

        return TopicPartition(self.topic, 0, batch_id + 1, metadata=str(writers))

    def _producer(self, writer: int) -> Producer:
        from confluent_kafka import Producer

        ours = {"transactional.id": self._id(writer), "log_level": "0"}
        defaults = {"transaction.timeout.ms": _TRANSACTION_MS, "partitioner": PARTITIONER}
        return Producer({**defaults, **dict(self.settings), **ours})

    @contextmanager
    def _consumer(self, writer: int) -> Iterator[Consumer]:
        """Give a consumer of the writer's group, which reads nothing."""
        from confluent_kafka import Consumer

        ours = {"group.id": self._id(writer), "enable.auto.commit": "false", "log_level": "0"}
        consumer = Consumer({**_of_consumers(self.settings), **ours})
        try:
            yield consumer
        finally:
            consumer.close()

    @contextmanager
    def failures(self, code: str) -> Iterator[None]:
        """Say of an error of the client which servers or topic it is about."""
        from confluent_kafka import KafkaException

        try:
            yield
        except KafkaException as error:
            said = " ".join(str(error.args[0].str() if error.args else error).split())
            raise failure(code, self.settings, self.topic, said) from error


@dataclass
class OpenWriter:
    """A writer with its producer, which nobody else has while it can commit.

    Attributes:
        group: of the writer's number, as ``Consumer.consumer_group_metadata`` gives it.
        last: the number of the batch that it has committed last, -1 if there is none.
    """

    transactions: Transactions
    producer: Producer
    group: object
    last: int
    _used: float = field(default_factory=time.monotonic)

    @property
    def is_fresh(self) -> bool:
        """Whether it was used not long ago: a broker forgets transactional ids that nobody uses, after a week."""
        return time.monotonic() < self._used + _FRESH

    def write(self, writers: int, records: Iterable[pa.RecordBatch], batch_id: int) -> int:
        """Write the records of a batch, unless they are there; return how many were written.

        Args:
            writers: how many the batch has.
            records: columns ``value`` (text, binary or NULL), and, where they are wanted, ``key`` and ``headers``.

        Raises:
            SqlExtError: RUN-077 if Kafka does not take the records.
        """
        if self.last >= batch_id:
            return 0
        number = self.transactions.number(batch_id, writers)
        with self.transactions.failures("RUN-077"), _transaction(self.producer):
            at_step("sending")
            written = produce(self.producer, self.transactions.topic, records)
            at_step("records")
            _again(lambda: self.producer.send_offsets_to_transaction([number], self.group, _ANSWER))
            at_step("number")
        self.last, self._used = batch_id, time.monotonic()
        at_step("committed")
        return written


def produce(producer: Producer, topic: str, records: Iterable[pa.RecordBatch]) -> int:
    """Hand records, as ``OpenWriter.write`` takes them, to a producer; return how many."""
    written = 0
    for batch in records:
        names = batch.schema.names
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            _produce(producer, topic, dict(zip(names, row, strict=True)))
        written += batch.num_rows
        at_step("batch")
    return written


def failure(code: str, settings: Iterable[tuple[str, str]], topic: str, said: str) -> SqlExtError:
    """Return what went wrong at a topic.

    Args:
        code: RUN-060 if Kafka does not answer, RUN-077 if it does not take the records.
        said: by the client.
    """
    servers = dict(settings).get("bootstrap.servers", "?")
    what = "does not answer" if code == "RUN-060" else f"does not take records for topic `{topic}`"
    return SqlExtError(code, f"Kafka at {servers} {what}: {said}")


def _produce(producer: Producer, topic: str, record: dict[str, Any]) -> None:
    headers = [(h["key"], h["value"]) for h in record.get("headers") or ()]
    while True:
        try:
            producer.produce(topic, record["value"], record.get("key"), headers=headers)
        except BufferError:  # the client holds as many as it may
            producer.poll(1)
        else:
            return


def _again(call: Callable[[], _T]) -> _T:
    """Call the client, and once more as long as it says that this may help, or that a coordinator is chosen anew."""
    from confluent_kafka import KafkaError, KafkaException

    passing = (
        KafkaError.NOT_COORDINATOR,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    )
    until = time.monotonic() + _ANSWER
    while True:
        try:
            return call()
        except KafkaException as error:
            said = error.args[0]
            if not (said.retriable() or said.code() in passing) or time.monotonic() > until:
                raise
        time.sleep(_PAUSE)


@contextmanager
def _transaction(producer: Producer) -> Iterator[None]:
    """Commit what the block sends, or none of it."""
    from confluent_kafka import KafkaException

    producer.begin_transaction()
    try:
        yield
        _again(lambda: producer.commit_transaction(_ANSWER))
    except Exception:
        # If that fails too, the next producer of the id ends the transaction, or its timeout.
        with suppress(KafkaException):
            producer.abort_transaction(_ANSWER)
        raise


def _of_consumers(settings: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """Return the settings without those that producers alone have, of which the client would warn."""
    return {k: v for k, v in settings if not k.startswith(_PRODUCERS_OWN)}


#: Beginnings of settings that producers alone have.
_PRODUCERS_OWN = (
    "acks",
    "batch.",
    "compression.",
    "delivery.",
    "enable.idempotence",
    "linger.ms",
    "message.send.",
    "partitioner",
    "queue.buffering.",
    "request.required.",
    "retries",
    "retry.",
    "sticky.",
    "transaction",
)
