"""Resolve references to secrets, and refuse secrets that only another session was given.

A stored object names where a secret is (``'env:NAME'`` or ``'file:/path'``), or has stars in its place: then the
session that was given it has it (``sqlext_catalog.literals``).
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from sqlext.errors import SqlExtError
from sqlext.secrets import is_hidden, is_reference, is_secret, remember_options, remember_reference


def require_secrets(options: Iterable[tuple[str, str]], name: str) -> None:
    """Refuse to use a table whose literal secrets were given to another session (OPT-093).

    Args:
        options: those of the table.
        name: the table, for the message.
    """
    for key, value in options:
        if is_hidden(key, value):
            reference = "'env:NAME' or 'file:/path/to/secret'"
            own = f"ALTER TABLE ... SET ('{key}' = ...) with {reference}"
            apart = f"an option of its own in place of the part of '{key}', as 'password' = {reference}"
            raise SqlExtError(
                "OPT-093",
                f"option '{key}' of table `{name}` holds a secret that was given to another session, and is not stored",
                hint=f"{own if is_secret(key) else apart}; or run the CREATE TABLE with the secret again",
            )


def resolve_secret(value: str) -> str:
    """Return the secret behind ``env:NAME`` or ``file:/path`` (without its last line break); any other value as it is.

    Call it at the last moment, when the connector is opened, and keep the result out of plans and messages.
    """
    if not is_reference(value):
        return value
    scheme, _, place = value.partition(":")
    secret = _from_environment(place) if scheme == "env" else _from_file(place)
    remember_reference(secret)
    return secret


def resolve_options(options: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the options with every secret's reference resolved; values of other keys are never touched."""
    options = tuple(options)
    remember_options(options)
    return {key: resolve_secret(value) if is_secret(key) else value for key, value in options}


def _from_environment(name: str) -> str:
    try:
        return os.environ[name]
    except KeyError:
        raise SqlExtError(
            "OPT-091", f"a secret is to come from the environment variable {name}, which is not set"
        ) from None


def _from_file(path: str) -> str:
    try:
        # `echo` and editors end a file with a line break, which is no part of the secret.
        return Path(path).read_text("utf-8").rstrip("\r\n")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not a text file"
        raise SqlExtError("OPT-091", f"a secret is to come from the file {path!r}: {reason}") from None
