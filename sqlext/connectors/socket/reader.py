"""Read records of a TCP server beside the driver; tasks get them with their slices."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from sqlext.connectors.readers import OwnSource, Unread
from sqlext.connectors.splits import Limit, Offset, Passes, Slice, SplitReader
from sqlext.errors import SqlExtError
from sqlext.stores.location import Location
from sqlext_catalog.model import Column, Table

_SPLIT = "socket"
_SCHEMA = pa.schema([("value", pa.binary())])
_NEWLINE = 10
_CHUNK = 65_536
#: What one look at the socket takes at most, in bytes and, where there is nothing, in seconds.
_MOST, _WAIT = 4_000_000, 0.05
#: How long a server that has gone is waited for before it is called again, in seconds.
_AGAIN = 1.0
_CONNECTING = 10.0


@dataclass(frozen=True, slots=True)
class Lines(Slice):
    """Records, which are nowhere else."""

    records: tuple[bytes, ...]


@dataclass
class SocketReader:
    """Reads the records of a server. Positions count records.

    Attributes:
        host, port: where the server listens.
        delimiter: the byte that ends a record.
        clock: tells the time in seconds.
    """

    host: str
    port: int
    delimiter: int = _NEWLINE
    clock: Callable[[], float] = time.monotonic
    _connection: socket.socket | None = None
    _retry: float = 0.0
    _rest: bytes = b""
    _base: int = 0
    _records: list[bytes] = field(default_factory=list)

    def __getstate__(self) -> dict[str, Any]:
        """Return what a worker needs: neither the connection nor records, which come with slices."""
        kept = {name: getattr(self, name) for name in ("host", "port", "delimiter", "clock")}
        return {**vars(SocketReader(**kept))}

    def initial(self) -> Offset:
        """Return that nothing has been read."""
        return {_SPLIT: 0}

    def latest(self, start: Offset, limit: Limit | None) -> Offset:
        """Return the position behind what has come.

        Raises:
            SqlExtError: RUN-073 if nobody has listened there when the query began.
        """
        begin = start.get(_SPLIT, 0)
        if not self._records:
            # A query that goes on counts from where it was: what had come before is gone.
            self._base = max(self._base, begin)
        self._receive()
        return {_SPLIT: max(begin, self._base + len(self._records))}

    def slices(self, start: Offset, end: Offset) -> Sequence[Slice]:
        """Return the records between two positions; none where they came to a process that is gone."""
        first, behind = (max(at.get(_SPLIT, 0) - self._base, 0) for at in (start, end))
        found = tuple(self._records[first:behind])
        return [Lines(_SPLIT, end[_SPLIT], 0, found)] if found else []

    def read(self, piece: Slice, passes: Passes | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the records of a slice."""
        assert isinstance(piece, Lines)
        yield pa.record_batch([pa.array(piece.records, pa.binary())], schema=_SCHEMA)

    def commit(self, end: Offset) -> None:
        """Forget records that are through."""
        through = min(max(end.get(_SPLIT, 0) - self._base, 0), len(self._records))
        del self._records[:through]
        self._base += through

    def close(self) -> None:
        """Leave the server."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _receive(self) -> None:
        """Take what has come: nothing where the server has gone, until it is there again."""
        connection = self._connected()
        taken = 0
        while connection is not None and taken < _MOST:
            try:
                chunk = connection.recv(_CHUNK)
            except TimeoutError:
                return
            except OSError:
                chunk = b""
            if not chunk:
                self._lost()
                return
            taken += len(chunk)
            *whole, self._rest = (self._rest + chunk).split(bytes([self.delimiter]))
            self._records += whole

    def _connected(self) -> socket.socket | None:
        if self._connection is None and self.clock() >= self._retry:
            try:
                self._connection = socket.create_connection((self.host, self.port), timeout=_CONNECTING)
            except OSError as error:
                # A server that has been there may come back; one that never was is a mistake.
                if not self._retry:
                    hint = "start the server first: nc -lk PORT is one"
                    message = f"{self.host}:{self.port} does not answer: {error}"
                    raise SqlExtError("RUN-073", message, hint=hint) from error
                self._retry = self.clock() + _AGAIN
                return None
            self._connection.settimeout(_WAIT)
        return self._connection

    def _lost(self) -> None:
        # What the server had begun to send is no record.
        self._rest = b""
        self._retry = self.clock() + _AGAIN
        self.close()


class SocketTables:
    """The ``TableReader`` of sockets."""

    def why_not(self, table: Table) -> str:
        """Return nothing: any table is read."""
        return ""

    def source(self, table: Table, state: Location | None, tasks: int) -> OwnSource:
        """Return the table's records; see ``TableReader.source``."""
        delimiter = int(table.option("byte-delimiter") or _NEWLINE)
        reader = SocketReader(table.option("hostname") or "", int(table.option("port") or 0), delimiter)
        return OwnSource(reader, _SCHEMA)

    def require(self, table: Table) -> None:
        """Refuse: operators take no records as they are read; see ``TableReader.require``."""
        raise Unread("records of a socket are taken apart by Spark")

    def column(self, table: Table, column: Column) -> pa.DataType:
        """Refuse; see ``require``."""
        raise Unread("records of a socket are taken apart by Spark")

    def reader(self, table: Table, needed: Sequence[str], state: Location, tasks: int) -> SplitReader:
        """Refuse; see ``require``."""
        raise Unread("records of a socket are taken apart by Spark")

    def limit(self, table: Table) -> Limit | None:
        """Return that a micro-batch takes what has come."""
        return None


READER = SocketTables()
