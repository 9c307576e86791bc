"""Sinks on a real Spark: what lies there afterwards, whoever reads it."""

from __future__ import annotations

import datetime as dt
import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from connectors.tables import table
from pyspark.sql import DataFrame, SparkSession

from sqlext.connectors.delta.sink import history
from sqlext.connectors.registry import connector_of
from sqlext.errors import SqlExtError
from sqlext.plan.nodes import EXISTS
from sqlext.sinks.base import Sink, SinkContext
from sqlext.sinks.collect import CollectSink
from sqlext.sinks.opening import open_sink
from sqlext.spark.notices import Notice
from sqlext.spark.reading.spark_sources import open_batch
from sqlext.types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DOUBLE,
    INT,
    STRING,
    TIME,
    TIMESTAMP3,
    TIMESTAMP_LTZ3,
    Field,
    array,
    decimal,
    map_of,
    multiset,
    row,
    timestamp,
)

KV = {"k": STRING, "v": INT}


def sink_of(session: SparkSession, columns: Any, options: dict[str, str], **more: Any) -> Sink:
    shape = {n: more.pop(n) for n in ("partitioned_by", "primary_key") if n in more}
    definition = table(columns, options, **shape, name="snk")
    connector_of(definition).validate(definition, "sink")
    zone = session.conf.get("spark.sql.session.timeZone") or "UTC"
    context = SinkContext(**({"query": "q", "checkpoint": "1", "zone": zone} | more))
    return open_sink(session, connector_of(definition).write_spec(definition), context)


def rows(session: SparkSession, *values: tuple[Any, ...], schema: str = "k STRING, v INT") -> DataFrame:
    return session.createDataFrame(list(values), schema).coalesce(1)


def files(folder: Path) -> list[str]:
    """Return what a reader sees."""
    found = (p.relative_to(folder) for p in folder.rglob("*") if p.is_file())
    return sorted(str(p) for p in found if not any(part.startswith(("_", ".")) for part in p.parts))


def lines(folder: Path) -> list[str]:
    return sorted(line for f in files(folder) for line in (folder / f).read_text().splitlines())


def file_options(folder: Path, file_format: str, **options: str) -> dict[str, str]:
    return {"connector": "filesystem", "path": str(folder), "format": file_format} | options


EVERYTHING = {
    "a": timestamp(6),
    "b": TIMESTAMP_LTZ3,
    "c": TIME,
    "d": decimal(10, 2),
    "f": DOUBLE,
    "y": BYTES,
    "m": map_of(STRING, TIMESTAMP3),
    "r": array(TIMESTAMP_LTZ3),
    "w": row(Field("x", TIMESTAMP3), Field("z", INT)),
    "s": multiset(STRING),
    "n": STRING,
}
EVERYTHING_SQL = """
SELECT TIMESTAMP_NTZ '2024-03-10 02:30:00.120000' a, TIMESTAMP '2024-03-10 02:30:00Z' b, TIME '10:00:00' c,
  CAST(4 AS DECIMAL(10, 2)) d, 1e20D f, CAST('hi' AS BINARY) y, map('k', TIMESTAMP_NTZ '2024-01-01 00:00:00') m,
  array(TIMESTAMP '1970-01-01 00:00:01.5Z') r, named_struct('x', TIMESTAMP_NTZ '2024-01-01 00:00:00', 'z', 1) w,
  map('e', 2) s, CAST(NULL AS STRING) n
"""


def test_json_is_written_as_flink_writes_it(zoned: SparkSession, tmp_path: Path) -> None:
    """Recorded on Flink 2.3.0; the wall clock lies in the hour that New York skips."""
    sink = sink_of(zoned, EVERYTHING, file_options(tmp_path / "o", "json"))
    sink.write(zoned.sql(EVERYTHING_SQL), 0)
    (line,) = lines(tmp_path / "o")
    assert json.loads(line) == {
        "a": "2024-03-10 02:30:00.12",
        "b": "2024-03-10 02:30:00Z",
        "c": "10:00:00",
        "d": 4.0,
        "f": 1e20,
        "y": "aGk=",
        "m": {"k": "2024-01-01 00:00:00"},
        "r": ["1970-01-01 00:00:01.5Z"],
        "w": {"x": "2024-01-01 00:00:00", "z": 1},
        "s": {"e": 2},
        "n": None,
    }


def test_json_options(session: SparkSession, tmp_path: Path) -> None:
    options = {"json.timestamp-format.standard": "ISO-8601", "json.encode.ignore-null-fields": "true"}
    sink = sink_of(session, EVERYTHING, file_options(tmp_path / "o", "json", **options))
    sink.write(session.sql(EVERYTHING_SQL), 0)
    found = json.loads(lines(tmp_path / "o")[0])
    assert (found["a"], found["b"]) == ("2024-03-10T02:30:00.12", "2024-03-10T02:30:00Z")
    assert "n" not in found


def test_csv_is_written_as_flink_writes_it(session: SparkSession, tmp_path: Path) -> None:
    columns = {"a": timestamp(6), "b": TIMESTAMP_LTZ3, "s": STRING, "n": STRING, "e": STRING, "y": BYTES}
    columns |= {"r": array(STRING), "o": BOOLEAN}
    sink = sink_of(session, columns, file_options(tmp_path / "o", "csv"))
    sql = """SELECT TIMESTAMP_NTZ '2024-01-01 08:00:00.12' a, TIMESTAMP '2024-01-01 08:00:00Z' b, 'a,"b' s,
        CAST(NULL AS STRING) n, '' e, CAST('hi' AS BINARY) y, array('x', 'y') r, true o"""
    sink.write(session.sql(sql), 0)
    assert lines(tmp_path / "o") == ['2024-01-01 08:00:00.12,2024-01-01 08:00:00Z,"a,""b",,,aGk=,x;y,true']
    with pytest.raises(SqlExtError, match="MAP"):
        sink_of(session, {"m": map_of(STRING, INT)}, file_options(tmp_path / "p", "csv"))


@pytest.mark.parametrize("file_format", ["csv", "json", "parquet", "orc"])
def test_what_is_written_can_be_read_by_us_and_by_anyone(
    session: SparkSession, tmp_path: Path, file_format: str
) -> None:
    columns = KV | {"t": TIMESTAMP3, "l": TIMESTAMP_LTZ3, "c": TIME}
    options = file_options(tmp_path / "o", file_format)
    sink = sink_of(session, columns, options)
    schema = "k STRING, v INT, t TIMESTAMP_NTZ, l TIMESTAMP, c TIME(0)"
    time = dt.datetime(2024, 1, 1, 8, 0, 0, 500000)
    data = rows(session, ("a", 1, time, time, dt.time(1, 2, 3)), schema=schema)
    sink.write(data, 0)
    sink.write(data, 1)
    sink.finish(session)
    definition = table(columns, options)
    read = open_batch(session, connector_of(definition).read_spec(definition)).collect()
    assert [tuple(r) for r in read] == [tuple(r) for r in data.collect()] * 2
    assert session.read.format(file_format).load(str(tmp_path / "o")).count() == 2
    assert not (tmp_path / "o" / "_sqlext").exists()


@pytest.mark.parametrize("file_format", ["csv", "json", "parquet", "orc"])
def test_an_empty_batch_leaves_an_empty_folder(session: SparkSession, tmp_path: Path, file_format: str) -> None:
    sink = sink_of(session, KV, file_options(tmp_path / "o", file_format))
    assert (tmp_path / "o").is_dir()
    sink.write(rows(session), 0)
    sink.finish(session)
    assert list((tmp_path / "o").iterdir()) == []


def test_partitions_are_folders_with_flinks_name_for_null(session: SparkSession, tmp_path: Path) -> None:
    options = file_options(tmp_path / "o", "json")
    sink = sink_of(session, KV, options, partitioned_by=("k",))
    sink.write(rows(session, ("a/b", 1), (None, 2), ("", 3)), 0)
    found = {f.rpartition("/")[0]: (tmp_path / "o" / f).read_text() for f in files(tmp_path / "o")}
    assert found == {"k=a%2Fb": '{"v":1}\n', "k=__DEFAULT_PARTITION__": '{"v":2}\n{"v":3}\n'}
    definition = table(KV, options, partitioned_by=("k",))
    read = open_batch(session, connector_of(definition).read_spec(definition)).collect()
    assert sorted(map(tuple, read), key=lambda r: r[1]) == [("a/b", 1), (None, 2), (None, 3)]


@pytest.mark.parametrize("more", [{}, {"sink.parallelism": "3"}])
def test_rows_of_a_partition_are_written_by_one_task_if_asked(
    session: SparkSession, tmp_path: Path, more: dict[str, str]
) -> None:
    data = rows(session, *((str(n % 3), n) for n in range(12))).repartition(4)
    shuffled = {"sink.shuffle-by-partition.enable": "true", **more}
    for name, options, written in (("as they come", more, range(4, 13)), ("shuffled", shuffled, (3,))):
        sink = sink_of(session, KV, file_options(tmp_path / name, "csv", **options), partitioned_by=("k",))
        sink.write(data, 0)
        assert len(files(tmp_path / name)) in written
        assert lines(tmp_path / name) == sorted(str(n) for n in range(12))


def test_a_repeated_batch_is_written_once(session: SparkSession, tmp_path: Path) -> None:
    sink = sink_of(session, KV, file_options(tmp_path / "o", "csv"))
    for batch in (0, 0, 1, 1, 0):
        sink.write(rows(session, ("a", batch)), batch)
    assert lines(tmp_path / "o") == ["a,0", "a,1"]


def test_another_checkpoint_and_another_query_append(session: SparkSession, tmp_path: Path) -> None:
    for query, checkpoint in (("q", "1"), ("q", "2"), ("../../evil", "1")):
        sink = sink_of(session, KV, file_options(tmp_path / "o", "csv"), query=query, checkpoint=checkpoint)
        sink.write(rows(session, (query + checkpoint, 0)), 0)
    assert lines(tmp_path / "o") == ["../../evil1,0", "q1,0", "q2,0"]
    assert [p.name for p in tmp_path.iterdir()] == ["o"]


def test_overwrite_replaces_everything_or_the_partitions_written(session: SparkSession, tmp_path: Path) -> None:
    for name, partitions, expected in (("all", (), ["c,3"]), ("some", ("k",), ["1", "3"])):
        options = file_options(tmp_path / name, "csv")
        first = sink_of(session, KV, options, partitioned_by=partitions)
        first.write(rows(session, ("a", 1), ("c", 2)), 0)
        second = sink_of(session, KV, options, partitioned_by=partitions, checkpoint="2", mode="overwrite")
        second.write(rows(session, ("c", 3)), 0)
        second.write(rows(session, ("c", 3)), 0)
        assert lines(tmp_path / name) == expected


def test_a_file_is_no_folder(session: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "o").write_text("")
    with pytest.raises(SqlExtError) as raised:
        sink_of(session, KV, file_options(tmp_path / "o", "csv"))
    assert raised.value.code == "SINK-092"


CHANGES = "k STRING, v INT, __key_0 STRING, __exists BOOLEAN"


@pytest.mark.parametrize("repeat", [False, True])
def test_a_final_state_is_written_once_at_the_end(session: SparkSession, tmp_path: Path, repeat: bool) -> None:
    more = {"mode": "final-state", "keys": ("__key_0",), "exists": EXISTS}
    sink = sink_of(session, KV, file_options(tmp_path / "o", "json"), **more)
    first = rows(session, ("a", 1, "a", True), ("b", 1, "b", True), (None, 1, None, True), schema=CHANGES)
    sink.write(first, 0)
    sink.write(rows(session, schema=CHANGES), 1)
    last = rows(session, ("a", 2, "a", True), ("b", None, "b", False), (None, 2, None, True), schema=CHANGES)
    for _ in range(1 + repeat):
        sink.write(last, 2)
    assert lines(tmp_path / "o") == []
    for _ in range(1 + repeat):
        sink.finish(session)
    assert sorted(lines(tmp_path / "o")) == ['{"k":"a","v":2}', '{"k":null,"v":2}']
    assert not (tmp_path / "o" / "_sqlext").exists()


def test_a_final_state_without_key_has_one_row(session: SparkSession, tmp_path: Path) -> None:
    sink = sink_of(session, {"v": INT}, file_options(tmp_path / "o", "json"), mode="final-state", exists=EXISTS)
    for batch in (1, 2):
        sink.write(rows(session, (batch, True), schema="v INT, __exists BOOLEAN"), batch)
    sink.finish(session)
    assert lines(tmp_path / "o") == ['{"v":2}']


def delta_rows(session: SparkSession, path: Path, columns: str = "*") -> list[tuple[Any, ...]]:
    return sorted(tuple(r) for r in session.read.format("delta").load(str(path)).selectExpr(columns).collect())


def delta_options(path: Path) -> dict[str, str]:
    return {"connector": "delta", "path": str(path)}


def test_delta_appends_once(session: SparkSession, tmp_path: Path) -> None:
    columns = KV | {"t": TIME, "w": TIMESTAMP3}
    properties = {"schema.watermark.0.rowtime": "w", "note": "it's"}
    sink = sink_of(
        session, columns, delta_options(tmp_path / "d"), properties=tuple(properties.items()), partitioned_by=("k",)
    )
    data = session.sql("SELECT 'a' k, 1 v, TIME '01:02:03' t, TIMESTAMP_NTZ '2024-01-01 00:00:00' w")
    for batch in (0, 0, 1, 0):
        sink.write(data, batch)
    assert delta_rows(session, tmp_path / "d", "struct(v, t)") == [((1, "01:02:03"),)] * 2
    detail = session.sql(f"DESCRIBE DETAIL delta.`{tmp_path / 'd'}`").first()
    assert detail is not None
    assert detail["partitionColumns"] == ["k"]
    assert properties.items() <= detail["properties"].items()
    sink_of(session, columns, delta_options(tmp_path / "d"), checkpoint="2", partitioned_by=("k",)).write(data, 0)
    assert len(delta_rows(session, tmp_path / "d")) == 3
    read = table(columns, delta_options(tmp_path / "d"))
    assert open_batch(session, connector_of(read).read_spec(read)).first()["t"] == dt.time(1, 2, 3)  # type: ignore[index]


def test_delta_knows_its_batches_below_the_commits_of_others(
    session: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "_DEPTHS", (2, 10))
    sink = sink_of(session, KV, delta_options(tmp_path / "d"))
    for batch in (0, 1):
        sink.write_new(rows(session, ("a", batch)), batch)
    other = sink_of(session, KV, delta_options(tmp_path / "d"), query="other")
    for batch in range(3):  # more than are looked at first
        other.write_new(rows(session, ("o", batch)).limit(0), batch)
    sink.write(rows(session, ("a", 1)), 1)
    assert delta_rows(session, tmp_path / "d") == [("a", 0), ("a", 1)]
    sink.write(rows(session, ("a", 2)), 2)
    assert delta_rows(session, tmp_path / "d") == [("a", 0), ("a", 1), ("a", 2)]


def test_delta_warns_where_a_shortened_log_cannot_tell(session: SparkSession, tmp_path: Path) -> None:
    options = delta_options(tmp_path / "d") | {"delta.checkpointInterval": "2"}
    sink = sink_of(session, KV, options)
    for batch in range(4):
        sink.write_new(rows(session, ("a", batch)), batch)
    for version in (0, 1):
        (tmp_path / "d" / "_delta_log" / f"{version:020}.json").unlink()
    sink.write(rows(session, ("a", 3)), 3)
    assert len(delta_rows(session, tmp_path / "d")) == 4
    other = sink_of(session, KV, options, query="other")
    with pytest.warns(Notice, match="if micro-batch 7 was written before the log was shortened"):
        other.write(rows(session, ("a", 7)), 7)
    assert len(delta_rows(session, tmp_path / "d")) == 5


def test_delta_upserts_by_primary_key(session: SparkSession, tmp_path: Path) -> None:
    more = {"mode": "upsert", "primary_key": ("k",), "keys": ("__key_0",), "exists": EXISTS}
    sink = sink_of(session, KV, delta_options(tmp_path / "d"), **more)
    sink.write(rows(session, ("a", 1, "a", True), ("b", 1, "b", True), schema=CHANGES), 0)
    assert session.conf.get("spark.databricks.delta.write.txnAppId", None) is None
    for _ in range(2):
        sink.write(rows(session, ("a", 2, "a", True), ("b", None, "b", False), schema=CHANGES), 1)
    assert delta_rows(session, tmp_path / "d") == [("a", 2)]
    sink.write(rows(session, ("a", 1, "a", True), schema=CHANGES), 0)
    assert delta_rows(session, tmp_path / "d") == [("a", 2)]


def test_delta_upserts_an_append_only_result_last_row_wins(session: SparkSession, tmp_path: Path) -> None:
    sink = sink_of(session, KV, delta_options(tmp_path / "d"), mode="upsert", primary_key=("k",))
    sink.write(rows(session, ("a", 1), ("b", 1), ("a", 2)), 0)
    assert delta_rows(session, tmp_path / "d") == [("a", 2), ("b", 1)]


def test_delta_without_primary_key_takes_updates_by_the_querys_key(session: SparkSession, tmp_path: Path) -> None:
    sink = sink_of(session, KV, delta_options(tmp_path / "d"), mode="upsert", keys=("k",), exists=EXISTS)
    sink.write(rows(session, ("a", 1, "a", True), (None, 1, None, True), schema=CHANGES), 0)
    sink.write(rows(session, ("a", 2, "a", True), (None, 5, None, False), schema=CHANGES), 1)
    assert delta_rows(session, tmp_path / "d") == [("a", 2)]


def test_delta_keeps_the_one_row_of_a_result_without_key(session: SparkSession, tmp_path: Path) -> None:
    sink = sink_of(session, {"v": INT}, delta_options(tmp_path / "d"), mode="upsert", exists=EXISTS)
    for batch in (1, 2, 2):
        sink.write(rows(session, (batch, True), schema="v INT, __exists BOOLEAN"), batch)
    assert delta_rows(session, tmp_path / "d") == [(2,)]


def test_delta_by_name(session: SparkSession) -> None:
    session.sql("DROP TABLE IF EXISTS sink_by_name")
    options = {"connector": "delta", "table-name": "default.sink_by_name"}
    for mode in ("append", "upsert"):
        sink_of(session, KV, options, mode=mode, query=mode, primary_key=("k",)).write(rows(session, ("a", 1)), 0)
    assert session.table("sink_by_name").count() == 1
    session.sql("DROP TABLE sink_by_name")


def test_delta_refuses_other_columns_before_the_start(session: SparkSession, tmp_path: Path) -> None:
    sink_of(session, KV, delta_options(tmp_path / "d"))
    for columns in ({"k": STRING}, {"k": STRING, "v": BIGINT}, KV | {"x": INT}):
        with pytest.raises(SqlExtError, match="does not fit `snk`") as raised:
            sink_of(session, columns, delta_options(tmp_path / "d"))
        assert raised.value.code == "SINK-091"


def test_delta_overwrite(session: SparkSession, tmp_path: Path) -> None:
    sink_of(session, KV, delta_options(tmp_path / "d")).write(rows(session, ("a", 1)), 0)
    sink_of(session, KV, delta_options(tmp_path / "d"), checkpoint="2", mode="overwrite").write(
        rows(session, ("b", 2)), 0
    )
    assert delta_rows(session, tmp_path / "d") == [("b", 2)]


def test_print(session: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    columns = {
        "k": STRING,
        "o": BOOLEAN,
        "t": TIMESTAMP3,
        "l": TIMESTAMP_LTZ3,
        "a": array(INT),
        "r": row(Field("x", INT)),
    }
    sql = """SELECT 'a' k, true o, TIMESTAMP_NTZ '2024-01-01 08:00:00' t, TIMESTAMP '2024-01-01 08:00:00Z' l,
        array(1, null) a, named_struct('x', 1) r"""
    sink_of(session, columns, {"connector": "print"}).write(session.sql(sql), 0)
    sink_of(
        session, KV, {"connector": "print", "print-identifier": "p", "standard-error": "true"}, exists=EXISTS
    ).write(rows(session, ("a", 1, "a", True), ("b", None, "b", False), schema=CHANGES), 0)
    out, err = capsys.readouterr()
    assert out == "+I[a, true, 2024-01-01T08:00, 2024-01-01T08:00:00Z, [1, null], +I[1]]\n"
    assert err == "p> +U[a, 1]\np> -D[b, null]\n"


def test_blackhole_and_any_spark_format(session: SparkSession, tmp_path: Path) -> None:
    sink_of(session, KV, {"connector": "blackhole"}).write(rows(session, ("a", 1)), 0)
    options = {"connector": "spark", "format": "csv", "path": str(tmp_path / "o"), "header": "true"}
    sink_of(session, KV, options).write(rows(session, ("a", 1)), 0)
    assert lines(tmp_path / "o") == ["a,1", "k,v"]
    with pytest.raises(SqlExtError, match="does not take updates"):
        sink_of(session, KV, options, mode="upsert")


def test_collect(session: SparkSession) -> None:
    plain = CollectSink(SinkContext("select", "1"))
    for batch in (0, 0, 1):
        plain.write(rows(session, ("a", batch)), batch)
    live = plain.live(2)
    assert live.take() == [("+I", ("a", 0)), ("+I", ("a", 1))]
    assert live.rows == [("a", 0), ("a", 1)]
    folded = CollectSink(SinkContext("select", "1", keys=("__key_0",), exists=EXISTS))
    folded.write(rows(session, ("a", 1, "a", True), ("b", 1, "b", True), schema=CHANGES), 0)
    folded.write(rows(session, ("b", 1, "b", False), ("a", 2, "a", True), schema=CHANGES), 1)
    live = folded.live(2)
    assert live.take() == [
        ("+I", ("a", 1)), ("+I", ("b", 1)), ("-D", ("b", 1)), ("-U", ("a", 1)), ("+U", ("a", 2)),
    ]  # fmt: skip
    assert live.rows == [("a", 2)]
    assert live.take() == []


def test_a_sink_can_be_sent_elsewhere(session: SparkSession, tmp_path: Path) -> None:
    """Spark Connect pickles ``write``."""
    for sink in (
        sink_of(session, KV, file_options(tmp_path / "o", "csv")),
        sink_of(session, KV, delta_options(tmp_path / "d")),
    ):
        pickle.loads(pickle.dumps(sink.write))(rows(session, ("a", 1)), 0)
    assert lines(tmp_path / "o") == ["a,1"]
    assert delta_rows(session, tmp_path / "d") == [("a", 1)]
