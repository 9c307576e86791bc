"""Connector ``jdbc`` without Spark: its options, its URLs, and a database in a file."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from connectors.tables import table

from sqlext.connectors.jdbc.options import Cache, cache_of, ranges
from sqlext.connectors.jdbc.place import DATABASES, database_of, place_of
from sqlext.connectors.jdbc.reader import READER, JdbcReader
from sqlext.connectors.jdbc.sink import Writing, Written
from sqlext.connectors.jdbc.statements import Target
from sqlext.connectors.options import OptionError
from sqlext.connectors.registry import connector_of
from sqlext.errors import SqlExtError
from sqlext.sinks.letter_limit import LetterLimit
from sqlext.types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    INT,
    STRING,
    TIME,
    TIMESTAMP3,
    TIMESTAMP_LTZ3,
    LogicalType,
    array,
    decimal,
    map_of,
)

PG = {"connector": "jdbc", "url": "jdbc:postgresql://h/d", "table-name": "t"}
PARTS = {
    "scan.partition.column": "n",
    "scan.partition.num": "3",
    "scan.partition.lower-bound": "1",
    "scan.partition.upper-bound": "10",
}
KN: dict[str, LogicalType] = {"k": STRING, "n": BIGINT}
Rows = list[tuple[Any, ...]]


def refusal(options: dict[str, str], columns: dict[str, LogicalType] = KN) -> OptionError:
    definition = table(columns, PG | options)
    with pytest.raises(OptionError) as raised:
        connector_of(definition).validate(definition, "source")
    return raised.value


@pytest.mark.parametrize(
    ("options", "code", "option", "word"),
    [
        ({"url": "postgresql://h/d"}, "OPT-005", "url", "jdbc:postgresql://host:5432/database"),
        ({"url": "jdbc:oracle://h/d"}, "OPT-005", "url", "'connector' = 'spark', 'format' = 'jdbc'"),
        ({"url": "jdbc:mysql://a,b/d"}, "OPT-005", "url", "jdbc:mysql://host:3306/database"),
        ({"url": "jdbc:mysql://h/d?connectTimeut=1"}, "OPT-005", "url", "`connectTimeout`"),
        ({"url": "jdbc:mysql://h/d?user=u&password=p"}, "OPT-005", "url", "'password' = 'env:NAME'"),
        ({"url": "jdbc:mysql://h/d?sslMode=sometimes"}, "OPT-005", "url", "sslMode"),
        ({"url": "jdbc:mysql://h/d?useSSL=maybe"}, "OPT-005", "url", "useSSL"),
        ({"url": "jdbc:postgresql://h/d?aplicationName=x"}, "OPT-005", "url", "did you mean `ApplicationName`?"),
        ({"url": "jdbc:postgresql://h/d?user=u&password=p"}, "OPT-005", "url", "'password' = 'env:NAME'"),
        ({"url": "jdbc:sqlite::memory:"}, "OPT-005", "url", "jdbc:sqlite:/folder/file.db"),
        ({"url": "jdbc:sqlite:s3://b/x.db"}, "OPT-005", "url", "jdbc:sqlite:/folder/file.db"),
        ({"url": "jdbc:sqlite:dbfs:/x.db"}, "OPT-005", "url", "jdbc:sqlite:/folder/file.db"),
        ({"driver": "com.mysql.cj.jdbc.Driver"}, "OPT-005", "driver", "org.postgresql.Driver"),
        ({"sqlext.source": "spark"}, "OPT-005", "sqlext.source", "cannot be 'spark'"),
        ({"scan.mode": "streaming"}, "OPT-005", "scan.mode", "cannot be 'streaming'"),
        ({"scan.fetch-size": "many"}, "OPT-005", "scan.fetch-size", "a whole number"),
        ({"lookup.cache": "FULL"}, "OPT-005", "lookup.cache", "NONE or PARTIAL"),
        ({"sink.delivery-guarantee": "none"}, "OPT-005", "sink.delivery-guarantee", "exactly-once or at-least-once"),
        ({"scan.partition.num": "3"}, "OPT-004", "scan.partition.num", "all four"),
        (PARTS | {"scan.partition.column": "k"}, "OPT-008", "scan.partition.column", "that is a number"),
        (PARTS | {"scan.partition.column": "x"}, "OPT-008", "scan.partition.column", "`x` is no column"),
        (PARTS | {"scan.partition.upper-bound": "0"}, "OPT-005", "scan.partition.lower-bound", "above"),
        ({"table": "t"}, "OPT-003", "table", "`table-name`"),
    ],
)
def test_refusals(options: dict[str, str], code: str, option: str, word: str) -> None:
    error = refusal(options)
    assert (error.code, error.option) == (code, option)
    assert word in f"{error.message} {error.hint}"


def test_columns_that_a_database_cannot_hold() -> None:
    assert refusal({}, {"m": map_of(STRING, INT)}).code == "OPT-008"
    assert refusal({}, {"a": array(array(INT))}).code == "OPT-008"
    assert refusal({"url": "jdbc:sqlite:/f"}, {"a": array(INT)}).code == "OPT-008"
    assert refusal({"url": "jdbc:mysql://h/d"}, {"a": array(INT)}).code == "OPT-008"


@pytest.mark.parametrize(
    ("url", "settings"),
    [
        ("//h/d", {"host": "h", "port": "5432", "dbname": "d"}),
        ("//h:1/", {"host": "h", "port": "1"}),
        ("//a:1,b/d", {"host": "a,b", "port": "1,5432", "dbname": "d"}),
        ("//[::1]:7/d", {"host": "::1", "port": "7", "dbname": "d"}),
        ("//[::1]/d", {"host": "::1", "port": "5432", "dbname": "d"}),
        ("d", {"host": "localhost", "port": "5432", "dbname": "d"}),
        ("//h/d%20e?user=u", {"host": "h", "port": "5432", "dbname": "d e", "user": "u"}),
        ("//h/d?ssl=true", {"host": "h", "port": "5432", "dbname": "d", "sslmode": "verify-full"}),
        (
            "//h/d?currentSchema=s&reWriteBatchedInserts=true",
            {"host": "h", "port": "5432", "dbname": "d", "options": "-c search_path=s"},
        ),
    ],
)
def test_urls_of_postgresql(url: str, settings: dict[str, str]) -> None:
    database, address = database_of(f"jdbc:postgresql:{url}")
    assert database.settings(address) == settings


@pytest.mark.parametrize(
    ("url", "settings"),
    [
        ("mysql://h/d", {"host": "h", "port": "3306", "database": "d"}),
        ("mariadb://h:1/", {"host": "h", "port": "1"}),
        ("mysql://[::1]:7/d", {"host": "::1", "port": "7", "database": "d"}),
        (
            "mysql://h/d?useSSL=false&serverTimezone=Asia/Shanghai&connectTimeout=3500&sslMode=VERIFY_CA",
            {"host": "h", "port": "3306", "database": "d", "connect_timeout": "3", "tls": "verify"},
        ),
        ("mysql://h?verifyServerCertificate=true&useSSL=true", {"host": "h", "port": "3306", "tls": "verify"}),
        ("mysql://h?useSSL=TRUE", {"host": "h", "port": "3306", "tls": "any"}),
    ],
)
def test_urls_of_mysql(url: str, settings: dict[str, str]) -> None:
    database, address = database_of(f"jdbc:{url}")
    assert database.settings(address) == settings


def test_statements_of_mysql() -> None:
    target = Target(DATABASES["mysql"], '"t"', ("a", "b"), ("a",))
    assert target.insert == 'INSERT INTO "t" ("a", "b") VALUES (%s, %s) ON DUPLICATE KEY UPDATE "b" = VALUES("b")'
    assert target.claim.endswith("ON DUPLICATE KEY UPDATE batch = GREATEST(batch, VALUES(batch))")
    only_keys = Target(DATABASES["mariadb"], '"t"', ("a",), ("a",))
    assert only_keys.insert.endswith('ON DUPLICATE KEY UPDATE "a" = VALUES("a")')


def test_the_login_is_found_where_the_table_says_and_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PG_PASSWORD", "hush")
    place = place_of(PG | {"username": "u", "password": "env:PG_PASSWORD", "connection.max-retry-timeout": "5 s"})
    assert dict(place.settings) == {
        "host": "h",
        "port": "5432",
        "dbname": "d",
        "user": "u",
        "password": "hush",
        "connect_timeout": "5",
    }
    assert "hush" not in f"{place} {place!r}"


def test_parts_cover_the_bounds_without_gaps() -> None:
    assert ranges(table(KN, PG)) == ()
    assert ranges(table(KN, PG | PARTS)) == ((1, 4, False), (4, 7, False), (7, 10, True))
    few = PARTS | {"scan.partition.lower-bound": "-1", "scan.partition.upper-bound": "0"}
    assert ranges(table(KN, PG | few)) == ((-1, 0, False), (0, 0, True))


@pytest.mark.parametrize(
    ("options", "cache"),
    [
        ({}, None),
        ({"lookup.cache": "PARTIAL", "lookup.partial-cache.max-rows": "9"}, None),
        (
            {
                "lookup.cache": "partial",
                "lookup.partial-cache.max-rows": "9",
                "lookup.partial-cache.expire-after-write": "2 s",
            },
            Cache(2000, 9),
        ),
        ({"lookup.cache.max-rows": "5", "lookup.cache.ttl": "1 min"}, Cache(60_000, 5)),
        (
            {"lookup.cache.max-rows": "5", "lookup.cache.ttl": "1 min", "lookup.cache.caching-missing-key": "false"},
            None,
        ),
    ],
)
def test_what_a_lookup_may_keep(options: dict[str, str], cache: Cache | None) -> None:
    assert cache_of(table(KN, PG | options)) == cache


def test_names_stand_in_quotes_and_parameters_outside() -> None:
    target = Target(DATABASES["postgresql"], '"s"."t"', ("a%?", "b"), ("a%?",))
    assert target.insert == (
        'INSERT INTO "s"."t" ("a%%?", "b") VALUES (%s, %s) ON CONFLICT ("a%%?") DO UPDATE SET "b" = excluded."b"'
    )
    assert target.delete == 'DELETE FROM "s"."t" WHERE "a%%?" = %s'
    only_keys = Target(DATABASES["sqlite"], '"t"', ("a",), ("a",))
    assert only_keys.insert == 'INSERT INTO "t" ("a") VALUES (?) ON CONFLICT ("a") DO NOTHING'


# A database in a file


def options_of(folder: Path, **more: str) -> dict[str, str]:
    return {"connector": "jdbc", "url": f"jdbc:sqlite:{folder}/x.db", "table-name": "t"} | more


def writing(folder: Path, columns: dict[str, LogicalType], keys: tuple[str, ...] = (), **more: str) -> Writing:
    definition = table(columns, options_of(folder, **more), primary_key=keys)
    connector_of(definition).validate(definition, "sink")
    spec = connector_of(definition).write_spec(definition)
    made = Writing(place_of(dict(spec.options)), spec, bool(keys), "q")
    made.prepare()
    return made


def batch(columns: dict[str, pa.DataType], *rows: tuple[Any, ...], gone: tuple[int, ...] = ()) -> pa.RecordBatch:
    values = [pa.array([row[n] for row in rows], kind) for n, kind in enumerate(columns.values())]
    flags = pa.array([n not in gone for n in range(len(rows))])
    return pa.record_batch([*values, flags], [*columns, "__there"])


def kn(*rows: tuple[Any, ...], gone: tuple[int, ...] = ()) -> list[pa.RecordBatch]:
    return [batch({"k": pa.string(), "n": pa.int64()}, *rows, gone=gone)]


def held(folder: Path, query: str = "SELECT * FROM t ORDER BY 1, 2") -> Rows:
    connection = sqlite3.connect(folder / "x.db")
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def reader(folder: Path, columns: dict[str, LogicalType], **more: str) -> JdbcReader:
    made = READER.source(table(columns, options_of(folder, **more)), None, 2).reader
    assert isinstance(made, JdbcReader)
    return made


def read(source: JdbcReader) -> Rows:
    pieces = source.slices({}, source.latest({}, None))
    return [tuple(row.values()) for p in pieces for rows in source.read(p) for row in rows.to_pylist()]


def test_rows_are_appended_and_a_batch_that_comes_again_is_known(tmp_path: Path) -> None:
    sink = writing(tmp_path, KN)
    assert sink.write(kn(("a", 1), ("a", 1)), 0).rows == 2
    assert sink.write(kn(("b", 2)), 1).rows == 1
    assert sink.write(kn(("b", 2)), 1).rows == 0
    assert sink.write(kn(("a", 1)), 0).rows == 0
    assert held(tmp_path) == [("a", 1), ("a", 1), ("b", 2)]
    assert held(tmp_path, "SELECT * FROM sqlext_batches") == [("q", 1)]


def test_rows_replace_each_other_by_key_and_go(tmp_path: Path) -> None:
    sink = writing(tmp_path, KN, ("k",), **{"sink.buffer-flush.max-rows": "1"})
    sink.write(kn(("a", 1), ("b", 1)), 0)
    sink.write(kn(("a", 2), ("c", 3)), 1)
    sink.write(kn(("b", None), ("d", None), ("c", 4), gone=(0, 1)), 2)
    assert held(tmp_path) == [("a", 2), ("c", 4)]


def test_a_batch_is_in_whole_or_not_at_all(tmp_path: Path) -> None:
    sink = writing(tmp_path, {"k": STRING, "n": BIGINT.not_null()}, **{"sink.buffer-flush.max-rows": "1"})
    with pytest.raises(SqlExtError, match="NOT NULL") as raised:
        sink.write(kn(("a", 1), ("b", None)), 0)
    assert raised.value.code == "RUN-070"
    assert held(tmp_path) == []
    assert sink.write(kn(("a", 1), ("b", 2)), 0).rows == 2


EVERYTHING: dict[str, LogicalType] = {
    "b": BOOLEAN,
    "i": INT,
    "d": DOUBLE,
    "e": decimal(12, 3),
    "s": STRING,
    "y": BYTES,
    "day": DATE,
    "at": TIME,
    "wall": TIMESTAMP3,
    "instant": TIMESTAMP_LTZ3,
}
ARROW = {
    "b": pa.bool_(),
    "i": pa.int32(),
    "d": pa.float64(),
    "e": pa.decimal128(12, 3),
    "s": pa.string(),
    "y": pa.binary(),
    "day": pa.date32(),
    "at": pa.string(),
    "wall": pa.timestamp("us"),
    "instant": pa.timestamp("us", "America/New_York"),
}
VALUES = (
    True,
    -7,
    0.1,
    Decimal("123456789.125"),
    "é'",
    b"\x00\xff",
    date(1, 1, 1),
    "23:59:59",
    datetime(2024, 3, 10, 2, 30, 0, 5000),
    datetime(2024, 1, 1, 12, tzinfo=timezone.utc),
)


def test_values_come_back_as_they_were(tmp_path: Path) -> None:
    sink = writing(tmp_path, EVERYTHING)
    sink.write([batch(ARROW, VALUES, (None,) * len(VALUES))], 0)
    assert read(reader(tmp_path, EVERYTHING)) == [VALUES, (None,) * len(VALUES)]


def test_a_value_that_is_not_of_its_type_is_named(tmp_path: Path) -> None:
    writing(tmp_path, {"k": STRING}).write([batch({"k": pa.string()}, ("tomorrow",))], 0)
    with pytest.raises(SqlExtError, match="column `k` has a value that is no date32") as raised:
        read(reader(tmp_path, {"k": DATE}))
    assert raised.value.code == "RUN-071"


def test_parts_are_read_once(tmp_path: Path) -> None:
    writing(tmp_path, KN).write(kn(*((str(n), n) for n in range(12)), ("null", None)), 0)
    source = reader(tmp_path, KN, **PARTS)
    end = source.latest({}, None)
    assert end == {"part-0": 1, "part-1": 1, "part-2": 1}
    assert sorted(n for _, n in read(source)) == list(range(1, 11))
    assert source.slices(end, source.latest(end, None)) == []
    assert [piece.split for piece in source.slices({"part-1": 1}, end)] == ["part-0", "part-2"]


def test_a_lookup_keeps_rows_until_they_expire(tmp_path: Path) -> None:
    sink = writing(tmp_path, KN)
    sink.write(kn(("a", 1)), 0)
    now = [0.0]
    cached = JdbcReader(
        **{
            **{n: getattr(reader(tmp_path, KN), n) for n in ("place", "schema", "types", "parts", "size")},
            "cache": Cache(1000, 2),
            "clock": lambda: now[0],
        }
    )
    assert read(cached) == [("a", 1)]
    sink.write(kn(("b", 2)), 1)
    now[0] = 999.0
    assert read(cached) == [("a", 1)]
    now[0] = 1000.0
    assert read(cached) == [("a", 1), ("b", 2)]
    sink.write(kn(("c", 3)), 2)
    now[0] = 2000.0
    assert len(read(cached)) == 3
    sink.write(kn(("d", 4)), 3)
    assert len(read(cached)) == 4  # more than it may keep


def test_what_is_there_is_held_against_the_declaration(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "x.db")
    connection.execute("CREATE TABLE other (k TEXT)")
    with pytest.raises(OptionError, match="does not exist") as raised:
        reader(tmp_path, KN)
    assert raised.value.code == "OPT-009"
    connection.execute("CREATE TABLE t (k TEXT, m BIGINT)")
    connection.close()
    with pytest.raises(OptionError, match="has no column `n`; it has k, m") as raised:
        reader(tmp_path, KN)
    assert raised.value.code == "OPT-012"
    with pytest.raises(SqlExtError, match="has no column `n`") as other:
        writing(tmp_path, KN)
    assert other.value.code == "SINK-091"
    with pytest.raises(SqlExtError, match="cannot replace rows by its PRIMARY KEY") as other:
        writing(tmp_path, {"k": STRING, "m": BIGINT}, ("k",))
    assert other.value.code == "SINK-094"
    assert "UNIQUE INDEX" in str(other.value.hint)


def test_a_database_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SqlExtError, match="unable to open") as raised:
        reader(tmp_path, KN)
    assert raised.value.code == "RUN-070"
    assert list(tmp_path.iterdir()) == []  # who reads makes no file


def judging(folder: Path, ddl: str, keys: tuple[str, ...] = (), **limit: int) -> Writing:
    """Return what writes to a table that is there, and tells which rows are refused."""
    connection = sqlite3.connect(folder / "x.db")
    connection.executescript(ddl)
    connection.close()
    found = replace(writing(folder, KN, keys), limit=LetterLimit(**limit))
    found.prepare()
    return found


def kn_texts(*rows: tuple[Any, ...]) -> list[pa.RecordBatch]:
    texts = [f"row {n}" for n in range(len(rows))]
    kinds = {"k": pa.string(), "n": pa.int64(), "__text": pa.string()}
    return [batch(kinds, *((*row, text) for row, text in zip(rows, texts, strict=True)))]


@pytest.mark.parametrize("size", ["1", "3", "5000"])
def test_rows_that_the_database_refuses_are_found_and_the_others_written(tmp_path: Path, size: str) -> None:
    sink = judging(tmp_path, "CREATE TABLE t (k TEXT UNIQUE, n INTEGER CHECK (n > 0))")
    spec = replace(sink.spec, options=(*sink.spec.options, ("sink.buffer-flush.max-rows", size)))
    sink = replace(sink, spec=spec)
    rows = kn_texts(("a", 1), ("b", -1), ("c", 2), ("c", 3), ("d", 4), ("e", 0), ("f", 5))
    found = sink.write(rows, 0)
    assert held(tmp_path) == [("a", 1), ("c", 2), ("d", 4), ("f", 5)]
    assert found.rows == 4
    assert [row.text for row in found.refused] == ["row 1", "row 3", "row 5"]
    assert ["UNIQUE" in row.why or "CHECK" in row.why for row in found.refused] == [True] * 3
    # The batch comes again: the table has it, and still knows what it refused.
    assert sink.write(rows, 0) == Written(0, found.refused)
    assert sink.write(kn_texts(("g", 1)), 1) == Written(1, ())
    assert held(tmp_path, "SELECT * FROM sqlext_refused") == []


def test_a_row_of_a_key_and_its_deletion_are_refused_too(tmp_path: Path) -> None:
    ddl = (
        "CREATE TABLE t (k TEXT PRIMARY KEY, n INTEGER);"
        "CREATE TRIGGER kept BEFORE DELETE ON t WHEN old.k = 'b' BEGIN SELECT RAISE(ABORT, 'b stays'); END;"
        "CREATE TRIGGER low BEFORE UPDATE ON t WHEN new.n < old.n BEGIN SELECT RAISE(ABORT, 'it fell'); END"
    )
    sink = judging(tmp_path, ddl, ("k",))
    sink.write(kn_texts(("a", 5), ("b", 5), ("c", 5)), 0)
    kinds = {"k": pa.string(), "n": pa.int64(), "__text": pa.string()}
    rows = [batch(kinds, ("a", 4, "A"), ("b", None, "B"), ("c", None, "C"), gone=(1, 2))]
    assert sink.write(rows, 1).refused == (("B", "b stays"), ("A", "it fell"))
    assert held(tmp_path) == [("a", 5), ("b", 5)]


def test_more_refused_rows_than_the_limit_allows_undo_the_batch(tmp_path: Path) -> None:
    sink = judging(tmp_path, "CREATE TABLE t (k TEXT, n INTEGER CHECK (n > 0))", most=1)
    with pytest.raises(SqlExtError) as raised:
        sink.write(kn_texts(("a", 1), ("b", 0), ("c", 0)), 0)
    assert raised.value.code == "RUN-081"
    assert held(tmp_path) == []
    assert sink.write(kn_texts(("a", 1), ("b", 0)), 0).rows == 1


def test_what_is_not_for_a_row_ends_the_batch(tmp_path: Path) -> None:
    sink = judging(tmp_path, "CREATE TABLE t (k TEXT, n INTEGER)")
    connection = sqlite3.connect(tmp_path / "x.db")
    connection.execute("CREATE TRIGGER broken BEFORE INSERT ON t BEGIN INSERT INTO nowhere VALUES (1); END")
    connection.close()
    with pytest.raises(SqlExtError, match=r"RUN-070.*nowhere"):
        sink.write(kn_texts(("a", 1), ("b", 2)), 0)
