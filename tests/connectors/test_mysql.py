"""Tables of a real MariaDB, which MySQL's protocol reaches: what the sink writes, and what the reader reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from connectors.tables import table

from sqlext.connectors.jdbc.place import Address, place_of
from sqlext.connectors.jdbc.reader import READER, JdbcReader
from sqlext.connectors.jdbc.sink import Writing, Written
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
    FLOAT,
    INT,
    STRING,
    TIME,
    TIMESTAMP3,
    TIMESTAMP_LTZ3,
    LogicalType,
    decimal,
)
from tests.mariadb_server import PASSWORD, USER, mariadb_server

Rows = list[tuple[Any, ...]]
KN: dict[str, LogicalType] = {"k": STRING, "n": BIGINT}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A server, for all tests of this module."""
    with mariadb_server() as found:
        yield found


class Database:
    """The server's database, and how tables of it are declared."""

    def __init__(self, url: str) -> None:
        self._url = url

    def options(self, **more: str) -> dict[str, str]:
        return {"connector": "jdbc", "url": self._url, "table-name": "t", "username": USER, "password": PASSWORD} | more

    def place(self) -> Address:
        return place_of(self.options())

    def ask(self, statement: str) -> Rows:
        with self.place().connected() as connection:
            return list(connection.execute(statement).fetchall())

    def writing(self, columns: Mapping[str, LogicalType], keys: tuple[str, ...] = (), **more: str) -> Writing:
        definition = table(dict(columns), self.options(**more), primary_key=keys)
        connector_of(definition).validate(definition, "sink")
        spec = connector_of(definition).write_spec(definition)
        made = Writing(place_of(dict(spec.options)), spec, bool(keys), "q")
        made.prepare()
        return made

    def read(self, columns: Mapping[str, LogicalType], **more: str) -> Rows:
        reader = READER.source(table(dict(columns), self.options(**more)), None, 2).reader
        assert isinstance(reader, JdbcReader)
        pieces = reader.slices({}, reader.latest({}, None))
        return [tuple(row.values()) for p in pieces for rows in reader.read(p) for row in rows.to_pylist()]


@pytest.fixture
def database(url: str) -> Database:
    """A database with nothing in it."""
    found = Database(
        f"{url}?useSSL=false&allowPublicKeyRetrieval=true&serverTimezone=UTC&rewriteBatchedStatements=true"
    )
    for (name,) in found.ask("SELECT table_name FROM information_schema.tables WHERE table_schema = 'test'"):
        found.ask(f'DROP TABLE "{name}"')
    return found


def kn(*rows: tuple[Any, ...], gone: tuple[int, ...] = ()) -> list[pa.RecordBatch]:
    keys, numbers = pa.array([row[0] for row in rows], pa.string()), pa.array([row[1] for row in rows], pa.int64())
    there = pa.array([n not in gone for n in range(len(rows))])
    return [pa.record_batch([keys, numbers, there], ["k", "n", "__there"])]


def test_rows_are_appended_and_a_batch_that_comes_again_is_known(database: Database) -> None:
    sink = database.writing(KN)
    assert sink.write(kn(("a%s", 1), ("a%s", 1)), 0).rows == 2
    assert sink.write(kn(("b", 2)), 1).rows == 1
    assert sink.write(kn(("b", 2)), 1).rows == 0
    assert sink.write(kn(("a", 1)), 0).rows == 0
    assert database.ask("SELECT * FROM t ORDER BY k") == [("a%s", 1), ("a%s", 1), ("b", 2)]
    assert database.ask("SELECT * FROM sqlext_batches") == [("q", 1)]


def test_rows_replace_each_other_by_key_and_go(database: Database) -> None:
    sink = database.writing(KN, ("k",), **{"sink.buffer-flush.max-rows": "1"})
    sink.write(kn(("a", 1), ("A", 9), ("b", 1)), 0)
    sink.write(kn(("a", 2), ("c", 3)), 1)
    sink.write(kn(("b", None), ("d", None), ("c", 4), gone=(0, 1)), 2)
    assert sorted(database.ask("SELECT * FROM t")) == [("A", 9), ("a", 2), ("c", 4)]


def test_a_batch_is_in_whole_or_not_at_all(database: Database) -> None:
    sink = database.writing({"k": STRING, "n": BIGINT.not_null()}, **{"sink.buffer-flush.max-rows": "1"})
    with pytest.raises(SqlExtError, match="cannot be null") as raised:
        sink.write(kn(("a", 1), ("b", None)), 0)
    assert raised.value.code == "RUN-070"
    assert database.ask("SELECT * FROM t") == []
    assert sink.write(kn(("a", 1), ("b", 2)), 0).rows == 2


def test_rows_that_the_database_refuses_are_found_and_the_others_written(database: Database) -> None:
    database.ask("CREATE TABLE t (k varchar(3) UNIQUE, n bigint, CHECK (n > 0), CHECK (n <> 5))")
    database.ask(
        "CREATE TRIGGER low BEFORE INSERT ON t FOR EACH ROW IF NEW.n = 7 THEN SIGNAL SQLSTATE '45000' "
        "SET MESSAGE_TEXT = 'no seven'; END IF"
    )
    sink = replace(database.writing(KN), limit=LetterLimit())
    sink.prepare()
    rows = [("1", 1), ("1", 2), ("2", -1), ("3", 7), ("long", 4), ("4", 4), ("5", 5)]
    given = kn(*rows)[0]
    given = given.add_column(2, "__text", pa.array([f"row {n}" for n in range(len(rows))]))
    found = sink.write([given], 0)
    assert sorted(database.ask("SELECT * FROM t")) == [("1", 1), ("4", 4)]
    assert [(row.text, row.why[:5]) for row in found.refused] == [
        ("row 1", "(1062"),
        ("row 2", "(4025"),
        ("row 3", "(1644"),
        ("row 4", "(1406"),
        ("row 6", "(4025"),
    ]
    assert sink.write([given], 0) == Written(0, found.refused)


EVERYTHING: dict[str, LogicalType] = {
    "b": BOOLEAN,
    "i": INT,
    "f": FLOAT,
    "d": DOUBLE,
    "e": decimal(12, 3),
    "s": STRING,
    "y": BYTES,
    "day": DATE,
    "at": TIME,
    "wall": TIMESTAMP3,
    "instant": TIMESTAMP_LTZ3,
}
ARROW = (
    pa.bool_(),
    pa.int32(),
    pa.float32(),
    pa.float64(),
    pa.decimal128(12, 3),
    pa.string(),
    pa.binary(),
    pa.date32(),
    pa.string(),
    pa.timestamp("us"),
    pa.timestamp("us", "UTC"),
)
INSTANT = datetime(2024, 1, 1, 12, 0, 0, 5000, timezone.utc)
WALL = datetime(2024, 3, 10, 2, 30, 0, 1000)
VALUES: Rows = [
    (
        True,
        -1,
        16777217.5,
        0.1,
        Decimal("1.125"),
        "é'\"%s😀",
        b"\x00\xff",
        date(2024, 2, 29),
        "23:59:59",
        WALL,
        INSTANT,
    ),
    (False, 0, 0.5, 1e300, Decimal("-0.001"), "", b"", date(1000, 1, 1), "00:00:00", WALL, INSTANT),
    (None,) * 11,
]


def test_values_come_back_as_they_were(database: Database) -> None:
    columns = [pa.array([row[n] for row in VALUES], kind) for n, kind in enumerate(ARROW)]
    rows = pa.record_batch([*columns, pa.array([True] * 3)], [*EVERYTHING, "__there"])
    database.writing(EVERYTHING).write([rows], 0)
    expected = [(row[0], row[1], row[2] and 16777218.0 if row[2] == 16777217.5 else row[2], *row[3:]) for row in VALUES]
    assert database.read(EVERYTHING) == expected
    assert database.ask("SELECT instant FROM t WHERE b") == [(INSTANT.replace(tzinfo=None),)]


def test_types_of_other_programs(database: Database) -> None:
    columns = "id INT UNSIGNED PRIMARY KEY, tiny TINYINT, flag TINYINT(1), bits BIT(1), huge BIGINT UNSIGNED, "
    columns += "kind ENUM('x', 'y'), doc JSON, bin BLOB, at DATETIME(3), seen TIMESTAMP(3) NULL, other MEDIUMTEXT"
    values = "4294967295, -5, 1, b'1', 18446744073709551615, 'y', '{\"a\": 1}', 'z'"
    database.ask(f"CREATE TABLE t ({columns})")
    database.ask(f"INSERT INTO t VALUES ({values}, '2024-01-01 10:00:00.5', '2024-01-01 10:00:00', 'x')")
    declared = {"id": BIGINT, "tiny": INT, "flag": BOOLEAN, "bits": BOOLEAN, "huge": decimal(20, 0), "kind": STRING}
    (row,) = database.read(declared | {"doc": STRING, "bin": BYTES, "at": TIMESTAMP3, "seen": TIMESTAMP_LTZ3})
    assert row[:7] == (4294967295, -5, True, True, Decimal(18446744073709551615), "y", '{"a": 1}')
    assert row[7:] == (b"z", datetime(2024, 1, 1, 10, 0, 0, 500000), datetime(2024, 1, 1, 10, tzinfo=timezone.utc))
    for wrong in ({"id": INT}, {"huge": BIGINT}, {"seen": TIMESTAMP3}, {"at": TIMESTAMP_LTZ3}, {"kind": INT}):
        with pytest.raises(OptionError, match="declared is") as raised:
            database.read(wrong)
        assert raised.value.code == "OPT-012"


def test_a_key_needs_a_unique_index(database: Database) -> None:
    database.ask("CREATE TABLE t (k VARCHAR(20), n BIGINT, INDEX (k), UNIQUE (k, n))")
    with pytest.raises(SqlExtError, match='no unique index of "k"') as raised:
        database.writing(KN, ("k",))
    assert raised.value.code == "SINK-094"
    database.writing(KN, ("n", "k"))


def test_parts_are_read_once_and_names_have_a_database(database: Database) -> None:
    database.ask("CREATE TABLE `test`.`odd name` (k VARCHAR(20), n BIGINT)")
    database.ask("INSERT INTO `odd name` VALUES ('a', 1), ('b', 2), ('c', 10), ('d', 11)")
    parts = {
        "scan.partition.column": "n",
        "scan.partition.num": "3",
        "scan.partition.lower-bound": "1",
        "scan.partition.upper-bound": "10",
        "scan.fetch-size": "1",
    }
    named = {"table-name": "test.odd name"}
    assert sorted(database.read(KN, **named, **parts)) == [("a", 1), ("b", 2), ("c", 10)]
    assert len(database.read(KN, **{"table-name": "`test`.`odd name`"})) == 4


def test_a_login_that_is_wrong(database: Database) -> None:
    with pytest.raises(SqlExtError, match="Access denied") as raised:
        database.read(KN, password="not-this-one")
    assert raised.value.code == "RUN-070"
    assert "not-this-one" not in raised.value.message
