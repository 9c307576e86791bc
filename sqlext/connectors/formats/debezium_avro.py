"""Describe debezium-avro-confluent: changes of rows as records of Avro, by schemas of a registry.

A record has the row before, the row after, and what happened, as Flink's format of this name has them. Other fields of
Debezium's are passed over.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlext.connectors.formats.avro_confluent import AvroConfluentFormat
from sqlext.connectors.formats.base import ReadField
from sqlext.types import STRING, Field, row

#: What stands before ``avro-confluent`` in the format's name and its options.
PREFIX = "debezium-"
NAME = f"{PREFIX}{AvroConfluentFormat.name}"


def record_fields(fields: tuple[ReadField, ...], op: str) -> tuple[ReadField, ...]:
    """Return the fields of a record that tells of a change; ``op`` is the one that says what happened."""
    image = row(*(Field(f.name, f.type) for f in fields))
    return (ReadField("before", image), ReadField("after", image), ReadField(op, STRING))


def registry_options(options: Mapping[str, str]) -> dict[str, str]:
    """Return the format's options by the names that avro-confluent has for them."""
    return {k.removeprefix(PREFIX): v for k, v in options.items() if k.startswith(f"{NAME}.")}
