"""A secret that was read from a variable or a file is hidden wherever its value comes up again."""

from __future__ import annotations

import json
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterator
from html import escape
from pathlib import Path
from time import process_time
from traceback import format_exception
from urllib.parse import quote, quote_plus

import pytest

import sqlext
from sqlext import remembered
from sqlext.errors import SqlExtError, shown_cause
from sqlext.secrets import HIDDEN, masked, redact_text, redact_value
from sqlext.source import SourceText
from sqlext_catalog.secrets import resolve_options, resolve_secret

VALUE = "p'w&7/c4n4ry"
FORMS = {
    "as it is": VALUE,
    "in a URL": "p%27w%267%2Fc4n4ry",
    "in SQL": "p''w&7/c4n4ry",
    "in JSON": 'x "quoted" c4n4ry',
}


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(remembered, "_remembered", set())
    remembered._written.cache_clear()
    yield
    remembered._written.cache_clear()


@pytest.fixture(params=["env", "file"])
def reference(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("SHOP", VALUE)
    (tmp_path / "shop").write_text(f"{VALUE}\n")
    return "env:SHOP" if request.param == "env" else f"file:{tmp_path}/shop"


@pytest.mark.parametrize("form", ["as it is", "in a URL", "in SQL"])
def test_messages_and_texts(reference: str, form: str) -> None:
    said = f"server says <{FORMS[form]}> is wrong"
    assert FORMS[form] in SqlExtError("RUN-070", said).message
    assert resolve_options([("password", reference)]) == {"password": VALUE}
    source = SourceText.of(f"SELECT '{FORMS[form]}'")
    error = SqlExtError("RUN-070", said, span=source.span(0, 6), hint=said)
    assert error.message == error.hint == f"server says <{HIDDEN}> is wrong"
    assert "c4n4ry" not in error.render()
    assert "c4n4ry" not in redact_text(f"INSERT INTO t SELECT {FORMS[form]!r}")
    assert len(masked(said)) == len(said)


def test_as_json_writes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP", FORMS["in JSON"])
    resolve_secret("env:SHOP")
    assert "c4n4ry" not in SqlExtError("RUN-100", '{"password": "x \\"quoted\\" c4n4ry"}').message


def test_what_is_stored_keeps_what_looks_like_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A path with the word of a password is no secret: the table could not be read any more."""
    monkeypatch.setenv("SHOP", "shop")
    resolve_secret("env:SHOP")
    assert redact_value("path", "/data/shop") == "/data/shop"


def test_parts_of_words_and_short_secrets_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    for value in ("shop", "abc"):
        monkeypatch.setenv("SHOP", value)
        resolve_secret("env:SHOP")
    assert SqlExtError("RUN-100", "the shops have shop and abc").message == f"the shops have {HIDDEN} and abc"


def test_a_word_that_stands_in_the_open_too_is_not_hidden_by_its_value() -> None:
    """A host, a user and a password of one name: messages may call the host."""
    text = "CREATE TABLE t (a INT) WITH ('hostname' = 'postgres', 'user' = 'own-one', 'password' = '{}')"
    open_one, own = SourceText.of(text.format("postgres")), SourceText.of(text.format("c4n4ry"))
    assert open_one.without_secrets("no connector 'postgres-cdc'") == "no connector 'postgres-cdc'"
    assert own.without_secrets("refused: 'c4n4ry' of postgres") == f"refused: '{HIDDEN}' of postgres"
    assert "'password' = '********'" in SqlExtError("RUN-100", "x", span=open_one.span(0, 6)).render()


LONG = "p'w&7/c4n4ry%é"
WRITTEN = {
    "base64 behind a user": b64encode(f"me:{LONG}".encode()).decode(),
    "base64 behind another user": b64encode(f"someone:{LONG}".encode()).decode(),
    "base64 amid more": urlsafe_b64encode(f"a{LONG}, and more".encode()).decode(),
    "each byte": "".join(f"%{byte:02x}" for byte in LONG.encode()),
    "each byte, twice": "".join(f"%25{byte:02X}" for byte in LONG.encode()),
    "in a URL, as Java writes it": quote_plus(LONG),
    "in a path": quote(LONG),
    "in HTML": escape(LONG),
    "in JSON": json.dumps(LONG),
    "in JSON of JavaScript": json.dumps(LONG).replace("/", "\\/"),
    "in Python": repr(LONG),
    "between letters": f"a{LONG}b",
}


@pytest.mark.parametrize("form", WRITTEN)
def test_however_it_is_written(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    said = f"before {WRITTEN[form]} after"
    assert SqlExtError("RUN-100", said).message == said
    monkeypatch.setenv("SHOP", LONG)
    resolve_secret("env:SHOP")
    message = SqlExtError("RUN-100", said).message
    assert HIDDEN in message
    assert WRITTEN[form] not in message
    assert (message[:7], message[-6:]) == ("before ", " after")


def test_lines_of_a_private_key(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("-----BEGIN X-----\nAbCdEfGhIjKlMnOpQrStUv\nshort\n-----END X-----\n")
    resolve_secret(f"file:{tmp_path}/key")
    assert SqlExtError("RUN-100", "bad line AbCdEfGhIjKlMnOpQrStUv, short").message == f"bad line {HIDDEN}, short"


LITERALS = {
    "'properties.password' = 'c4n4ry-of-mine'": "c4n4ry-of-mine",
    "'properties.sasl.jaas.config' = 'X required username=\"me\"\n password=\"c4n4ry-of-mine\";'": "c4n4ry-of-mine",
    "'properties.url' = 'jdbc:postgresql://me:c4n4ry-of-mine@h/d'": "c4n4ry-of-mine",
    "'properties.note' = 'https://h/x?sig=c4n4ry%2Fof%2Fmine'": "c4n4ry/of/mine",
    "'properties.user.info' = 'me:c4n4ry-of-mine'": "c4n4ry-of-mine",
}


@pytest.mark.parametrize("option", LITERALS)
def test_a_literal_is_known_in_later_statements(option: str) -> None:
    said = f"server says <{LITERALS[option]}>"
    assert SqlExtError("RUN-100", said).message == said
    sqlext.connect().run(f"CREATE TEMPORARY TABLE t (a INT) WITH ('connector' = 'kafka', {option});")
    assert "c4n4ry" not in SqlExtError("RUN-100", said).message


def test_a_literal_that_is_a_readable_word_too_is_none() -> None:
    table = "CREATE TEMPORARY TABLE t (a INT) WITH ('connector' = 'kafka', 'topic' = 'payments', {});"
    for password in ("payments", "password", "short"):
        sqlext.connect().run(table.format(f"'properties.password' = '{password}'"))
    said = "topic payments, password, short"
    assert SqlExtError("RUN-100", said).message == said


def test_causes_that_a_traceback_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP", LONG)
    resolve_secret("env:SHOP")

    def failed(text: str, kind: type[Exception]) -> BaseException | None:
        try:
            try:
                raise ValueError(text)
            except ValueError:
                raise kind("it failed")  # noqa: B904 - others do so
        except kind as error:
            return shown_cause(error)

    harmless, telling = failed("x" * 50_000, ConnectionRefusedError), failed(LONG, ConnectionRefusedError)
    assert isinstance(harmless, ConnectionRefusedError)
    assert isinstance(harmless.__context__, ValueError)
    assert isinstance(telling, OSError)  # whether a job begins again depends on it
    assert telling.__traceback__ is not None
    assert LONG not in "".join(format_exception(telling))
    assert "ConnectionRefusedError: it failed" in "".join(format_exception(telling))
    assert shown_cause(None) is None


def test_the_message_of_a_long_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line of 20 MB made a message of 20 MB, which was searched for minutes."""
    monkeypatch.setenv("SHOP", LONG)
    resolve_secret("env:SHOP")
    long = f"{LONG} token=c4n4ry {'x' * 7_970}{LONG}{'{' * 20_000_000}"
    source = SourceText.of("SELECT 1")
    began = process_time()
    error = SqlExtError("RUN-066", long, span=source.span(0, 6), hint=long).at(source.span(0, 6))
    cause = shown_cause(ValueError(long))
    assert process_time() - began < 5
    for text in (error.message, error.hint or "", str(cause)):
        assert 8_000 < len(text) < 8_100
        assert text.endswith("... (20,008,012 characters)")
        assert text.startswith(f"{HIDDEN} token={HIDDEN} xxx")
        assert "p'w" not in text
    exact = "y " * 4_000
    assert SqlExtError("RUN-066", exact).message == exact
