"""Fill an index by bulk requests, at least once: with ids of a key, what is sent again says the same."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from sqlext.connectors.formats.json import writer_options
from sqlext.connectors.search.options import NOW, IndexPart, index_parts, milliseconds
from sqlext.connectors.spec import WriteSpec
from sqlext.errors import SqlExtError
from sqlext.extras import package
from sqlext.quoting import identifier, string
from sqlext.sinks.base import RefusedRow, Sink, SinkContext, refuse_mode, row_text
from sqlext.sinks.encoding import encoded
from sqlext.sinks.last_rows import existence, one_row_per_key
from sqlext.sinks.letter_limit import LetterLimit
from sqlext.spark.workers.ready import require_python
from sqlext_catalog.model import Options
from sqlext_catalog.secrets import resolve_options
from sqlext_udfs.kernel.row_kinds import INSERT, UPDATE_AFTER

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_ACTIONS, _BYTES = 1000, 2 << 20
_SCHEMA = "text STRING, code STRING, reason STRING"
_RETRIES, _DELAY, _TIMEOUT = 3, 50, 30_000
#: The longest pause before documents are sent again, in seconds.
_LONGEST = 600.0
#: What a server says of an id that it is to delete and does not have, when it has no room, and of a wrong document.
_ABSENT, _REJECTED, _WRONG = 404, 429, 400


class BulkAction(NamedTuple):
    """A line of a bulk request, the one behind it, and the row as JSON where refused ones are told of.

    Documents are texts, so that numbers keep their digits.
    """

    line: dict[str, dict[str, str]]
    document: str | None
    text: str | None = None


@dataclass
class Sent:
    """How many documents a server has taken, and the rows that it refused."""

    taken: int = 0
    refused: list[RefusedRow] = field(default_factory=list)


@dataclass(frozen=True)
class Server:
    """Where documents go; it can be pickled, with the login in it.

    Attributes:
        options: of the table, secrets resolved.
    """

    options: Options

    def check(self) -> None:
        """Raise SqlExtError RUN-076 where no server answers."""
        try:
            self.opened().info()
        except _module("exceptions").OpenSearchException as error:
            raise self._failure(str(error)) from error

    def opened(self) -> Any:
        """Return a client.

        Raises:
            SqlExtError: ENV-011 without the package.
        """
        options = dict(self.options)
        prefix = options.get("connection.path-prefix", "").rstrip("/")
        login = {"http_auth": (options["username"], options["password"])} if "username" in options else {}
        return _module().OpenSearch(
            [f"{host.strip().rstrip('/')}{prefix}" for host in options["hosts"].split(";")],
            timeout=milliseconds(options, "socket.timeout", _TIMEOUT) / 1000,
            verify_certs=options.get("allow-insecure", "false").lower() != "true",
            **login,
        )

    def send(self, actions: Iterable[BulkAction], *, tells: bool = False) -> Sent:
        """Send documents.

        Args:
            tells: whether documents that are refused for what they say are returned; else one ends the batch.

        Raises:
            SqlExtError: RUN-076 if the server does not answer, or refuses a document.
        """
        client, found, left = self.opened(), Sent(), iter(actions)
        # Flink: 0 turns a limit off.
        size = int(dict(self.options).get("sink.bulk-flush.max-actions", _ACTIONS)) or _ACTIONS
        try:
            while chunk := list(islice(left, size)):
                self._send(client, chunk, found, tells)
        except _module("exceptions").OpenSearchException as error:
            raise self._failure(str(error)) from error
        return found

    def _send(self, client: Any, actions: list[BulkAction], found: Sent, tells: bool) -> None:
        """Send some documents, and again those for which the server has no room now."""
        options = dict(self.options)
        handler = options.get("failure-handler", "fail").lower()
        disabled = options.get("sink.bulk-flush.backoff.strategy", "").upper() == "DISABLED"
        retries = int(options.get("sink.bulk-flush.backoff.max-retries", _RETRIES))
        delay = milliseconds(options, "sink.bulk-flush.backoff.delay", _DELAY) / 1000
        for last in range(0 if disabled and handler != "retry-rejected" else retries, -1, -1):
            rejected = []
            for action, status, said in _answers(client, actions):
                if status == _REJECTED and last:
                    rejected.append(action)
                elif said is None or (status == _ABSENT and "delete" in action.line):
                    found.taken += said is None
                elif tells and status == _WRONG:
                    found.refused.append(RefusedRow(action.text or "", "RUN-076", said))
                elif handler != "ignore":
                    raise self._failure(f"it refuses {said}")
            if not rejected:
                return
            actions = rejected
            time.sleep(min(delay, _LONGEST))
            delay *= 2

    def _failure(self, why: str) -> SqlExtError:
        message = f"index '{dict(self.options)['index']}' at {dict(self.options)['hosts']}: {why}"
        return SqlExtError("RUN-076", message, hint="'failure-handler' = 'ignore' passes over documents")


def _answers(client: Any, actions: list[BulkAction]) -> Iterator[tuple[BulkAction, int, str | None]]:
    """Send documents; yield each with its status, and what the server says if it has not taken it."""
    sent = _module("helpers").streaming_bulk(
        client,
        actions,
        expand_action_callback=lambda action: (action.line, action.document),
        chunk_size=len(actions),
        max_chunk_bytes=_BYTES,
        raise_on_error=False,
    )
    answered = 0
    try:
        for action, (good, answer) in zip(actions, sent, strict=True):
            ((_, said),) = answer.items()
            answered += 1
            yield action, said.get("status"), None if good else f"document {said.get('_id')!r}: {said.get('error')}"
    except _module("exceptions").TransportError as error:
        if error.status_code != _REJECTED:
            raise
        yield from ((action, _REJECTED, f"the request: {error}") for action in actions[answered:])


def _module(part: str = "") -> Any:
    name = f"opensearchpy.{part}" if part else "opensearchpy"
    return package(name, "search", "a sink of OpenSearch or Elasticsearch")


@dataclass(frozen=True)
class SearchSink(Sink):
    """An index; tasks send the rows of a batch side by side, each key once."""

    spec: WriteSpec
    context: SinkContext

    @property
    def single_pass(self) -> bool:
        """One job sends all rows."""
        return True

    def open(self, spark: SparkSession) -> None:
        """Refuse as ``require``; the server makes the index."""
        self.require(spark)

    def require(self, spark: SparkSession) -> None:
        """Refuse what an index does not take, and a server that is not there."""
        refuse_mode(self.spec, self.context, "append", "upsert")
        require_python(spark)
        self._server().check()

    def write(self, df: DataFrame, batch_id: int) -> None:
        """Send a batch."""
        self._documents(df).mapInArrow(_Work(self._server(), tells=False), _SCHEMA).collect()

    def take(self, df: DataFrame, batch_id: int, limit: LetterLimit, *, new: bool) -> Sequence[RefusedRow]:
        """Send a batch; see ``Sink.take``. Documents that were sent cannot be taken back, so no limit is asked."""
        work = _Work(self._server(), tells=self.context.refusals)
        found = self._documents(df).mapInArrow(work, _SCHEMA).collect()
        return tuple(RefusedRow(row["text"], row["code"], row["reason"]) for row in found)

    def _server(self) -> Server:
        # Secrets are resolved here, where the query runs: workers may have none of them.
        return Server(tuple(sorted(resolve_options(self.spec.options).items())))

    def _documents(self, df: DataFrame) -> DataFrame:
        """Return index, id (NULL: the server makes one) and text of each document, and whether it is there."""
        keyed, flag = self.context.mode == "upsert", existence(self.context)
        flags = [c for c in (self.context.exists, self.context.kind) if c is not None]
        rows = df.select(*(identifier(c) for c in (*(c.name for c in self.spec.columns), *flags)))
        if keyed:
            rows = one_row_per_key(rows, self.spec.primary_key, self.context)
        elif self.context.kind is not None:
            rows = rows.where(f"{identifier(self.context.kind)} IN ({INSERT}, {UPDATE_AFTER})")
        elif flag is not None:
            rows = rows.where(identifier(flag))
        options = dict(self.spec.options)
        fields = encoded(self.spec, self.context.zone)
        settings = ", ".join(f"{string(k)}, {string(v)}" for k, v in writer_options(options))
        values = ", ".join(f"{string(name)}, {value}" for name, value in fields.items())
        keys = ", ".join(f"CAST({identifier(k)} AS STRING)" for k in self.spec.primary_key)
        delimiter = string(self.spec.option("document-id.key-delimiter", "_"))
        return rows.selectExpr(
            f"{_index(index_parts(self.spec.option('index')))} AS index",
            f"{f'concat_ws({delimiter}, {keys})' if keyed else 'CAST(NULL AS STRING)'} AS id",
            f"to_json(named_struct({values}), map({settings})) AS document",
            f"{identifier(flag) if keyed and flag is not None else 'true'} AS there",
            f"{row_text(self.spec, self.context.zone) if self.context.refusals else 'CAST(NULL AS STRING)'} AS text",
        )


@dataclass(frozen=True)
class _Work:
    """Sends documents in a worker of Spark's."""

    server: Server
    tells: bool

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        actions = (_action(*row) for batch in batches for row in zip(*(c.to_pylist() for c in batch), strict=True))
        refused = self.server.send(actions, tells=self.tells).refused
        names = ["text", "code", "reason"]
        yield pa.record_batch([pa.array([getattr(row, name) for row in refused], pa.string()) for name in names], names)


def _action(index: str, key: str | None, document: str, there: bool, text: str | None) -> BulkAction:
    if key is None:
        return BulkAction({"index": {"_index": index}}, document, text)
    place = {"_index": index, "_id": key}
    if not there:
        return BulkAction({"delete": place}, None, text)
    # As Flink does: fields that others have put there stay.
    return BulkAction({"update": place}, f'{{"doc":{document},"doc_as_upsert":true}}', text)


def _index(parts: Iterable[IndexPart]) -> str:
    return f"concat({', '.join(map(_part, parts))})"


def _part(part: IndexPart) -> str:
    if part.text:
        return string(part.text)
    column = "current_timestamp()" if part.column == NOW else identifier(part.column)
    return f"date_format({column}, {string(part.pattern)})" if part.pattern else f"CAST({column} AS STRING)"
