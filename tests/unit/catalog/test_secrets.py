"""A secret is stored nowhere and shown nowhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from sqlext.errors import SqlExtError
from sqlext.secrets import HIDDEN, is_secret, masked, redact, redact_options, redact_text, redact_value
from sqlext.source import SourceText
from sqlext_catalog import ddl, information_schema
from sqlext_catalog.diff import diff
from sqlext_catalog.model import Catalog, Database, ObjectName, QueryRecord, Table, View
from sqlext_catalog.properties import to_properties
from sqlext_catalog.secrets import require_secrets, resolve_options, resolve_secret
from sqlext_catalog.session_catalog import SessionCatalog
from sqlext_catalog.snapshot import Put
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
    "headers.Authorization",
    "db.pwd",
    "pass",
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
    assert redact_options(f"WITH ('a' = 'b', 'pass''word' = 'it''s', 'password'='{CANARY}')", "flink") == (
        f"WITH ('a' = 'b', 'pass''word' = 'it''s', 'password'='{HIDDEN}')"
    )


FORMS = [
    "jdbc:postgresql://h/d?user=me&password={}&ssl=true",
    "jdbc:sqlserver://h;user=me;password={};encrypt=true",
    "jdbc:oracle:thin:scott/{}@h:1521/x",
    "mongodb://me:{}@h:1/d",
    "amqp://me:p@{}@h:1/d",
    "redis://:{}@h",
    "https://h/f.csv?sv=1&sig={}&se=2",
    "https://h/f.csv?X-Amz-Signature={}",
    "https://h/?access_token={}",
    "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={}==;EndpointSuffix=x",
    'org.apache.kafka.ScramLoginModule required username="me" password="{}";',
    "LoginModule required username=''me'' password=''{}'';",
    "a=b, client.secret='{}'",
    '{{"user": "me", "password": "{}"}}',
    "Authorization: Basic {}",
    "X-Any: Bearer {}12345678",
    "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----",
]


@pytest.mark.parametrize("form", FORMS)
def test_a_secret_is_known_by_its_form(form: str) -> None:
    value = form.format(CANARY)
    for shown in (redact_value("url", value), redact_text(f"WITH ('x' = '{value}')"), str(SqlExtError("X-1", value))):
        assert CANARY not in shown
        assert HIDDEN in shown
    assert redact_value("url", redact_value("url", value)) == redact_value("url", value)


STATEMENTS = [
    "WITH ('password' = '{}', 'x' = 'y')",
    "WITH ('password'\n=\n'{}')",
    "WITH ('password' = '{}",
    "WITH ('password = '{}')",
    "WITH ('password' '{}')",
    "WITH ('password' = 'it''s {}')",
    r"WITH ('password' = 'it\'s {}')",
    'WITH ("password" = "{}")',
    "OPTIONS (url 'x', password '{}')",
    "OPTIONS (`password` => '{}')",
    "SET 'a.password' = '{}'",
    "SET a.password = {};",
    "-- don't\nSET a.password={};",
    "WITH ('password' = 'a' '{}')",
    "WITH ('password' = N'{}')",
]


@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_secret_is_found_in_any_text(statement: str) -> None:
    text = statement.format(CANARY)
    assert CANARY not in redact_text(text)
    assert CANARY not in masked(text)
    assert len(masked(text)) == len(text)
    assert masked(text).count("\n") == text.count("\n")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT a.token = b.token, password FROM t WHERE secret IS NULL",
        "WITH ('password' = 'env:PW', 'token' = 'file:/run/x', 'secret' = '${PW}')",
        "WITH ('properties.sasl.oauthbearer.token.endpoint.url' = 'https://h/x')",
        "WITH ('url' = 'jdbc:postgresql://h:5432/d?user=me', 'path' = 's3://bucket/a@b')",
        "SELECT * FROM t -- basic authentication, bearer of tokens",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact_text(text) == text
    assert masked(text) == text


@pytest.mark.parametrize(
    "text", ["'", "password ' ", "://a:", "password='", "a", "sig=''", "password", "Basic ", "-----BEGIN "]
)
def test_a_long_text_takes_no_longer_than_it_is_long(text: str) -> None:
    assert len(masked(text * (200_000 // len(text)))) <= 200_000  # squared, it would not end


def test_an_error_shows_stars_below_its_caret() -> None:
    text = f"WITH ('password' = '{CANARY}', 'x' = !)"
    source = SourceText.of(text)
    at = text.index("!")
    error = SqlExtError("X-1", f"no '{CANARY}' here", span=source.span(at, at + 1), hint=f"not {CANARY}")
    message, line, caret, hint = error.render().splitlines()
    assert (message, hint) == (f"<sql>:1:{at + 1}: X-1: no '{HIDDEN}' here", f"hint: not {HIDDEN}")
    assert line == f"  WITH ('password' = '{'*' * len(CANARY)}', 'x' = !)"
    assert line[caret.index("^")] == "!"


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
def test_a_store_refuses_a_literal_secret(item: Table, store: CatalogStore) -> None:
    with pytest.raises(SqlExtError) as caught:
        store.commit(lambda snapshot: [Put(item)], "PUT")
    assert caught.value.code == "OPT-090"
    assert "env:NAME" in (caught.value.hint or "")
    assert CANARY not in caught.value.render() + repr(caught.value)
    assert not store.directory.exists()


@pytest.mark.parametrize("item", STORED, ids=lambda item: type(item).__name__)
def test_a_session_stores_stars(item: Table, store: CatalogStore) -> None:
    session = SessionCatalog(store)
    session.apply([Put(item)], "PUT")
    assert CANARY not in repr(store.snapshot().objects())
    assert HIDDEN in repr([asdict(o) for o in store.snapshot().objects()])
    assert not any(CANARY.encode() in f.read_bytes() for f in store.directory.rglob("*") if f.is_file())


def test_only_the_session_that_was_given_a_secret_has_it(store: CatalogStore, make_table: Callable[..., Table]) -> None:
    table = make_table("t", options=(("url", f"jdbc:x://h/d?user=me&password={CANARY}"), *LITERAL))
    session, other = SessionCatalog(store), SessionCatalog(CatalogStore(store.directory))
    session.apply(ddl.create(table), "CREATE")
    assert session.lookup(["t"]) == table
    assert session.fork().lookup(["t"]) == table
    stars = (("url", f"jdbc:x://h/d?user=me&password={HIDDEN}"), ("password", HIDDEN))
    assert other.lookup(["t"]) == replace(table, options=stars)
    other.give(table)
    assert other.lookup(["t"]) == table


def test_the_same_definition_again_gives_its_secrets(store: CatalogStore, make_table: Callable[..., Table]) -> None:
    old, new = (make_table("t", options=(("password", CANARY + part), ("path", "/x"))) for part in ("old", "new"))
    assert diff(old, new) == []
    session = SessionCatalog(store)
    session.apply(ddl.create(old), "CREATE")
    session.give(new, anew=False)
    assert session.lookup(["t"]) == old
    session.give(new)
    assert session.lookup(["t"]) == new
    assert session.snapshot().version == 0


def test_what_others_change_counts(store: CatalogStore, make_table: Callable[..., Table]) -> None:
    table = make_table("t", options=(*LITERAL, ("token", CANARY)))
    session, other = SessionCatalog(store), SessionCatalog(CatalogStore(store.directory))
    session.apply(ddl.create(table), "CREATE")
    other.apply(ddl.set_options(table.name, {"token": "env:T", "topic": "x"}), "ALTER")
    found = session.lookup(["t"])
    assert isinstance(found, Table)
    assert found.options == (*LITERAL, ("token", "env:T"), ("topic", "x"))
    other.apply(ddl.drop_table(table.name), "DROP")
    assert session.lookup(["t"]) is None


def test_alterations_keep_the_secret(store: CatalogStore, make_table: Callable[..., Table]) -> None:
    table = make_table("t", options=LITERAL)
    session = SessionCatalog(store)
    session.apply(ddl.create(table), "CREATE")
    session.apply(ddl.set_options(table.name, {"topic": "x"}), "ALTER")
    session.apply(ddl.rename(table.name, name("u")), "RENAME")
    assert session.lookup(["t"]) is None
    found = session.lookup(["u"])
    assert isinstance(found, Table)
    assert found.options == (*LITERAL, ("topic", "x"))
    session.apply(ddl.drop_table(name("u")), "DROP")
    session.apply(ddl.create(make_table("u", options=(("password", HIDDEN),))), "CREATE")
    again = session.lookup(["u"])
    assert isinstance(again, Table)
    assert again.options == (("password", HIDDEN),)


def test_it_is_told_once(store: CatalogStore, make_table: Callable[..., Table]) -> None:
    session = SessionCatalog(store)
    session.apply(ddl.create(make_table("t", options=(*LITERAL, ("path", "/x")))), "CREATE")
    assert session.untold() == {"default_catalog.default_database.t": ("password",)}
    session.apply(ddl.set_options(name("t"), {"topic": "x"}), "ALTER")
    assert session.untold() == {}
    memory = SessionCatalog()
    memory.apply(ddl.create(make_table("t", options=LITERAL)), "CREATE")
    assert memory.untold() == {}


def test_a_missing_secret_is_refused() -> None:
    require_secrets([("password", "env:X"), ("path", "/a"), ("fields.a.expression", HIDDEN)], "t")
    with pytest.raises(SqlExtError, match="option 'password' of table `t`") as caught:
        require_secrets([("password", HIDDEN)], "t")
    hint = caught.value.hint or ""
    assert caught.value.code == "OPT-093"
    assert all(way in hint for way in ("'env:NAME'", "'file:/path/to/secret'", "CREATE TABLE")), hint
    with pytest.raises(SqlExtError, match="option 'url'"):
        require_secrets([("url", f"jdbc:x://h?password={HIDDEN}")], "t")


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
