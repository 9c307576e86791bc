"""Send records by our own client at least once, under the rules that Java's client has by itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from sqlext.connectors.kafka.client import client_settings, unresolved_settings
from sqlext.connectors.kafka.sizes import largest
from sqlext.connectors.kafka.transactions import PARTITIONER, failure, produce
from sqlext_catalog.model import Options

if TYPE_CHECKING:
    import pyarrow as pa
    from confluent_kafka import KafkaError, Message, Producer

#: Java's setting for the largest record, and the client's own.
_LARGEST, _OWN_LARGEST = "max.request.size", "message.max.bytes"
#: Java's client sends no record twice by itself, unless one of these is set.
_IDEMPOTENCE = "enable.idempotence"
_AGAINST_IDEMPOTENCE = (
    "acks",
    "request.required.acks",
    "retries",
    "message.send.max.retries",
    "max.in.flight",
    "max.in.flight.requests.per.connection",
)
#: As long as Java's client tries to send a record, in milliseconds.
_DELIVERY, _DELIVERY_MS = "delivery.timeout.ms", "120000"
#: Settings of Java's producers whose meaning is theirs alone.
_JAVAS_OWN = (
    "buffer.memory",
    "interceptor.classes",
    "key.serializer",
    "max.block.ms",
    "metadata.max.idle.ms",
    "metric",
    "partitioner",
    "transaction",
    "value.serializer",
)


def why_no_sender(options: Options) -> str:
    """Return why Java's client alone sends records under these options as they say; empty if ours does."""
    names = [name for name, _ in unresolved_settings(options)]
    foreign = next((name for name in names if name.startswith(_JAVAS_OWN)), None)
    return f"'{foreign}' is for Java's client alone" if foreign else _unknown(options)


def _unknown(options: Options) -> str:
    """Return what our client says of settings that it does not know, or not so; empty if there are none."""
    from confluent_kafka import KafkaException, Producer

    # Without servers it connects to none; references to secrets are texts like others.
    settings = {k: v for k, v in _settings(options, unresolved_settings(options)).items() if k != "bootstrap.servers"}
    try:
        Producer({**settings, "log_level": "0"})
    except KafkaException as error:
        return str(error.args[0].str())
    return ""


def sender_settings(options: Options) -> dict[str, str]:
    """Return the settings of a producer, secrets resolved."""
    return _settings(options, client_settings(options))


def _settings(options: Options, found: Options) -> dict[str, str]:
    given = {k: v for k, v in found if k != _LARGEST}
    defaults = {"partitioner": PARTITIONER, _OWN_LARGEST: str(largest(options)[1]), _DELIVERY: _DELIVERY_MS}
    if not given.keys() & set(_AGAINST_IDEMPOTENCE):
        defaults[_IDEMPOTENCE] = "true"
    return {**defaults, **given}


@dataclass
class Sender:
    """Sends batches to a topic; what it returns from is there.

    Attributes:
        options: of the table.
    """

    options: Options
    topic: str
    _refused: list[str] = field(default_factory=list)

    def send(self, records: Iterable[pa.RecordBatch]) -> None:
        """Send records, as ``transactions.OpenWriter.write`` takes them.

        Raises:
            SqlExtError: RUN-077 if Kafka does not take them.
        """
        from confluent_kafka import KafkaException

        self._refused.clear()
        try:
            produce(self._producer, self.topic, records)
            # Each record is there by then, or is refused: after the timeout of delivery at the latest.
            self._producer.flush()
        except KafkaException as error:
            self._refused.append(error.args[0].str())
        if self._refused:
            raise failure("RUN-077", client_settings(self.options), self.topic, self._refused[0])

    @cached_property
    def _producer(self) -> Producer:
        from confluent_kafka import Producer

        ours = {"log_level": "0", "delivery.report.only.error": True, "on_delivery": self._told}
        return Producer({**sender_settings(self.options), **ours})

    def _told(self, error: KafkaError | None, record: Message) -> None:
        if error is not None:
            self._refused.append(error.str())
