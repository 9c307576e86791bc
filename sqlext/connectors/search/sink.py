"""Fill an index by bulk requests, at least once: with ids of a key, what is sent again says the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sqlext.connectors.formats.json import writer_options
from sqlext.connectors.search.options import NOW, IndexPart, index_parts, milliseconds
from sqlext.connectors.spec import WriteSpec
from sqlext.errors import SqlExtError
from sqlext.extras import package
from sqlext.quoting import identifier, string
from sqlext.sinks.base import Sink, SinkContext, refuse_mode
from sqlext.sinks.encoding import encoded
from sqlext.sinks.last_rows import existence, one_row_per_key
from sqlext.spark.workers.ready import require_python
from sqlext_catalog.model import Options
from sqlext_catalog.secrets import resolve_options
from sqlext_udfs.kernel.row_kinds import INSERT, UPDATE_AFTER

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_ACTIONS, _BYTES = 1000, 2 << 20
_RETRIES, _DELAY, _TIMEOUT = 3, 50, 30_000
#: A line of a bulk request, and the one behind it. Documents are texts, so that numbers keep their digits.
Action = tuple[dict[str, dict[str, str]], str | None]
#: What a server says of an id that it is to delete and does not have.
_ABSENT = 404


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

    def send(self, actions: Iterable[Action]) -> int:
        """Send documents; return how many were taken.

        Raises:
            SqlExtError: RUN-076 if the server does not answer, or refuses a document.
        """
        options = dict(self.options)
        handler = options.get("failure-handler", "fail").lower()
        disabled = options.get("sink.bulk-flush.backoff.strategy", "").upper() == "DISABLED"
        retries = int(options.get("sink.bulk-flush.backoff.max-retries", _RETRIES))
        sent = _module("helpers").streaming_bulk(
            self.opened(),
            actions,
            expand_action_callback=lambda action: action,
            # Flink: 0 turns a limit off.
            chunk_size=int(options.get("sink.bulk-flush.max-actions", _ACTIONS)) or _ACTIONS,
            max_chunk_bytes=_BYTES,
            max_retries=0 if disabled and handler != "retry-rejected" else retries,
            initial_backoff=milliseconds(options, "sink.bulk-flush.backoff.delay", _DELAY) / 1000,
            raise_on_error=False,
        )
        taken = 0
        try:
            for good, answer in sent:
                ((action, said),) = answer.items()
                absent = action == "delete" and said.get("status") == _ABSENT
                if not good and not absent and handler != "ignore":
                    raise self._failure(f"it refuses document {said.get('_id')!r}: {said.get('error')}")
                taken += good
        except _module("exceptions").OpenSearchException as error:
            raise self._failure(str(error)) from error
        return taken

    def _failure(self, why: str) -> SqlExtError:
        message = f"index '{dict(self.options)['index']}' at {dict(self.options)['hosts']}: {why}"
        return SqlExtError("RUN-076", message, hint="'failure-handler' = 'ignore' passes over documents")


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
        self._documents(df).mapInArrow(_Work(self._server()), "taken BIGINT").collect()

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
        )


@dataclass(frozen=True)
class _Work:
    """Sends documents in a worker of Spark's."""

    server: Server

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        actions = (_action(*row) for batch in batches for row in zip(*(c.to_pylist() for c in batch), strict=True))
        yield pa.record_batch([pa.array([self.server.send(actions)], pa.int64())], ["taken"])


def _action(index: str, key: str | None, document: str, there: bool) -> Action:
    if key is None:
        return {"index": {"_index": index}}, document
    place = {"_index": index, "_id": key}
    if not there:
        return {"delete": place}, None
    # As Flink does: fields that others have put there stay.
    return {"update": place}, f'{{"doc":{document},"doc_as_upsert":true}}'


def _index(parts: Iterable[IndexPart]) -> str:
    return f"concat({', '.join(map(_part, parts))})"


def _part(part: IndexPart) -> str:
    if part.text:
        return string(part.text)
    column = "current_timestamp()" if part.column == NOW else identifier(part.column)
    return f"date_format({column}, {string(part.pattern)})" if part.pattern else f"CAST({column} AS STRING)"
