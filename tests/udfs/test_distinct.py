"""Streaming DISTINCT on Spark against batch DISTINCT on Spark."""

from __future__ import annotations

from datetime import time
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from streams import add_file, counted, numbers, run_distinct

from sqlext.errors import SqlExtError
from sqlext_udfs.spark import STATE_STORE_SETTINGS
from sqlext_udfs.spark.registry import operator

_PROVIDER = "spark.sql.streaming.stateStore.providerClass"

#: Columns of every type, and so few values that rows repeat.
_EVERY_TYPE = (
    "cast(id % 3 as tinyint) as tiny",
    "if(id % 5 = 0, null, cast(id % 3 as smallint)) as small",
    "id % 2 = 0 as flag",
    "if(id % 3 = 0, null, concat('né', id % 2)) as text",
    "cast(if(id % 2 = 0, 'x', null) as varchar(3)) as short_text",
    "unhex(if(id % 2 = 0, '', '00')) as bytes",
    "if(id % 4 < 2, 0.0d, -0.0d) as zero",
    "if(id % 4 = 1, float('NaN'), if(id % 4 = 2, null, 1.5f)) as `not a.number`",
    "cast(id % 2 as decimal(38, 10)) as big",
    "cast(id % 2 as decimal(5, 2)) as `tick``ed`",
    "date_add(date'1582-10-04', cast(id % 2 as int)) as day",
    "timestamp'1969-12-31 23:59:59.999999' + make_dt_interval(0, 0, 0, id % 2) as ltz",
    "timestamp_ntz'9999-12-31 23:59:59.999999' as ntz",
    "make_dt_interval(cast(id % 2 as int)) as gap",
    "if(id % 2 = 0, array(null, -0.0d), array(0.0d, double('NaN'))) as list",
    "if(id % 3 = 0, null, named_struct('x', nullif(id % 3, 1), 'y', array(named_struct('z', '')))) as nested",
    "null as nothing",
)


def _every_type(frame: DataFrame) -> DataFrame:
    return frame.selectExpr(*_EVERY_TYPE)


def _out(batches: list[list[Any]]) -> list[Any]:
    return [row for batch in batches for row in batch]


def test_every_type_over_several_batches(session: SparkSession, tmp_path: Path) -> None:
    for start in (0, 20, 40, 0):
        add_file(tmp_path / "in", [*range(start, start + 40), None])
    batches = run_distinct(_every_type(numbers(session, tmp_path / "in")), tmp_path / "checkpoint")
    expected = _every_type(session.read.parquet(str(tmp_path / "in"))).distinct().collect()
    assert counted(_out(batches)) == counted(expected)
    assert len(batches) == 4
    assert batches[3] == []


def test_time_of_day(spark: SparkSession, tmp_path: Path) -> None:
    """TIME is behind a switch, which Spark reads from whichever session is active: here the shared one must be."""
    add_file(tmp_path / "in", range(10))
    spark.conf.set("spark.sql.timeType.enabled", "true")
    try:
        frame = numbers(spark, tmp_path / "in").selectExpr("make_time(23, 59, id % 2 + 0.999999) as clock")
        batches = run_distinct(frame, tmp_path / "checkpoint")
    finally:
        for key in ("spark.sql.timeType.enabled", *STATE_STORE_SETTINGS):
            spark.conf.unset(key)
    assert sorted(row.clock for row in _out(batches)) == [time(23, 59, 0, 999_999), time(23, 59, 1, 999_999)]


def test_schema_stays_as_it_is(session: SparkSession, tmp_path: Path) -> None:
    add_file(tmp_path / "in", [])
    frame = _every_type(numbers(session, tmp_path / "in"))
    assert operator("distinct").apply(frame, {}).schema.simpleString() == frame.schema.simpleString()


def test_restart_under_other_settings(spark: SparkSession, tmp_path: Path) -> None:
    out = []
    for position, settings in enumerate(
        [
            {},
            {"spark.sql.shuffle.partitions": "3", "spark.sql.session.timeZone": "Asia/Tokyo"},
            {"spark.sql.shuffle.partitions": "1", "spark.sql.execution.arrow.useLargeVarTypes": "true"},
        ]
    ):
        session = spark.newSession()
        for key, value in settings.items():
            session.conf.set(key, value)
        add_file(tmp_path / "in", range(position * 10, position * 10 + 30))
        frame = numbers(session, tmp_path / "in").selectExpr(
            "id % 45 as n", "array(struct(timestamp_millis(id % 45) as t)) as times", "concat('n', id % 45) as s"
        )
        out += _out(run_distinct(frame, tmp_path / "checkpoint"))
    assert sorted(row.n for row in out) == list(range(45))


def test_state_is_one_row_per_bucket(session: SparkSession, tmp_path: Path) -> None:
    add_file(tmp_path / "in", range(1_000))
    run_distinct(numbers(session, tmp_path / "in"), tmp_path / "checkpoint")
    state = session.read.format("statestore").option("stateVarName", "bucket").load(str(tmp_path / "checkpoint"))
    assert state.count() == 8
    assert state.select("value.buckets").distinct().collect() == [(8,)]


def test_another_number_of_buckets_is_refused(session: SparkSession, tmp_path: Path) -> None:
    add_file(tmp_path / "in", range(10))
    run_distinct(numbers(session, tmp_path / "in"), tmp_path / "checkpoint", {"buckets": 1})
    add_file(tmp_path / "in", range(10))
    with pytest.raises(StreamingQueryException, match="RUN-034: the query's state lies in 1 buckets, not in 2"):
        run_distinct(numbers(session, tmp_path / "in"), tmp_path / "checkpoint", {"buckets": 2})


@pytest.mark.parametrize("buckets", [0, -1, 5_000])
def test_a_wrong_number_of_buckets_is_refused(session: SparkSession, tmp_path: Path, buckets: int) -> None:
    add_file(tmp_path / "in", [])
    with pytest.raises(SqlExtError, match="1 to 1024 buckets") as refused:
        operator("distinct").apply(numbers(session, tmp_path / "in"), {"buckets": buckets})
    assert refused.value.code == "FUNC-012"


def test_maps_are_refused_before_start(session: SparkSession, tmp_path: Path) -> None:
    add_file(tmp_path / "in", [])
    frame = numbers(session, tmp_path / "in").selectExpr("id", "map(id, id) as m")
    with pytest.raises(SqlExtError, match="`m`: maps cannot be compared") as refused:
        operator("distinct").apply(frame, {})
    assert refused.value.code == "FUNC-011"


def test_batch_is_sparks_own_distinct(session: SparkSession) -> None:
    frame = session.range(10).selectExpr("id % 3 as n")
    assert sorted(operator("distinct").apply(frame, {}).collect()) == [(0,), (1,), (2,)]
    assert session.conf.get(_PROVIDER, None) is None


def test_state_store_settings_are_set_and_anothers_rocksdb_stays(session: SparkSession, tmp_path: Path) -> None:
    add_file(tmp_path / "in", [])
    operator("distinct").apply(numbers(session, tmp_path / "in"), {})
    assert {key: session.conf.get(key) for key in STATE_STORE_SETTINGS} == STATE_STORE_SETTINGS
    session.conf.set(_PROVIDER, "com.example.RocksDBStateStoreProvider")
    operator("distinct").apply(numbers(session, tmp_path / "in"), {})
    assert session.conf.get(_PROVIDER) == "com.example.RocksDBStateStoreProvider"
