"""Find secrets in options, hide them, and resolve references to them.

A secret is never stored. A persistent table names where it is (``'env:NAME'`` or ``'file:/path'``); a temporary
table lives in memory only and may hold it literally. Nothing that is printed shows a value: Delta prints table
properties in DESCRIBE DETAIL and in HISTORY, and Spark's own redaction misses ``sasl.jaas.config``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from sqlext.errors import SqlExtError

HIDDEN = "******"

Pairs = tuple[tuple[str, str], ...]

# The union of Spark's spark.redaction.regex and Flink's GlobalConfiguration.SENSITIVE_KEYS, plus cloud and Kafka keys.
_SECRET_KEY = re.compile(
    r"passw(or)?d|passphrase|secret|credential|token|api[._-]?key|access[._-]?key|account[._-]?key|service[._-]?key"
    r"|private[._-]?key|jaas[._-]?config|auth[._-]?params|basic[._-]?auth|http[._-]?headers|sas[._-]?key"
    r"|key(store)?[._-]?pass|connection[._-]?string|user[._-]?info",
    re.IGNORECASE,
)
# Keys that match above but say how or where, not what: a token's endpoint, a provider's class, a file's place.
_NOT_SECRET = re.compile(
    r"(endpoint|[._-]url|[._-]uri|class|provider|[._-]type|location|lifetime[\w.-]*|refresh[\w.-]*|[._-]name|[._-]ms)$"
    r"|^fields\.",
    re.IGNORECASE,
)
_USER_IN_URL = re.compile(r"(?<=://)[^/\s:@]*:[^/\s@]*(?=@)")
_REFERENCE = re.compile(r"(env:[A-Za-z_][A-Za-z0-9_]*|file:.+)", re.DOTALL)
_PAIR = re.compile(r"'((?:[^']|'')*)'(\s*=\s*)'((?:[^']|'')*)'")


def is_secret(key: str) -> bool:
    """Return whether the option's value is a secret, by its key."""
    return bool(_SECRET_KEY.search(key)) and not _NOT_SECRET.search(key)


def is_reference(value: str) -> bool:
    """Return whether the value names an environment variable or a file instead of being the secret."""
    return bool(_REFERENCE.fullmatch(value))


def redact(options: Iterable[tuple[str, str]] | Mapping[str, str]) -> Pairs:
    """Return the options with literal secrets (and passwords inside URLs) hidden; references stay readable."""
    pairs = options.items() if isinstance(options, Mapping) else options
    return tuple((key, redact_value(key, value)) for key, value in pairs)


def redact_value(key: str, value: str) -> str:
    """Return what may be shown of an option's value."""
    if is_secret(key) and not is_reference(value):
        return HIDDEN
    return _USER_IN_URL.sub(HIDDEN, value)


def redact_text(text: str) -> str:
    """Return a statement with the literal secrets in its ``'key' = 'value'`` pairs hidden, for logs and records."""
    return _PAIR.sub(lambda m: f"'{m[1]}'{m[2]}'{redact_value(m[1], m[3])}'", text)


def check_storable(options: Iterable[tuple[str, str]], what: str) -> None:
    """Refuse literal secrets in the options of something that is stored.

    Args:
        options: the options of the object.
        what: the object, for the message.
    """
    for key, value in options:
        if redact_value(key, value) != value:
            raise SqlExtError(
                "OPT-090",
                f"option '{key}' of {what} holds a secret, and secrets are not stored in the catalog",
                hint=f"write '{key}' = 'env:NAME' or 'file:/path/to/secret', or make the table TEMPORARY",
            )


def check_storable_text(text: str, what: str) -> None:
    """Refuse literal secrets in a stored text: the hints of a view's query may carry options."""
    check_storable([(m[1], m[3]) for m in _PAIR.finditer(text)], what)


def resolve_secret(value: str) -> str:
    """Return the secret behind ``env:NAME`` or ``file:/path`` (without its last line break); any other value as it is.

    Call it at the last moment, when the connector is opened, and keep the result out of plans and messages.
    """
    if not is_reference(value):
        return value
    scheme, _, place = value.partition(":")
    return _from_environment(place) if scheme == "env" else _from_file(place)


def resolve_options(options: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the options with every secret's reference resolved; values of other keys are never touched."""
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
