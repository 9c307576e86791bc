"""Secrets of all forms are planted in scripts: nothing that is written or shown has one. No Spark is started."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

import sqlext
from sqlext.errors import SqlExtError
from sqlext.secrets import redact_text, redact_value
from sqlext.session.needed_secrets import SecretNotice
from sqlext_catalog.store import CatalogStore

KAFKA = "'connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'h:1', 'format' = 'json'"
#: Options of a table; {} is the secret.
PLANTED = [
    "'properties.password' = '{}'",
    "'properties.PASSWORD' = '{}'",
    "'properties.ssl.keystore.password' = '{}'",
    "'properties.ssl.key.password' = 'it''s {}'",
    "'properties.passphrase' = '{}'",
    "'properties.pwd' = '{}'",
    "'properties.secret' = '{}'",
    "'properties.fs.s3a.secret.key' = '{}'",
    "'properties.fs.s3a.access.key' = '{}'",
    "'properties.oauth.client.secret' = '{}'",
    "'properties.token' = '{}'",
    "'properties.fs.azure.account.key.x.dfs.core.windows.net' = '{}=='",
    "'properties.api-key' = '{}'",
    "'properties.service_key' = '{}'",
    "'properties.private.key' = '{}'",
    "'properties.sas.key' = '{}'",
    "'properties.credentials' = '{}'",
    "'properties.basic-auth' = 'me:{}'",
    "'properties.schema.registry.basic.auth.user.info' = 'me:{}'",
    "'properties.connection-string' = 'Endpoint=sb://h/;SharedAccessKey={}='",
    "'properties.http.headers' = 'X-Key: {}'",
    "'properties.header.Authorization' = 'Basic {}'",
    "'properties.cookie' = '{}'",
    "'properties.sasl.jaas.config' = 'ScramLoginModule required username=\"me\" password=\"{}\";'",
    "'properties.ssl.keystore.key' = '-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----'",
    "'properties.note' = '-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----'",
    "'properties.note' = 'jdbc:postgresql://h/d?user=me&password={}&ssl=true'",
    "'properties.note' = 'jdbc:sqlserver://h;user=me;password={};encrypt=true'",
    "'properties.note' = 'jdbc:oracle:thin:scott/{}@h:1521/x'",
    "'properties.note' = 'mongodb://me:{}@h:1/d'",
    "'properties.note' = 'amqp://me:p@{}@h:1/d'",
    "'properties.note' = 'redis://:{}@h'",
    "'properties.note' = 'https://h/f.csv?sv=1&sig={}&se=2'",
    "'properties.note' = 'https://h/f.csv?X-Amz-Signature={}'",
    "'properties.note' = 'https://h/?access_token={}'",
    "'properties.note' = 'AccountName=a;AccountKey={}=='",
    "'properties.note' = 'a=b, client.secret=\"{}\"'",
    "'properties.note' = 'LoginModule required username=''me'' password=''{}'';'",
    '\'properties.note\' = \'{{"user": "me", "password": "{}"}}\'',
    "'properties.note' = 'Authorization: Basic {}'",
    "'properties.note' = 'X-Any: Bearer {}'",
    "'properties.note' = 'AKIA{}'",
    "'properties.note' = 'use ghp_{} here'",
    "'properties.note' = 'github_pat_{}'",
    "'properties.note' = 'glpat-{}'",
    "'properties.note' = 'eyJhbGciOi.{}.sig-nature'",
    "'properties.note' = 'sk-{}'",
    "'properties.note' = 'sk_live_{}'",
    "'properties.note' = 'sk-proj-x1-{}'",
    "'properties.note' = 'xoxb-1-{}'",
    "'properties.note' = 'https://hooks.slack.com/services/T1/B1/{}'",
    "'properties.note' = 'AIza{}0123456789'",
    "'properties.note' = 'ya29.{}'",
    "'properties.note' = 'https://ghp_{}@github.com/x.git'",
    "'properties.note' = 'https://me%3A{}@h/x'",
    "'properties.note' = 'https://me:%70{}%40@h/x'",
    "'properties.note' = 'HTTPS://:{}@h/x'",
    "'properties.note' = 'jdbc:sqlserver://h;Password={}'",
    "'properties.note' = 'jdbc:mysql://h/d?user=me&amp;password={}'",
    "'properties.note' = 'jdbc:db2://h:1/d:user=me;password={};'",
    "'properties.note' = 'jdbc:mysql://address=(host=h)(user=me)(password={})/d'",
    "'properties.note' = 'curl -H \"X-Api-Key: {}\" h'",
    "'properties.note' = '{{\\\"token\\\": \\\"{}\\\"}}'",
    "'properties.note' = 'token: {}'",
    "'properties.note' = 'https://h/{{\"password\":\"{}\"}}'",
    "'properties.note' = 'https://h/?q=%22password%22%3A%22{}%22'",
    "'properties.note' = 'password%3D{}'",
    "'properties.headers' = 'Authorization:Token {}'",
    "'properties.note' = 'Cookie: session={}'",
    "'properties.note' = 'Set-Cookie: sid={}; HttpOnly'",
    "'properties.note' = 'SharedAccessSignature sr=h&sig={}&se=1'",
    "'properties.note' = 's3a://AKIAABCDEFGHIJKLMNOP:{}@bucket/x'",
    "'properties.note' = 'aws_secret_access_key = {}'",
    "'properties.note' = '-----BEGIN PGP PRIVATE KEY BLOCK-----\n{}\n-----END PGP PRIVATE KEY BLOCK-----'",
    "'properties.note' = 'curl -u me:{} https://h'",
    "'properties.note' = 'mysql --password {} -h h'",
    "'properties.note' = 'CREATE USER x IDENTIFIED BY ''{}'''",
    "'properties.note' = 'ALTER USER x WITH PASSWORD ''{}'''",
    "'properties.note' = 'x-functions-key: {}'",
    "'properties.note' = 'Ocp-Apim-Subscription-Key: {}'",
    "'properties.note' = 'https://h/api?code={}'",
    "'properties.note' = 'https://h/x?a=b&key={}'",
    "'properties.note' = 'https://discord.com/api/webhooks/123/{}'",
    "'properties.note' = 'https://api.telegram.org/bot123456789:AA{}/send'",
    "'properties.note' = 'jdbc:oracle:thin:me/\"{}\"@h:1/x'",
    "'properties.note' = 'Authorization: Digest username=\"me\", response=\"{}\"'",
    "'properties.note' = 'refresh_token={}'",
    "'properties.note' = 'password => ''{}'''",
    "'properties.note' = '<conf><Password>{}</Password></conf>'",
    "'properties.note' = 'https%3A%2F%2Fme%3A{}%40h'",
    "'properties.note' = 'https:\\/\\/me:{}@h'",
    "'properties.note' = 'shpat_{}'",
    "'properties.note' = 'hvs.{}'",
    "'properties.note' = 'glsa_{}'",
    "'properties.note' = 'AGE-SECRET-KEY-1{}'",
    "'properties.note' = 'xapp-1-A1-{}'",
    "'properties.note' = 'PlainLoginModule required\n  username=''me''\n  password=''{}'';'",
    "'properties.refresh_token' = '{}'",
]
#: What may be wrong with a statement, before its secret, behind it, or at it.
BROKEN = [
    "CREATE TABEL t (a INT) WITH ({});",
    "CREATE TABLE t (a NOTYPE) WITH ({});",
    "CREATE TABLE t (a INT, a INT) WITH ({});",
    "CREATE TABLE t (a INT) WITH ({}, 'x' 'y');",
    "CREATE TABLE t (a INT) WITH ({} {});",
    "CREATE TABLE t (a INT) WITH ({}",
    "CREATE TABLE t (a INT) WITH ({}) LIKE nosuch;",
    "ALTER TABLE nosuch SET ({});",
    "SELECT * FROM nosuch /*+ OPTIONS({}) */;",
    "SET {} = ;",
]


def secret(number: int) -> str:
    """Return what is looked for, and must not be found."""
    return f"c4n4ry{number:02}0123456789abcdef"


def options() -> Iterator[tuple[int, str]]:
    """Yield the options with their numbers."""
    for number, option in enumerate(PLANTED):
        yield number, option.format(secret(number))


def script() -> str:
    """Return a script in which each secret stands in a table, most also in a view, a setting and a query."""
    tables = [f"CREATE TABLE t{n} (a INT) WITH ({KAFKA}, {option});" for n, option in options()]
    hints = [f"CREATE VIEW v{n} AS SELECT a FROM t{n} /*+ OPTIONS({option}) */;" for n, option in options()]
    altered = [
        f"CREATE TABLE u{n} LIKE t{n}; ALTER TABLE u{n} SET ({option}, 'properties.client.id' = 'y');"
        for n, option in list(options())[::8]
    ]
    settings = [f"SET {option};" for _, option in options()]
    named = [
        f"CREATE DATABASE d WITH ({options_of(0)});",
        f"CREATE CATALOG c WITH ('type' = 'generic_in_memory', {options_of(1)});",
    ]
    return "\n".join(["SET 'sqlext.expressions' = 'flink';", *tables, *hints, *altered, *settings, *named])


def options_of(number: int) -> str:
    """Return one of the options."""
    return dict(options())[number]


def found_in(text: str) -> list[str]:
    """Return the secrets that a text shows."""
    return [secret(n) for n in range(len(PLANTED)) if secret(n) in text]


def files(folder: Path) -> Iterator[str]:
    """Yield what lies in a folder, as text."""
    return (f.read_bytes().decode("latin-1") for f in folder.rglob("*") if f.is_file())


def test_no_secret_is_stored_or_shown(tmp_path: Path) -> None:
    assert len(PLANTED) >= 40
    place = tmp_path / "catalog"
    session = sqlext.connect(catalog=place)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        results = session.run(script())
    told = [w for w in warned if w.category is SecretNotice]
    assert len(told) == 2 * len(PLANTED) + len(PLANTED[::8]) + 1  # tables, views, copies, and the catalog
    shows = [f"SHOW CREATE TABLE t{n}; SHOW CREATE VIEW v{n};" for n, _ in options()]
    shows += [f"SHOW CREATE TABLE u{n};" for n in range(0, len(PLANTED), 8)]
    shows += ["DESCRIBE t0;", "SHOW TABLES;", "SET;", "EXPLAIN SELECT a FROM v0;"]
    shows += [f"SET '{option.split(chr(39))[1]}';" for option in PLANTED]
    results += session.run("\n".join(shows))
    told = [str(w.message) for w in warned] + [n for r in results for n in r.notices]
    rows = [repr((r.statement, r.columns, r.rows)) for r in results]
    query = "CREATE TEMPORARY TABLE b (a INT) WITH ('connector' = 'print');\nINSERT INTO b SELECT a FROM {};"
    queries = [query.format(f"{kind}{n}") for n, _ in options() for kind in "tv"]
    plans = [plan for text in queries[::4] for plan in session.explain(text)]
    targets = ("spark", "spark-sql", "pipelines")
    texts = [session.rewrite(text, target=targets[n % 3]) for n, text in enumerate(queries)]
    stored = [repr(asdict(o)) for o in CatalogStore(place).snapshot() if hasattr(o, "__dataclass_fields__")]
    held = [repr(session.catalog.snapshot().objects()), repr(session.catalog.history())]
    for shown in (told, rows, plans, texts, stored, held, files(tmp_path)):
        assert found_in("\n".join(shown)) == []
    # The session itself has them.
    known = repr([asdict(o) for o in session.catalog.snapshot() if hasattr(o, "__dataclass_fields__")])
    assert len(found_in(known)) == len(PLANTED)


@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize("mode", ["spark", "flink"])
def test_no_error_shows_one(broken: str, mode: str) -> None:
    session = sqlext.connect()
    session.run(f"SET 'sqlext.expressions' = '{mode}'")
    for number, option in options():
        errors = session.check(broken.replace("{}", option))
        shown = "\n".join(f"{e.render()}\n{e!r}\n{e.args}" for e in errors)
        assert found_in(shown) == [], (number, option, shown)


def test_a_later_session_is_told_how_to_give_it(tmp_path: Path) -> None:
    table = f"CREATE TABLE t (a INT) WITH ({KAFKA}, 'properties.password' = '{secret(0)}');"
    sink = "CREATE TEMPORARY TABLE b (a INT) WITH ('connector' = 'print');"
    read, write = f"{sink}\nINSERT INTO b SELECT a FROM t;", "INSERT INTO t VALUES (1);"
    first = sqlext.connect(catalog=tmp_path)
    with pytest.warns(SecretNotice, match=r"'properties\.password'"):
        first.run(table)
    assert first.check(read) == first.check(write) == []
    later = sqlext.connect(catalog=tmp_path)
    for text in (read, write, "SELECT a FROM t;"):
        (error,) = later.check(text)
        assert error.code == "OPT-093"
        assert error.line is not None
        assert "properties.password" in error.message
    # A definition, an explanation and another tool need none.
    assert later.check("CREATE VIEW v AS SELECT a FROM t; EXPLAIN SELECT a FROM v; DESCRIBE t;") == []
    assert later.check(f"{table}\n{read}") == []
    assert later.check(f"ALTER TABLE t SET ('properties.password' = 'env:X');\n{read}") == []
    hinted = read.replace("FROM t", f"FROM t /*+ OPTIONS('properties.password' = '{secret(1)}') */")
    assert later.check(hinted) == []
    assert later.check(table.replace(secret(0), "another")) == []  # a password may change
    with pytest.warns(SecretNotice):
        later.run(table)
    assert later.check(read) == []
    with pytest.raises(SqlExtError, match=r"CAT-003|another definition"):
        later.run(table.replace("'t'", "'other'"))


def test_if_not_exists_gives_what_is_missing_alone(tmp_path: Path) -> None:
    def table(value: str) -> str:
        return f"CREATE TABLE IF NOT EXISTS t (a INT) WITH ({KAFKA}, 'properties.password' = '{value}');"

    def known(session: sqlext.Session) -> str:
        found = session.catalog.lookup(["t"])
        return str(asdict(found)["options"]) if found is not None else ""

    first, later = sqlext.connect(catalog=tmp_path), sqlext.connect(catalog=tmp_path)
    with pytest.warns(SecretNotice):
        first.run(table(secret(0)))
    with pytest.warns(SecretNotice):
        later.run(table(secret(1)))
    first.run(table(secret(2)))
    assert secret(0) in known(first)
    assert secret(1) in known(later)


def test_comments_and_what_a_query_compares_with(tmp_path: Path) -> None:
    """Text of a query is data, and kept; what is shown of its plan has no secret by form."""
    session = sqlext.connect(catalog=tmp_path)
    hidden, note = secret(0), f"use ghp_{secret(0)}, password={secret(0)}"
    results = session.run(
        f"CREATE TABLE t (k STRING COMMENT '{note}', o ROW<a INT '{note}'>) COMMENT '{note}' WITH ({KAFKA});"
        f"CREATE VIEW w COMMENT '{note}' AS SELECT k FROM t;"
        f"CREATE CATALOG c COMMENT '{note}' WITH ('type' = 'generic_in_memory');"
        "SHOW CREATE TABLE t; SHOW CREATE VIEW w; SHOW CREATE CATALOG c; DESCRIBE t;"
        f"-- {note}\nEXPLAIN SELECT k /* {note} */ FROM t WHERE k = 'sk-{hidden}' OR k = 'password={hidden}';"
    )
    plans = [
        session.explain(f"SELECT k FROM t WHERE k <> 'eyJhbGciOi.{hidden}.x';", format=f) for f in ("text", "json")
    ]
    assert hidden not in repr([(r.statement, r.columns, r.rows, r.notices) for r in results])
    assert hidden not in repr(plans)
    assert hidden not in "".join(files(tmp_path))


@pytest.mark.parametrize(
    "text",
    [
        "column token: VARCHAR(2147483647)",
        "token: a text",
        "secret: of type DECIMAL(10, 2)",
        "SELECT a.token FROM a JOIN b ON a.token = b2.token_hash2 WHERE token = session_id",
        "token = upper256(token)",
        "the secret in this table ends",
        "SELECT password FROM users WHERE key = 12",
        "'refresh.interval.ms' = '100000000'",
    ],
)
def test_words_behind_a_name_are_no_secrets(text: str) -> None:
    assert redact_text(text) == text


@pytest.mark.parametrize("path", ["/data/sk-learn-2024/x", "/data/sk_20241127101500123", "/data/eyJ/x.y", "/AKIA/x"])
def test_paths_are_no_tokens(path: str) -> None:
    assert redact_value("path", path) == path


def test_what_a_query_leaves_of_its_text(tmp_path: Path) -> None:
    """Checkpoints and records show parts of a query."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.json").write_text('{"k":"a"}', "utf-8")
    session = sqlext.connect(catalog=tmp_path / "catalog", settings={"sqlext.engine": "local"})
    table = "CREATE TABLE {0} (k STRING) WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '{1}/{0}');"
    tables = "".join(table.format(name, tmp_path) for name in ("in", "out")).replace("TABLE in", "TABLE `in`")
    tests = f"k <> 'sk-{secret(0)}' AND k <> 'password={secret(0)}'"
    text = f"INSERT INTO out SELECT k FROM `in` WHERE {tests};"
    (*_, inserted) = session.run(tables + text)
    assert inserted.query is not None
    assert found_in("\n".join(files(tmp_path))) == []
    shown = [session.monitor.queries(), *(session.monitor.query(c.name) for c in session.monitor.queries())]
    shown += [session.monitor.history(c.name, 0) for c in session.monitor.queries()]
    assert len(shown) == 3
    assert found_in(repr(shown)) == []
