"""Casts of arrays, maps and rows: which are Spark's own, and which go part by part."""

from __future__ import annotations

import pytest

from sqlext import types as t
from sqlext.rewrite.expressions import casts
from sqlext.rewrite.expressions.renderer import cast_to
from sqlext.types import LogicalType

_SHORT = LogicalType("VARCHAR", 1)
_ENTRY = "named_struct('key', left(entry.key, 1), 'value', CAST(entry.value AS STRING))"
_PUT = (
    "CAST(map() AS MAP<STRING, STRING>), "
    "(made, entry) -> map_concat(map_filter(made, (key, value) -> key <> entry.key), map(entry.key, entry.value))"
)


@pytest.mark.parametrize(
    ("from_", "to", "text"),
    [
        (t.array(t.INT), t.array(t.STRING), "CAST(v AS ARRAY<STRING>)"),
        (t.array(t.INT), t.array(_SHORT), "transform(v, element -> left(CAST(element AS STRING), 1))"),
        (
            t.array(t.array(t.BOOLEAN)),
            t.array(t.array(t.STRING)),
            "transform(v, element -> transform(element, element -> upper(CAST(element AS STRING))))",
        ),
        (
            t.map_of(t.STRING, t.BOOLEAN),
            t.map_of(t.STRING, t.STRING),
            "transform_values(v, (key, value) -> upper(CAST(value AS STRING)))",
        ),
        (
            t.map_of(t.INT, t.BOOLEAN),
            t.map_of(t.STRING, t.STRING),
            "transform_values(CAST(v AS MAP<STRING, BOOLEAN>), (key, value) -> upper(CAST(value AS STRING)))",
        ),
        (
            t.map_of(t.STRING, t.INT),
            t.map_of(_SHORT, t.STRING),
            f"aggregate(transform(map_entries(v), entry -> {_ENTRY}), {_PUT})",
        ),
        (
            t.row(t.Field("a", t.STRING), t.Field("b", t.INT)),
            t.row(t.Field("x", _SHORT), t.Field("it's", t.BIGINT)),
            "CASE WHEN v IS NOT NULL THEN named_struct('x', left((v).a, 1), 'it\\'s', CAST((v).b AS BIGINT)) END",
        ),
        (
            t.row(t.Field("a", t.STRING)).not_null(),
            t.row(t.Field("a", _SHORT)),
            "named_struct('a', left((v).a, 1))",
        ),
        (t.row(t.Field("a", t.STRING)), t.row(t.Field("b", t.STRING)), "CAST(v AS STRUCT<`b`: STRING>)"),
    ],
)
def test_casts_inside_of_constructed_types(from_: LogicalType, to: LogicalType, text: str) -> None:
    assert casts.cast("v", from_, to) == text


def test_a_try_cast_fails_as_a_whole() -> None:
    part = "TRY_CAST(regexp_replace({0}, '[.][0-9]*(?= *$)', '') AS INT)"
    failed = f"(exists(v, part -> (part IS NOT NULL AND {part.format('part')} IS NULL)))"
    made = f"transform(v, element -> {part.format('element')})"
    from_, to = t.array(t.STRING), t.array(t.INT)
    assert casts.cast("v", from_, to, try_=True) == f"CASE WHEN {failed} THEN NULL ELSE {made} END"


@pytest.mark.parametrize(
    ("from_", "to", "text"),
    [
        (t.array(t.STRING), t.array(_SHORT), "transform(v, element -> left(element, 1))"),
        (t.array(t.STRING), t.array(t.STRING), "v"),
        (t.array(t.INT), t.array(t.BIGINT), "CAST(v AS ARRAY<BIGINT>)"),
    ],
)
def test_parts_of_a_sinks_column(from_: LogicalType, to: LogicalType, text: str) -> None:
    assert cast_to("v", from_, to, "flink") == text
