"""A secret that was read from a variable or a file is hidden wherever its value comes up again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sqlext import secrets
from sqlext.errors import SqlExtError
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
    monkeypatch.setattr(secrets, "_remembered", set())
    secrets._by_value.cache_clear()
    yield
    secrets._by_value.cache_clear()


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
