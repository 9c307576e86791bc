"""Make records of one Avro schema of such as were written by schemas of a registry (fastavro resolves them)."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from io import BytesIO
from typing import Any

import pyarrow as pa

from sqlext.connectors.formats.schema_registry import schema_text
from sqlext.extras import package
from sqlext.sources.arrow_types import ArrowField
from sqlext.sources.decoding.avro_shapes import Shapes, clash
from sqlext.sources.decoding.malformed import BadValueError
from sqlext.sources.decoding.text_messages import MessageValues, Reader
from sqlext_catalog.model import Options

#: Before a record stand a zero byte and the number of its schema in four bytes.
_HEADER = 5
_Resolve = Callable[[bytes], bytes]


@dataclass(frozen=True)
class FromRegistry:
    """Makes records of one schema. Picklable.

    Attributes:
        registry: settings of its client, secrets resolved.
        schema: of the records that come out, in JSON.
    """

    registry: Options
    schema: str

    def records(self, values: Sequence[bytes]) -> list[bytes]:
        """Return a record for each value.

        Raises:
            BadValueError: for a value without the number of a schema, or that is no record of the schema.
            SqlExtError: ENV-011, OPT-005 or RUN-074: what the registry's client raises.
        """
        return [self._record(n, value) for n, value in enumerate(values)]

    def some_records(self, values: Sequence[bytes | None]) -> list[bytes | None]:
        """Return a record for each value that is not None."""
        return [None if value is None else self._record(n, value) for n, value in enumerate(values)]

    def _record(self, index: int, value: bytes) -> bytes:
        if len(value) < _HEADER or value[0] != 0:
            raise BadValueError(index, "it does not begin with the number of a schema in a registry")
        try:
            return _resolver(self, int.from_bytes(value[1:_HEADER], "big"))(value[_HEADER:])
        except _UnresolvedError as error:
            raise BadValueError(index, error, "declare the column as the schema in the registry has it") from error


@dataclass(frozen=True)
class RegistryValues:
    """Values whose schemas are in a registry, as rows.

    Attributes:
        source: makes records of them.
        values: how these are read.
    """

    source: FromRegistry
    values: MessageValues

    @property
    def columns(self) -> Sequence[ArrowField]:
        """What is read of them."""
        return self.values.columns

    def reader(self) -> Reader:
        """Return what makes rows of them."""
        read = self.values.reader()

        def rows(texts: Sequence[bytes]) -> pa.RecordBatch:
            return read(self.source.records(texts))

        return rows


class _UnresolvedError(Exception):
    """Why a value is no record of the wanted schema."""


@lru_cache(maxsize=1000)
def _resolver(source: FromRegistry, number: int) -> _Resolve:
    """Return what makes a record of one that was written by a schema of the registry."""
    written, wanted = json.loads(schema_text(source.registry, number)), json.loads(source.schema)
    shapes = Shapes({})
    have, want = shapes.of(written), Shapes({}).of(wanted)
    if have == want:
        return bytes
    if why := clash(have, want):
        raise _UnresolvedError(f"schema {number} of the registry: {why}")
    fastavro = package("fastavro", "registry", "format 'avro-confluent'")
    # Flink takes a record for the table's whatever its name is, so each name of the writer's is as good.
    reader = fastavro.parse_schema(_bare(wanted, sorted(shapes.named)))
    return partial(_resolved, fastavro, fastavro.parse_schema(_bare(written)), reader, number)


def _resolved(fastavro: Any, written: Any, wanted: Any, number: int, record: bytes) -> bytes:
    out = BytesIO()
    try:
        value = fastavro.schemaless_reader(BytesIO(record), written, wanted)
        fastavro.schemaless_writer(out, wanted, value)
    # What fastavro raises for bytes that are no record depends on where it finds that out.
    except Exception as error:
        reason = str(error) or type(error).__name__
        message = f"it is no record of its columns, by schema {number} of the registry: {reason}"
        raise _UnresolvedError(message) from error
    return out.getvalue()


def _bare(schema: Any, aliases: Sequence[str] = ()) -> Any:
    """Return a schema without logical types, as values go through as they are written.

    Args:
        aliases: further names of each record.
    """
    if isinstance(schema, list):
        return [_bare(branch, aliases) for branch in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {k: v for k, v in schema.items() if k != "logicalType"}
    kept |= {part: _bare(kept[part], aliases) for part in ("type", "items", "values") if part in kept}
    if "fields" in kept:
        kept["fields"] = [{**f, "type": _bare(f["type"], aliases)} for f in kept["fields"]]
        kept["aliases"] = [*kept.get("aliases", ()), *aliases]
    return kept
