"""The page's server on loopback: what it says as JSON, what it refuses, that it ends."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit
from urllib.request import urlopen

import pytest
from click.testing import CliRunner

import sqlext
from sqlext import SqlExtError
from sqlext.cli.main import main
from sqlext.ui.server import UiServer, serve
from tests.kept_queries import Kept, KeptQuery, kept_query


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: str

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def ask(
    server: UiServer, path: str, method: str = "GET", headers: dict[str, str] | None = None, **query: str
) -> Answer:
    place = urlsplit(server.url)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=30)
    connection.request(method, f"{path}?{urlencode(query)}" if query else path, headers=headers or {})
    found = connection.getresponse()
    answer = Answer(found.status, {k.lower(): v for k, v in found.getheaders()}, found.read().decode())
    connection.close()
    return answer


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    kept = kept_query(tmp_path, KeptQuery("etl.per_minute", late=2), time.time_ns() // 1_000_000)
    kept.add(KeptQuery("etl.old/ü", status="stopped"))
    kept.write_rows()
    return kept


@pytest.fixture
def server(kept: Kept) -> Iterator[UiServer]:
    with serve(sqlext.connect(catalog=kept.folder), 0) as server:
        yield server


def test_the_page_and_what_it_needs(server: UiServer) -> None:
    page = ask(server, "/")
    assert page.status == 200
    needed = re.findall(r'(?:src|href)="([^"]+)"', page.body)
    assert needed
    assert {ask(server, path).status for path in needed} == {200}
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "http" not in policy
    assert page.headers["x-content-type-options"] == "nosniff"


def test_all_queries_and_one(server: UiServer) -> None:
    cards = ask(server, "/api/queries").json["queries"]
    assert [(c["name"], c["state"]) for c in cards] == [("etl.per_minute", "running"), ("etl.old/ü", "stopped")]
    view = ask(server, "/api/query", name="etl.old/ü").json
    assert view["card"]["name"] == "etl.old/ü"
    assert {"nodes", "edges", "inputs", "windows", "why", "zone"} < view.keys()


def test_history_and_rows(server: UiServer) -> None:
    history = ask(server, "/api/history", name="etl.per_minute", since=str(time.time_ns() // 1_000_000 - 60_000)).json
    assert 25 < len(history["at"]) < 40
    assert {len(column) for column in history["parts"].values()} == {len(history["at"])}
    (late,) = ask(server, "/api/lateness", name="etl.per_minute").json["inputs"]
    assert (late["input"], late["declared"], len(late["delay"])) == ("orders", 10_000, len(late["at_most"]))
    rows = ask(server, "/api/rows", name="etl.per_minute", most="3").json
    assert (rows["columns"], len(rows["rows"])) == (["item", "minute", "total"], 3)


def test_news(server: UiServer) -> None:
    place = urlsplit(server.url)
    with socket.create_connection((place.hostname, place.port or 0), timeout=30) as connection:
        connection.sendall(f"GET /api/events?name=etl.per_minute HTTP/1.1\r\nHost: {place.netloc}\r\n\r\n".encode())
        said = ""
        while said.count("event: query\n") < 2:  # the lag grows, so there is something new each second
            said += connection.recv(1 << 16).decode()
    assert "content-type: text/event-stream" in said
    assert "event: queries" in said


def test_a_query_that_nobody_knows(server: UiServer) -> None:
    answer = ask(server, "/api/query", name="etl.per_minut")
    assert answer.status == 404
    hint = "did you mean `etl.per_minute`?"
    assert answer.json["error"] == {"code": "CAT-002", "message": "there is no query `etl.per_minut`", "hint": hint}
    assert ask(server, "/api/query").json["error"]["code"] == "UI-003"


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({}, 403, "UI-002"),
        ({"X-Sqlext-Token": "guessed"}, 403, "UI-002"),
        ({"X-Sqlext-Token": "TOKEN", "Origin": "http://evil.example"}, 403, "UI-001"),
        ({"X-Sqlext-Token": "TOKEN", "Sec-Fetch-Site": "cross-site"}, 403, "UI-001"),
        ({"X-Sqlext-Token": "TOKEN", "Host": "evil.example"}, 403, "UI-001"),
        ({"X-Sqlext-Token": "TOKEN"}, 202, None),
    ],
)
def test_who_may_stop_a_query(
    server: UiServer, kept: Kept, headers: dict[str, str], status: int, code: str | None
) -> None:
    given = {k: v.replace("TOKEN", server.token) for k, v in headers.items()}
    answer = ask(server, "/api/stop", "POST", given, name="etl.per_minute")
    assert answer.status == status
    assert code is None or answer.json["error"]["code"] == code
    assert len(list(kept.folder.glob("queries/*/progress/stop"))) == (status == 202)


def test_nothing_is_read_under_a_foreign_name(server: UiServer) -> None:
    """A page elsewhere lets its name point to this machine (DNS rebinding)."""
    for path in ("/", "/api/queries", "/static/app.js"):
        assert ask(server, path, headers={"Host": "evil.example:80"}).status == 403
    assert ask(server, "/api/queries", headers={"Host": "localhost:1"}).status == 200


def test_a_get_stops_nothing(server: UiServer) -> None:
    assert ask(server, "/api/stop", headers={"X-Sqlext-Token": server.token}, name="etl.per_minute").status == 405


def test_a_query_that_does_not_run_cannot_be_stopped(server: UiServer) -> None:
    answer = ask(server, "/api/stop", "POST", {"X-Sqlext-Token": server.token}, name="etl.old/ü")
    assert (answer.status, answer.json["error"]["code"]) == (400, "RUN-025")


def test_no_file_beside_the_page_is_served(server: UiServer) -> None:
    assert ask(server, "/static/../app.py").status == 404
    assert ask(server, "/static/%2e%2e/app.py").status == 404


def test_a_port_that_is_taken(server: UiServer, kept: Kept) -> None:
    port = urlsplit(server.url).port or 0
    with pytest.raises(SqlExtError) as caught:
        serve(sqlext.connect(catalog=kept.folder), port)
    assert caught.value.code == "ENV-012"
    result = CliRunner().invoke(main, ["ui", "--catalog", str(kept.folder), "--listen", str(port)])
    assert (result.exit_code, "ENV-012" in result.output) == (1, True)


def test_it_ends_while_a_page_listens(kept: Kept) -> None:
    server = serve(sqlext.connect(catalog=kept.folder), 0)
    place = urlsplit(server.url)
    with socket.create_connection((place.hostname, place.port or 0), timeout=30) as connection:
        connection.sendall(f"GET /api/events HTTP/1.1\r\nHost: {place.netloc}\r\n\r\n".encode())
        assert connection.recv(16)
        server.close()
        server.close()
        while connection.recv(1 << 16):
            pass
    assert not server._thread.is_alive()


@pytest.mark.parametrize(("options", "shown"), [((), False), (("--unrestricted",), True)])
def test_the_command_shows_rows_of_its_folder_alone(kept: Kept, options: tuple[str, ...], shown: bool) -> None:
    elsewhere = kept.folder / "in"
    elsewhere.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "sqlext.cli.main", "ui", "--catalog", str(kept.folder), "--listen", "0", *options]
    with subprocess.Popen(command, cwd=elsewhere, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().removeprefix("page: ").strip()
        with urlopen(f"{url}api/rows?name=etl.per_minute", timeout=30) as answer:
            found = json.load(answer)
        process.send_signal(signal.SIGINT)
    assert bool(found["rows"]) is shown
    assert shown or "RESTRICT-002" in found["why"]
