"""Describe avro-confluent: values of Avro that say by which schema of a registry they were written.

A value is a zero byte, the number of its schema in four bytes, and a record by that schema, which is the writer's. Our
own reader makes a record by the table's schema of it, as Avro resolves schemas. So in SQL it is the format avro.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlext.connectors.formats.avro import AvroFormat, encoded_record
from sqlext.connectors.options import OptionError, Rules, any_text, boolean, one_of
from sqlext_catalog.model import Options

_PREFIX = "avro-confluent."
#: Before Flink 1.13 some options had this before their names.
_OLD = "schema-registry."
#: What Java keeps keys in, which the registry's client of Python does not read.
_STORES = ("ssl.keystore.", "ssl.truststore.")
#: Options that the registry's client has under another name.
_CLIENTS = {
    "url": "url",
    "basic-auth.user-info": "basic.auth.user.info",
    "bearer-auth.credentials-source": "bearer.auth.credentials.source",
    "bearer-auth.token": "bearer.auth.token",
}
_PROPERTIES = "properties."
_OWN = {
    **dict.fromkeys(("url", "subject", "schema"), any_text),
    **dict.fromkeys((f"{_OLD}url", f"{_OLD}subject", f"{_OLD}schema"), any_text),
    "auto.register.schemas": boolean,
    "basic-auth.credentials-source": one_of("USER_INFO", "URL"),
    "basic-auth.user-info": any_text,
    "bearer-auth.credentials-source": one_of("STATIC_TOKEN"),
    "bearer-auth.token": any_text,
    "timestamp_mapping.legacy": boolean,
    # Which rows are bad is found by our reader, which tells them by their place.
    "ignore-parse-errors": one_of("false"),
}


class AvroConfluentFormat(AvroFormat):
    """``'format' = 'avro-confluent'``, of messages."""

    name = "avro-confluent"
    rules = Rules(
        {f"{_PREFIX}{key}": check for key, check in _OWN.items()},
        prefixes=tuple(f"{_PREFIX}{begin}" for begin in (_PROPERTIES, *_STORES)),
    )

    def plain(self, options: Mapping[str, str]) -> Mapping[str, str]:
        """Return options of the format under the names that ``'format' = 'avro'`` has for them."""
        return {f"avro.{k[len(_PREFIX) :]}": v for k, v in options.items() if k.startswith(_PREFIX)}


def registry_option(options: Mapping[str, str], name: str) -> str | None:
    """Return an option of the registry, by its name now or before."""
    return options.get(f"{_PREFIX}{name}", options.get(f"{_PREFIX}{_OLD}{name}"))


def registry_url(options: Mapping[str, str]) -> tuple[str, str]:
    """Return the option that says where the registry is, and its value, empty where nothing says so."""
    old = f"{_PREFIX}{_OLD}url"
    return (old, options[old]) if old in options else (f"{_PREFIX}url", options.get(f"{_PREFIX}url", ""))


def require_registry(owner: str, options: Mapping[str, str], given: str) -> None:
    """Refuse a table that does not say where its registry is, or gives keys that are not read.

    Args:
        options: of a record's key or value, with the format's prefix.
        given: what stands before the prefix where the table gives them: ``key.``, ``value.``, or nothing.

    Raises:
        OptionError: OPT-004, OPT-005.
    """
    name, url = registry_url(options)
    if not url:
        key = f"{given}{name}"
        raise OptionError("OPT-004", f"{owner} needs option '{key}'", hint=f"add '{key}' = '...' to WITH (...)")
    for key in options:
        if key.removeprefix(_PREFIX).removeprefix(_PROPERTIES).startswith(_STORES):
            names = "'ssl.certificate.location', 'ssl.key.location'"
            hint = f"files of PEM: '{given}{_PREFIX}{_PROPERTIES}ssl.ca.location', {names}"
            message = f"option '{given}{key}' of {owner} names a store of Java's, which is not read"
            raise OptionError("OPT-005", message, option=f"{given}{key}", hint=hint)


def registry_settings(options: Mapping[str, str]) -> Options:
    """Return the settings of the registry's client; values may be references to secrets."""
    begin = f"{_PREFIX}{_PROPERTIES}"
    found = {k[len(begin) :]: v for k, v in options.items() if k.startswith(begin)}
    for option, setting in _CLIENTS.items():
        value = registry_option(options, option)
        if value is not None:
            found[setting] = value
    # Where the user's name and password are, which the client sees for itself.
    found.pop("basic.auth.credentials.source", None)
    return tuple(sorted(found.items()))


def registers(options: Mapping[str, str]) -> bool:
    """Return whether a schema that the registry does not have is added to it."""
    return options.get(f"{_PREFIX}auto.register.schemas", "true").strip().lower() == "true"


def framed_record(struct: str, number: int, schema: str) -> str:
    """Return SQL of a value: ``struct`` is SQL of its fields, ``number`` that of their schema in the registry."""
    return f"concat(X'00{number:08X}', {encoded_record(struct, schema)})"
