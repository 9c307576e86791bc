"""Make rows of Kafka's messages: records as Spark's connector gives them, or the rows that their values hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from sqlext.errors import SqlExtError
from sqlext.sources.decoding.malformed import BadValueError, malformed
from sqlext.sources.decoding.registry_avro import FromRegistry
from sqlext.sources.decoding.text_messages import MessageValues
from sqlext_udfs.expressions.functions import INSTANT

if TYPE_CHECKING:
    from confluent_kafka import Message

Messages = Sequence["Message"]

_HEADER = pa.struct([("key", pa.string()), ("value", pa.binary())])


class KafkaRows(Protocol):
    """Makes rows of messages. Picklable."""

    @property
    def schema(self) -> pa.Schema:
        """The columns of a row."""

    def batches(self, messages: Iterator[Messages]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of messages of one partition, in their order.

        Raises:
            SqlExtError: RUN-066 for a message that cannot be read.
        """


def _times(messages: Messages) -> pa.Array:
    return pa.array([m.timestamp()[1] * 1000 for m in messages], INSTANT)


_PLACES: Mapping[str, tuple[pa.DataType, Callable[[Messages], pa.Array]]] = {
    "topic": (pa.string(), lambda messages: pa.array([m.topic() for m in messages], pa.string())),
    "partition": (pa.int32(), lambda messages: pa.array([m.partition() for m in messages], pa.int32())),
    "offset": (pa.int64(), lambda messages: pa.array([m.offset() for m in messages], pa.int64())),
    "timestamp": (INSTANT, _times),
}
#: The types of what a message carries beside key and value, by the names that Flink gives it.
METADATA: Mapping[str, pa.DataType] = {name: of for name, (of, _) in _PLACES.items()}


@dataclass(frozen=True)
class RawRows:
    """Records: key, value, topic, partition, offset, timestamp, timestampType.

    Attributes:
        headers: whether they have the column ``headers`` too.
        keys, values: make what comes out of keys and values; None: they come out as they are.
    """

    headers: bool = False
    keys: FromRegistry | None = None
    values: FromRegistry | None = None

    @property
    def schema(self) -> pa.Schema:
        """The columns of a record."""
        key_and_value = [("key", pa.binary()), ("value", pa.binary())]
        columns = [*key_and_value, *METADATA.items(), ("timestampType", pa.int32())]
        return pa.schema([*columns, *([("headers", pa.list_(_HEADER))] if self.headers else [])])

    def batches(self, messages: Iterator[Messages]) -> Iterator[pa.RecordBatch]:
        """Yield a record for each message."""
        for some in messages:
            columns = [
                _contents(some, [m.key() for m in some], self.keys),
                _contents(some, [m.value() for m in some], self.values),
                *(make(some) for _, make in _PLACES.values()),
                # librdkafka counts from 0 (none, create time, append time), Java's client and Spark from -1.
                pa.array([m.timestamp()[0] - 1 for m in some], pa.int32()),
            ]
            if self.headers:
                columns.append(pa.array([_headers(m) for m in some], pa.list_(_HEADER)))
            yield pa.RecordBatch.from_arrays(columns, schema=self.schema)


@dataclass(frozen=True)
class ValueRows:
    """The rows of what values hold. A message without a value (a tombstone) is no row.

    Attributes:
        values: how they are read.
        metadata: columns that are read of the messages, and what of them.
    """

    values: MessageValues
    metadata: tuple[tuple[str, str], ...] = ()

    @property
    def schema(self) -> pa.Schema:
        """The columns of a row."""
        return pa.schema([*self.values.columns, *((name, METADATA[key]) for name, key in self.metadata)])

    def batches(self, messages: Iterator[Messages]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of messages."""
        read = self.values.reader()
        for some in messages:
            filled, texts = _filled(some)
            if not filled:
                continue
            try:
                rows = read(texts)
            except BadValueError as bad:
                raise _malformed(filled[bad.index], texts[bad.index], bad) from bad
            given = dict(zip(rows.schema.names, rows.columns, strict=True))
            yield pa.record_batch({**given, **{n: _PLACES[key][1](filled) for n, key in self.metadata}})


def _contents(messages: Messages, contents: Sequence[Any], source: FromRegistry | None) -> pa.Array:
    """Return the column of keys or values."""
    try:
        return pa.array(contents if source is None else source.some_records(contents), pa.binary())
    except BadValueError as bad:
        raise _malformed(messages[bad.index], contents[bad.index], bad) from bad


def _malformed(message: Message, content: bytes, bad: BadValueError) -> SqlExtError:
    place = f"topic {message.topic()}, partition {message.partition()}, offset {message.offset()}"
    return malformed(place, content, bad, bad.hint)


def _filled(messages: Messages) -> tuple[Messages, Sequence[bytes]]:
    """Return the messages that have a value, and their values."""
    values: list[Any] = [m.value() for m in messages]
    if None not in values:
        return messages, values
    return [m for m, v in zip(messages, values, strict=True) if v is not None], [v for v in values if v is not None]


def _headers(message: Message) -> list[dict[str, Any]] | None:
    found: Any = message.headers()
    return [{"key": k, "value": v} for k, v in found] if found else None
