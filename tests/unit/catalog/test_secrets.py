"""A secret is stored nowhere and shown nowhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sqlext.errors import SqlExtError
from sqlext_catalog import ddl, information_schema
from sqlext_catalog.diff import diff
from sqlext_catalog.model import Catalog, Database, ObjectName, QueryRecord, Table, View
from sqlext_catalog.properties import to_properties
from sqlext_catalog.secrets import HIDDEN, is_secret, redact, redact_text, resolve_options, resolve_secret
from sqlext_catalog.session_catalog import SessionCatalog
from sqlext_catalog.store import CatalogStore

CANARY = "c4n4ry-hunter2"

SECRETS = [
    "password",
    "PASSWORD",
    "connection.password",
    "properties.sasl.jaas.config",
    "properties.ssl.keystore.password",
    "properties.ssl.truststore.password",
    "properties.ssl.key.password",
    "fs.s3a.access.key",
    "fs.s3a.secret.key",
    "s3.access-key",
    "fs.azure.account.key.x.dfs.core.windows.net",
    "azure.sas.key",
    "my.api.key",
    "apikey",
    "api-key",
    "auth-params",
    "service-key",
    "token",
    "oauth.client.secret",
    "basic-auth",
    "http-headers",
    "credentials",
    "properties.schema.registry.basic.auth.user.info",
    "connectionString",
    "private_key",
]
PLAIN = [
    "path",
    "connector",
    "format",
    "topic",
    "key.format",
    "key.fields",
    "properties.bootstrap.servers",
    "properties.group.id",
    "properties.sasl.mechanism",
    "properties.sasl.oauthbearer.token.endpoint.url",
    "properties.ssl.keystore.location",
    "fs.s3a.aws.credentials.provider",
    "fields.password.length",
    "fields.token.kind",
    "csv.field-delimiter",
    "scan.startup.mode",
    "primary-key",
]


@pytest.mark.parametrize("key", SECRETS)
def test_secret_keys(key: str) -> None:
    assert is_secret(key)


@pytest.mark.parametrize("key", PLAIN)
def test_plain_keys(key: str) -> None:
    assert not is_secret(key)


def test_redaction_hides_literals_and_shows_references() -> None:
    options = (("path", "/x"), ("password", CANARY), ("token", "env:TOKEN"), ("url", f"jdbc://me:{CANARY}@host/db"))
    assert redact(options) == (
        ("path", "/x"),
        ("password", HIDDEN),
        ("token", "env:TOKEN"),
        ("url", f"jdbc://{HIDDEN}@host/db"),
    )
    assert redact(dict(options)) == redact(options)
    assert redact_text(f"WITH ('a' = 'b', 'pass''word' = 'it''s', 'password'='{CANARY}')") == (
        f"WITH ('a' = 'b', 'pass''word' = 'it''s', 'password'='{HIDDEN}')"
    )


def name(text: str) -> ObjectName:
    return ObjectName("default_catalog", "default_database", text)


LITERAL = (("password", CANARY),)
STORED = [
    Table(name("t"), (), options=LITERAL),
    Table(name("t"), (), options=(("url", f"http://u:{CANARY}@h"),)),
    View(name("v"), (), f"SELECT * FROM t /*+ OPTIONS('password'='{CANARY}') */"),
    Database(ObjectName("default_catalog", "d", ""), options=LITERAL),
    Catalog("c", options=LITERAL),
    QueryRecord("q", "", (), None, "", "", "", details=LITERAL),
]


@pytest.mark.parametrize("item", STORED, ids=lambda item: type(item).__name__)
def test_a_literal_secret_is_not_stored(item: Table, store: CatalogStore) -> None:
    from sqlext_catalog.snapshot import Put

    with pytest.raises(SqlExtError) as caught:
        SessionCatalog(store).apply([Put(item)], "PUT")
    assert caught.value.code == "OPT-090"
    assert "env:NAME" in (caught.value.hint or "")
    assert CANARY not in caught.value.render() + repr(caught.value)
    assert not store.directory.exists()


def test_a_temporary_table_holds_it_and_nothing_shows_it(make_table: Callable[..., Table]) -> None:
    session = SessionCatalog()
    table = make_table("t", temporary=True, options=LITERAL)
    session.apply(ddl.create(table), "CREATE")
    found = session.lookup(["t"])
    assert isinstance(found, Table)
    assert found.option("password") == CANARY
    shown = [repr(found), str(found), f"{found}", repr([found]), str(to_properties(found))]
    shown += [str(information_schema.system_view(v, session.snapshot())) for v in information_schema.NAMES]
    shown += diff(found, replace(found, options=(("password", CANARY + "2"),)))
    assert CANARY not in "".join(shown)


def test_references_are_stored(store: CatalogStore, make_table: Callable[..., Table]) -> None:
    table = make_table("t", options=(("password", "env:PW"), ("token", "file:/run/token")))
    store.commit(ddl.create(table), "CREATE")
    assert store.snapshot().get(table.name) == table


def test_references_are_resolved_late(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SQLEXT_TEST_PW", CANARY)
    monkeypatch.delenv("SQLEXT_TEST_NONE", raising=False)
    (tmp_path / "pw").write_text(CANARY + "\n")
    assert resolve_secret("env:SQLEXT_TEST_PW") == CANARY
    assert resolve_secret(f"file:{tmp_path / 'pw'}") == CANARY
    assert resolve_secret("plain") == "plain"
    options = (("password", "env:SQLEXT_TEST_PW"), ("path", "file:/data"))
    assert resolve_options(options) == {"password": CANARY, "path": "file:/data"}
    for missing in ("env:SQLEXT_TEST_NONE", f"file:{tmp_path / 'none'}", f"file:{tmp_path}"):
        with pytest.raises(SqlExtError) as caught:
            resolve_secret(missing)
        assert caught.value.code == "OPT-091"
