"""Avro: the schema that follows from columns, and which columns have none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sqlext.connectors.formats.avro import AvroFormat, avro_schema, require_avro_columns
from sqlext.connectors.formats.base import ReadField
from sqlext.connectors.options import OptionError
from sqlext.types import (
    BIGINT,
    BYTES,
    DATE,
    DOUBLE,
    INT,
    INTERVAL_DAY_TIME,
    STRING,
    TIME,
    TIMESTAMP3,
    TIMESTAMP_LTZ3,
    Field,
    LogicalType,
    array,
    decimal,
    map_of,
    multiset,
    row,
    timestamp,
    timestamp_ltz,
)

CORRECT = {"avro.timestamp_mapping.legacy": "false"}


def logical(kind: str, name: str, **more: int) -> dict[str, Any]:
    return {"type": kind, "logicalType": name, **more}


def schema(declared: LogicalType, options: dict[str, str]) -> Any:
    found = json.loads(avro_schema((ReadField("c", declared),), options))
    assert (found["type"], found["namespace"], found["name"]) == ("record", "org.apache.flink.avro.generated", "record")
    (field,) = found["fields"]
    assert ("default" in field) == declared.nullable
    return field["type"]


@pytest.mark.parametrize(
    ("declared", "options", "expected"),
    [
        (INT, {}, ["null", "int"]),
        (INT.not_null(), {}, "int"),
        (LogicalType("TINYINT").not_null(), {}, "int"),
        (BIGINT.not_null(), {}, "long"),
        (DOUBLE.not_null(), {}, "double"),
        (STRING.not_null(), {}, "string"),
        (BYTES.not_null(), {}, "bytes"),
        (decimal(10, 2).not_null(), {}, logical("bytes", "decimal", precision=10, scale=2)),
        (DATE.not_null(), {}, logical("int", "date")),
        (TIME.not_null(), {}, logical("int", "time-millis")),
        (TIMESTAMP3.not_null(), {}, logical("long", "timestamp-millis")),
        (TIMESTAMP3.not_null(), CORRECT, logical("long", "local-timestamp-millis")),
        (timestamp(6).not_null(), CORRECT, logical("long", "local-timestamp-micros")),
        (TIMESTAMP_LTZ3.not_null(), CORRECT, logical("long", "timestamp-millis")),
        (timestamp_ltz(6).not_null(), CORRECT, logical("long", "timestamp-micros")),
        (array(INT).not_null(), {}, {"type": "array", "items": ["null", "int"]}),
        (map_of(STRING, INT.not_null()).not_null(), {}, {"type": "map", "values": "int"}),
        (multiset(STRING).not_null(), {}, {"type": "map", "values": ["null", "int"]}),
    ],
)
def test_schemas(declared: LogicalType, options: dict[str, str], expected: object) -> None:
    assert schema(declared, options) == expected
    if not declared.nullable:
        assert schema(declared.as_nullable(), options) == ["null", expected]


def test_rows_are_records_with_names_of_their_own() -> None:
    inner = row(Field("x", INT.not_null()))
    found = schema(row(Field("a", inner.not_null()), Field("b", array(inner.not_null()))).not_null(), {})
    names = (found["name"], found["fields"][0]["type"]["name"], found["fields"][1]["type"][1]["items"]["name"])
    assert names == ("record_c", "record_c_a", "record_c_b")


@pytest.mark.parametrize(
    ("name", "declared", "options", "code", "word"),
    [
        ("c", TIMESTAMP_LTZ3, {}, "OPT-008", "'avro.timestamp_mapping.legacy' = 'false'"),
        ("c", timestamp(6), {}, "OPT-008", "declare a precision of 3"),
        ("c", timestamp(9), CORRECT, "OPT-008", "declare a precision of 3 or 6"),
        ("c", LogicalType("TIME", 6), {}, "OPT-008", "declare TIME(3)"),
        ("c", map_of(INT, INT), {}, "OPT-008", "keys of a map are texts, not INT"),
        ("c", INTERVAL_DAY_TIME, {}, "OPT-008", "none of its types"),
        ("c", row(Field("größe", INT)), {}, "OPT-008", "`größe` is no name"),
        ("1c", INT, {}, "OPT-008", "`1c` is no name"),
        ("c", INT, {"avro.encoding": "json"}, "OPT-005", "must be binary"),
        ("c", INT, {"avro.ignore-parse-errors": "true"}, "OPT-005", "must be false"),
        ("c", INT, {"avro.timestamp_mapping.legacy": "no"}, "OPT-005", "true or false"),
    ],
)
def test_refusals(name: str, declared: LogicalType, options: dict[str, str], code: str, word: str) -> None:
    with pytest.raises(OptionError) as refused:
        require_avro_columns("connector 'kafka'", AvroFormat(), (ReadField(name, declared),), options)
    assert refused.value.code == code
    assert word in f"{refused.value.message} {refused.value.hint}"
