"""Servers that say the login that they were given, in ways of their own: no error of ours tells it again."""

from __future__ import annotations

import json
import threading
import warnings
from base64 import b64decode, b64encode, urlsafe_b64encode
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest

import sqlext
from sqlext import remembered
from sqlext.connectors.formats.avro_confluent import registry_settings
from sqlext.connectors.formats.schema_registry import schema_text
from sqlext.connectors.search.sink import Server
from sqlext.errors import SqlExtError
from sqlext_catalog.secrets import resolve_options

SECRET = "c4n4ry/p'w?7 x"


def told(login: str) -> list[str]:
    """Return ways in which a server may say a login, ``user:password``."""
    password = login.partition(":")[2]
    each = "".join(f"%{byte:02x}" for byte in password.encode())
    ways = [password, quote(password), quote_plus(password), each, each.upper(), quote(each)]
    ways += [json.dumps(password), password.replace("'", "''"), f"x{password}y"]
    return ways + [code(f"{text}".encode()).decode() for text in (login, password) for code in _CODES]


_CODES = (b64encode, urlsafe_b64encode)


class _Quotes(BaseHTTPRequestHandler):
    way = 0

    def _answer(self) -> None:
        login = b64decode(self.headers.get("Authorization", "").partition(" ")[2]).decode()
        said = json.dumps(
            {"error": f"<{told(login)[self.way]}> may not", "error_code": 40101, "message": login}
        ).encode()
        self.send_response(401)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    do_GET = do_POST = do_HEAD = _answer  # noqa: N815 - names that http.server calls

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(remembered, "_remembered", set())
    remembered._written.cache_clear()
    made = ThreadingHTTPServer(("127.0.0.1", 0), _Quotes)
    threading.Thread(target=made.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{made.server_port}"
    made.shutdown()
    made.server_close()
    remembered._written.cache_clear()


@pytest.mark.parametrize("kept", ["literal", "variable"])
@pytest.mark.parametrize("way", range(len(told(f"me:{SECRET}"))))
@pytest.mark.parametrize("asked", ["search", "registry"])
def test_what_it_says(
    server: str, asked: str, way: int, kept: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_Quotes, "way", way)
    monkeypatch.setenv("SHOP", f"me:{SECRET}" if asked == "registry" else SECRET)
    login = {"search": SECRET.replace("'", "''"), "registry": f"me:{SECRET}".replace("'", "''")}[asked]
    login = "env:SHOP" if kept == "variable" else login
    options = {
        "search": f"'connector' = 'opensearch', 'hosts' = '{server}', 'index' = 'i', 'username' = 'me',"
        f" 'password' = '{login}'",
        "registry": f"'connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'h:1',"
        f" 'format' = 'avro-confluent', 'avro-confluent.url' = '{server}',"
        f" 'avro-confluent.basic-auth.credentials-source' = 'USER_INFO',"
        f" 'avro-confluent.basic-auth.user-info' = '{login}'",
    }[asked]
    session = sqlext.connect(catalog=tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session.run(f"CREATE TABLE t (k STRING) WITH ({options});")
    table = session.catalog.lookup(["t"])
    stated = dict(getattr(table, "options", ()))
    settings = tuple(stated.items()) if asked == "search" else registry_settings(stated)
    resolved = tuple(sorted(resolve_options(settings).items()))
    with pytest.raises(SqlExtError) as failed:
        Server(resolved).check() if asked == "search" else schema_text(resolved, 1)
    said = failed.value
    shown = f"{said.render()}\n{said!r}\n{said.args}"
    assert "******" in shown  # the server's answer is in it
    assert not [text for text in told(f"me:{SECRET}") if text in shown]
