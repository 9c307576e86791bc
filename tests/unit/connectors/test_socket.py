"""Connector socket: its options, and what its reader takes of a real server. No Spark."""

from __future__ import annotations

import pickle
import socket
from collections.abc import Iterator

import pytest
from connectors.tables import table

from sqlext.connectors.options import OptionError
from sqlext.connectors.registry import connector_of
from sqlext.connectors.socket.reader import Lines, SocketReader
from sqlext.errors import SqlExtError
from sqlext.types import INT, STRING
from tests.ports import free_port

OPTIONS = {"connector": "socket", "hostname": "localhost", "port": "9999", "format": "csv"}


class Server:
    """A server at loopback that says what it is told."""

    def __init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self._clients: list[socket.socket] = []

    def take(self) -> None:
        """Take the client that has called."""
        self._clients.append(self._listening.accept()[0])

    def say(self, text: bytes) -> None:
        self._clients[-1].sendall(text)

    def leave(self) -> None:
        self._clients.pop().close()

    def close(self) -> None:
        for client in self._clients:
            client.close()
        self._listening.close()


@pytest.fixture
def server() -> Iterator[Server]:
    found = Server()
    yield found
    found.close()


@pytest.fixture
def now() -> list[float]:
    return [100.0]


@pytest.fixture
def reader(server: Server, now: list[float]) -> Iterator[SocketReader]:
    found = SocketReader("127.0.0.1", server.port, clock=lambda: now[0])
    found.latest({"socket": 0}, None)
    server.take()
    yield found
    found.close()


def until(reader: SocketReader, start: int, end: int) -> None:
    """Look until so much has come."""
    while reader.latest({"socket": start}, None) != {"socket": end}:
        pass


def records(reader: SocketReader, start: int, end: int) -> list[bytes]:
    slices = reader.slices({"socket": start}, {"socket": end})
    return [row["value"] for piece in slices for batch in reader.read(piece) for row in batch.to_pylist()]


def test_records_end_with_a_byte(server: Server, reader: SocketReader) -> None:
    server.say(b"a,1\nb,2\nhal")
    until(reader, 0, 2)
    assert records(reader, 0, 2) == [b"a,1", b"b,2"]
    server.say(b"f,3\n")
    until(reader, 2, 3)
    assert records(reader, 2, 3) == [b"half,3"]
    assert records(reader, 0, 3) == [b"a,1", b"b,2", b"half,3"]  # a micro-batch that is run again


def test_records_that_are_through_are_forgotten(server: Server, reader: SocketReader) -> None:
    server.say(b"a\nb\nc\n")
    until(reader, 0, 3)
    reader.commit({"socket": 2})
    assert records(reader, 2, 3) == [b"c"]
    assert reader.latest({"socket": 2}, None) == {"socket": 3}
    assert records(reader, 0, 2) == []


def test_a_query_that_goes_on_counts_from_its_place(server: Server) -> None:
    reader = SocketReader("127.0.0.1", server.port)
    assert reader.slices({"socket": 5}, {"socket": 7}) == []  # what a process had taken is gone with it
    assert reader.latest({"socket": 7}, None) == {"socket": 7}
    server.take()
    server.say(b"new\n")
    until(reader, 7, 8)
    assert records(reader, 7, 8) == [b"new"]
    reader.close()


def test_a_server_that_comes_back_is_called_again(server: Server, reader: SocketReader, now: list[float]) -> None:
    server.say(b"a\nlost")
    until(reader, 0, 1)
    server.leave()
    while reader._connection is not None:
        reader.latest({"socket": 1}, None)
    assert reader.latest({"socket": 1}, None) == {"socket": 1}
    now[0] += 2
    reader.latest({"socket": 1}, None)
    server.take()
    server.say(b"b\n")
    until(reader, 1, 2)
    assert records(reader, 0, 2) == [b"a", b"b"]


def test_nobody_listens() -> None:
    port = free_port()
    with pytest.raises(SqlExtError, match=f"127.0.0.1:{port} does not answer") as raised:
        SocketReader("127.0.0.1", port).latest({"socket": 0}, None)
    assert raised.value.code == "RUN-073"


def test_workers_get_neither_connection_nor_records(server: Server) -> None:
    reader = SocketReader("127.0.0.1", server.port, 0)
    reader.latest({"socket": 0}, None)
    sent = pickle.loads(pickle.dumps(reader))
    assert (sent.host, sent.port, sent.delimiter, sent._connection) == ("127.0.0.1", server.port, 0, None)
    (batch,) = sent.read(Lines("socket", 1, 0, (b"x",)))
    assert batch.to_pydict() == {"value": [b"x"]}
    reader.close()


@pytest.mark.parametrize(
    ("more", "code", "option"),
    [
        ({"port": "0"}, "OPT-005", "port"),
        ({"port": "70000"}, "OPT-005", "port"),
        ({"byte-delimiter": "300"}, "OPT-005", "byte-delimiter"),
        ({"format": "avro"}, "OPT-005", "format"),
        ({"format": "raw"}, "OPT-008", "format"),
        ({"hostnam": "x"}, "OPT-003", "hostnam"),
        ({"sqlext.source": "spark"}, "OPT-005", "sqlext.source"),
    ],
)
def test_options_that_are_refused(more: dict[str, str], code: str, option: str) -> None:
    definition = table({"k": STRING, "n": INT}, OPTIONS | more)
    with pytest.raises(OptionError) as raised:
        connector_of(definition).validate(definition, "source")
    assert (raised.value.code, raised.value.option) == (code, option)


@pytest.mark.parametrize("form", ["csv", "json"])
def test_formats(form: str) -> None:
    definition = table({"k": STRING, "n": INT}, OPTIONS | {"format": form, f"{form}.ignore-parse-errors": "true"})
    connector = connector_of(definition)
    connector.validate(definition, "source")
    assert [c.name for c in connector.read_spec(definition).columns] == ["k", "n"]
    assert not connector.bounded(definition)
