"""Read topics of Kafka: a partition is a split, an offset a position.

Records come out as Spark's own connector gives them, for the same SQL on both paths, or as the rows that their values
hold (``rows``). Needs ``confluent-kafka`` (the extra ``kafka``).
"""

from __future__ import annotations

import gc
import json
import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from sqlext.connectors.kafka.reader.rows import KafkaRows, RawRows
from sqlext.connectors.splits import Limit, Offset, Passes, Slice
from sqlext.errors import SqlExtError
from sqlext.stores.location import Location

if TYPE_CHECKING:
    from confluent_kafka import Consumer, Message
    from confluent_kafka.admin import AdminClient

#: Messages of one Arrow batch; how long the client waits for them at once, and a worker for the next ones, in seconds.
_BATCH = 10_000
_POLL = 0.1
_PATIENCE = 120.0
_ANSWER = 30.0
#: In the folder of what the reader must remember: where the query began.
_INITIAL = "initial.json"
#: The client would write each failure to connect to stderr, twenty a second; what matters is raised.
_QUIET = {"log_level": "0"}
#: The client would wait a second before it fetches more, once it has a hundred thousand messages: most of its time,
#: where there is much to read.
_EAGER = {"fetch.queue.backoff.ms": "5"}


@dataclass(frozen=True, slots=True)
class KafkaStart:
    """Where a query begins that has no checkpoint (``scan.startup.mode``).

    Attributes:
        timestamp: milliseconds since 1970.
        offsets: by partition; a partition that is not named begins at the earliest offset.
    """

    mode: Literal["earliest", "latest", "timestamp", "offsets"] = "earliest"
    timestamp: int = 0
    offsets: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Records(Slice):
    """Offsets from ``begin`` (inclusive) to ``end`` (exclusive) of a partition."""

    topic: str
    partition: int
    begin: int


@dataclass
class KafkaReader:
    """Reads topics.

    Attributes:
        config: of the client, in librdkafka's names, secrets resolved.
        topics: which ones; or ``pattern``, a regular expression of their whole names.
        start: where a new query begins.
        state: a folder of the query: where it began is written there, so that a crash before the first micro-batch
            does not move it. None: nothing is kept.
        rows: what becomes of messages.
        discovery: ms until new partitions are looked for.
    """

    config: tuple[tuple[str, str], ...]
    topics: tuple[str, ...] = ()
    pattern: str | None = None
    start: KafkaStart = field(default_factory=KafkaStart)
    state: Location | None = None
    rows: KafkaRows = field(default_factory=RawRows)
    discovery: int = 10_000
    _found: tuple[float, tuple[tuple[str, int], ...]] | None = None

    @property
    def schema(self) -> pa.Schema:
        """The columns of a row."""
        return self.rows.schema

    # Beside the driver

    def initial(self) -> Offset:
        """Return where a new query begins; asked again, the same."""
        kept: dict[str, int] | None = self.state.json(_INITIAL) if self.state is not None else None
        if kept is not None:
            return kept
        found = self._begin()
        if self.state is not None:
            self.state.put(_INITIAL, json.dumps(found))
        return found

    def latest(self, start: Offset, limit: Limit | None) -> Offset:
        """Return the ends of all partitions, or as far as ``limit`` (rows) lets each go, by what waits in it."""
        # A topic that was made anew ends before ``start``, and positions only grow.
        ends = {s: max(e, start.get(s, 0)) for s, e in self._ask("latest").items()}
        waiting = {s: e - start.get(s, 0) for s, e in ends.items()}
        every = sum(waiting.values())
        if limit is None or every <= limit.most:
            return ends
        # Rounded up, so that no partition with records is left out.
        return {s: start.get(s, 0) + min(n, -(-n * limit.most // every)) for s, n in waiting.items()}

    def slices(self, start: Offset, end: Offset) -> Sequence[Slice]:
        """Return a slice for each partition with records."""
        begins = {s: start.get(s, 0) for s in end}
        return [Records(s, e, 0, *partition_of(s), begins[s]) for s, e in sorted(end.items()) if e > begins[s]]

    def commit(self, end: Offset) -> None:
        """Do nothing: positions are in Spark's checkpoint, not in a consumer group."""

    def close(self) -> None:
        """Let the client go; its threads end with it."""
        _admin.cache_clear()

    def _begin(self) -> dict[str, int]:
        earliest = self._ask("earliest")
        if self.start.mode == "offsets":
            return {s: self.start.offsets.get(partition_of(s)[1], e) for s, e in earliest.items()}
        if self.start.mode == "earliest":
            return earliest
        latest = self._ask("latest")
        if self.start.mode == "latest":
            return latest
        later = self._ask(self.start.timestamp)
        return {s: e if e >= 0 else latest[s] for s, e in later.items()}  # -1: nothing is so late

    def _ask(self, wanted: str | int) -> dict[str, int]:
        """Return an offset of each partition: the ``earliest``, the ``latest``, or the first since a time in ms."""
        from confluent_kafka import IsolationLevel, KafkaError, KafkaException, TopicPartition, admin

        # With read_committed the latest offset is where the first open transaction begins.
        level = dict(self.config).get("isolation.level", "read_uncommitted").upper()
        specs: Any = admin.OffsetSpec  # type: ignore[attr-defined]
        asked_for = specs.for_timestamp(wanted) if isinstance(wanted, int) else getattr(specs, wanted)()
        asked = {TopicPartition(t, p): asked_for for t, p in self._partitions()}
        passing = (KafkaError.LEADER_NOT_AVAILABLE, KafkaError.NOT_LEADER_FOR_PARTITION)
        until = time.monotonic() + _ANSWER
        while True:
            try:
                answers = _admin(self.config).list_offsets(
                    asked, isolation_level=IsolationLevel[level], request_timeout=_ANSWER
                )
                return {split_of(p.topic, p.partition): int(a.result().offset) for p, a in answers.items()}
            except KafkaException as error:
                # A partition is between two leaders, or has none yet.
                if error.args[0].code() not in passing or time.monotonic() > until:
                    raise _failure(error, self.config) from error
                time.sleep(_POLL)

    def _partitions(self) -> tuple[tuple[str, int], ...]:
        now = time.monotonic()
        if self._found is None or now - self._found[0] > self.discovery / 1000:
            self._found = now, self._discover()
        return self._found[1]

    def _discover(self) -> tuple[tuple[str, int], ...]:
        from confluent_kafka import KafkaException

        try:
            known = _admin(self.config).list_topics(timeout=_ANSWER).topics
        except KafkaException as error:
            raise _failure(error, self.config) from error
        if self.pattern is not None:
            # Not Kafka's own topics, such as __consumer_offsets.
            names = [n for n in known if re.fullmatch(self.pattern, n) and not n.startswith("__")]
        else:
            names = list(self.topics)
            missing = [n for n in names if n not in known]
            if missing:
                raise SqlExtError("RUN-060", f"there is no topic `{missing[0]}` at {_servers(self.config)}")
        return tuple((n, p) for n in sorted(names) for p in sorted(known[n].partitions))

    # In a worker

    def read(self, piece: Slice, passes: Passes | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a slice, in batches: of messages nothing is known before.

        Raises:
            SqlExtError: RUN-061 if Kafka has removed some of them, RUN-062 if they do not come, RUN-066 for a message
                that cannot be read.
        """
        from confluent_kafka import TopicPartition

        assert isinstance(piece, Records)
        consumer = _consumer(self.config, threading.get_ident())
        place = TopicPartition(piece.topic, piece.partition, piece.begin)
        consumer.assign([place])
        try:
            yield from self.rows.batches(_until(consumer, piece))
        finally:
            # The consumer is kept: without this it would go on fetching what nobody asks for.
            consumer.unassign()


def _until(consumer: Consumer, piece: Records) -> Iterator[list[Message]]:
    """Yield messages before the end of a slice; offsets have gaps (compaction, transactions)."""
    place, waits = piece.begin, time.monotonic() + _PATIENCE
    while place < piece.end:
        # The client waits until it has as many as it is asked for: not for messages behind the end, then.
        with _without_collections():
            got = consumer.consume(min(_BATCH, piece.end - place), timeout=_POLL)
        own = got if _is_run(got, place, piece) else [m for m in got if _is_of(m, piece)]
        good = own if own is got else [m for m in own if m.error() is None and place <= (m.offset() or 0) < piece.end]
        if good:
            place, waits = (good[-1].offset() or 0) + 1, time.monotonic() + _PATIENCE
            yield good
        if len(good) < len(own) and any(_is_end(m, piece) for m in own):
            return
        if time.monotonic() > waits:
            what = f"offsets {piece.begin} to {piece.end} of {piece.split} have not come for {_PATIENCE:.0f} s"
            raise SqlExtError("RUN-062", what, hint="is the broker reachable from the workers?")


@contextmanager
def _without_collections() -> Iterator[None]:
    """Keep Python from looking for cycles: among thousands of messages that hold none, that is half of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _is_run(messages: list[Message], place: int, piece: Records) -> bool:
    """Return whether messages are those from ``place`` on, none left out: then none of them needs to be looked at."""
    if not messages or [m for m in messages if m.error() is not None]:
        return False
    first, last = messages[0], messages[-1]
    ends = first.offset() == place and last.offset() == place + len(messages) - 1
    return ends and _is_of(first, piece) and _is_of(last, piece)


def _is_of(message: Message, piece: Records) -> bool:
    """Return whether a message is of the partition of a slice, not one that was fetched for the slice before."""
    return message.partition() == piece.partition and message.topic() == piece.topic


def _is_end(message: Message, piece: Records) -> bool:
    """Return whether a message lies behind a slice, or is the client's word that none come before its end.

    Raises:
        SqlExtError: RUN-061 for anything else that it says.
    """
    from confluent_kafka import KafkaError

    error = message.error()
    if error is not None and error.code() != KafkaError._PARTITION_EOF:  # noqa: SLF001 - the client's own name for it
        raise _lost(piece, str(error))
    return (message.offset() or 0) >= piece.end


def split_of(topic: str, partition: int) -> str:
    return f"{topic}-{partition}"


def partition_of(split: str) -> tuple[str, int]:
    """Return the topic and the partition of a split; raises ValueError for another text."""
    # From the right: the name of a topic may have hyphens.
    topic, _, partition = split.rpartition("-")
    return topic, int(partition)


@lru_cache(maxsize=8)
def _admin(config: tuple[tuple[str, str], ...]) -> AdminClient:
    from confluent_kafka.admin import AdminClient

    # Settings of consumers alone, of which librdkafka would warn here.
    known = {k: v for k, v in config if not k.startswith(("isolation.", "fetch.", "max.p"))}
    return AdminClient({**known, **_QUIET})


@lru_cache(maxsize=8)
def _consumer(config: tuple[tuple[str, str], ...], thread: int) -> Consumer:
    """Return the consumer of a thread, kept between micro-batches: to connect takes longer than to read.

    Slices of two partitions are read side by side, and a consumer has one place at a time.
    """
    from confluent_kafka import Consumer

    own = {
        "group.id": "sqlext",
        "enable.auto.commit": "false",
        # Records that are gone must fail the query (RUN-061), not be passed over.
        "auto.offset.reset": "error",
        # Offsets have gaps: only this tells that nothing more comes before the end of a slice.
        "enable.partition.eof": "true",
    }
    return Consumer({**_EAGER, **dict(config), **own, **_QUIET})


def _servers(config: tuple[tuple[str, str], ...]) -> str:
    return dict(config).get("bootstrap.servers", "?")


def _failure(error: Exception, config: tuple[tuple[str, str], ...]) -> SqlExtError:
    return SqlExtError("RUN-060", f"Kafka at {_servers(config)} does not answer: {error}")


def _lost(piece: Records, why: str) -> SqlExtError:
    return SqlExtError(
        "RUN-061",
        f"records {piece.begin} to {piece.end} of {piece.split} cannot be read: {why}",
        hint="Kafka may have removed them (retention): DROP QUERY starts anew from what is there",
    )
