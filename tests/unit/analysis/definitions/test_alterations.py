"""ALTER TABLE: each answer asked of Flink 2.3.0."""

from __future__ import annotations

import pytest

from .conftest import Definitions

TABLE = """
CREATE TABLE t (a INT COMMENT 'ca', b STRING, c AS a + 1, p INT, k INT NOT NULL, ts TIMESTAMP(3), tt TIMESTAMP(3),
  m INT METADATA, WATERMARK FOR ts AS tt - INTERVAL '1' SECOND, PRIMARY KEY (k) NOT ENFORCED)
PARTITIONED BY (p) WITH ('connector' = 'x')
"""
NAMES = "a b c p k ts tt m"


@pytest.fixture
def table(flink: Definitions) -> Definitions:
    flink.run(TABLE)
    flink.run("CREATE TABLE bare (a INT, ts TIMESTAMP(3)) WITH ('connector' = 'x')")
    return flink


@pytest.mark.parametrize(
    ("change", "names"),
    [
        ("ADD n INT", f"{NAMES} n"),
        ("ADD n INT FIRST", f"n {NAMES}"),
        ("ADD (n INT AFTER a, o AS n + a FIRST, q INT AFTER n)", "o a n q b c p k ts tt m"),
        ("MODIFY b BIGINT FIRST", "b a c p k ts tt m"),
        ("MODIFY a INT AFTER c", "b c a p k ts tt m"),
        ("DROP b", "a c p k ts tt m"),
        ("DROP (a, c)", "b p k ts tt m"),
        ("RENAME c TO d", "a b d p k ts tt m"),
        ("RENAME k TO kk", "a b c p kk ts tt m"),
    ],
)
def test_columns(table: Definitions, change: str, names: str) -> None:
    table.run(f"ALTER TABLE t {change}")
    assert [c.name for c in table.table("t").columns] == names.split()


def test_what_depends_on_a_column_follows_it(table: Definitions) -> None:
    table.run("ALTER TABLE t MODIFY a BIGINT; ALTER TABLE t RENAME k TO kk")
    columns = {c.name: c for c in table.table("t").columns}
    assert (str(columns["c"].type), columns["a"].comment) == ("BIGINT", "ca")
    key = table.table("t").primary_key
    assert key is not None
    assert (key.name, key.columns) == ("PK_k", ("kk",))


def test_keys_and_watermarks(table: Definitions) -> None:
    table.run("ALTER TABLE bare ADD (PRIMARY KEY (a) NOT ENFORCED, WATERMARK FOR ts AS ts)")
    bare = table.table("bare")
    assert bare.primary_key is not None
    assert bare.watermark is not None
    assert str(bare.columns[0].type) == "INT NOT NULL"
    table.run("ALTER TABLE bare MODIFY WATERMARK FOR ts AS ts - INTERVAL '1' SECOND; ALTER TABLE bare DROP PRIMARY KEY")
    bare = table.table("bare")
    assert bare.watermark is not None
    assert bare.watermark.expression == "ts - INTERVAL '1' SECOND"
    assert (bare.primary_key, str(bare.columns[0].type)) == (None, "INT NOT NULL")
    table.run("ALTER TABLE bare DROP WATERMARK")
    assert table.table("bare").watermark is None


def test_a_type_and_the_watermark_on_it_change_together(table: Definitions) -> None:
    table.run("ALTER TABLE bare ADD WATERMARK FOR ts AS ts")
    table.run("ALTER TABLE bare MODIFY (ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)")
    assert str(table.table("bare").columns[1].type) == "TIMESTAMP_LTZ(3)"


@pytest.mark.parametrize(
    ("change", "code", "at"),
    [
        ("ADD b INT", "DDL-031", "b INT"),
        ("ADD (n INT, n INT)", "DDL-001", "n INT)"),
        ("ADD n INT AFTER zz", "DDL-030", "n INT"),
        ("ADD n AS c + 1", "NAME-003", "c + 1"),
        ("ADD WATERMARK FOR ts AS ts", "DDL-031", "WATERMARK"),
        ("ADD PRIMARY KEY (a) NOT ENFORCED", "DDL-031", "PRIMARY"),
        ("MODIFY zz INT", "DDL-030", "zz"),
        ("MODIFY (a BIGINT, a INT)", "DDL-001", "a INT)"),
        ("MODIFY ts TIMESTAMP(6)", "TIME-011", None),
        ("MODIFY tt STRING", "DDL-007", None),
        ("MODIFY a STRING", "DDL-007", None),
        ("MODIFY k AS 1", "DDL-004", None),
        ("MODIFY p AS 1", "DDL-005", None),
        ("MODIFY WATERMARK FOR zz AS zz", "TIME-010", "WATERMARK"),
        ("MODIFY PRIMARY KEY (c) NOT ENFORCED", "DDL-004", "PRIMARY"),
        ("DROP zz", "DDL-030", None),
        ("DROP (b, b)", "DDL-030", None),
        ("DROP a", "DDL-032", None),
        ("DROP p", "DDL-032", None),
        ("DROP k", "DDL-032", None),
        ("DROP ts", "DDL-032", None),
        ("DROP tt", "DDL-032", None),
        ("DROP CONSTRAINT zz", "DDL-030", None),
        ("RENAME zz TO y", "DDL-030", None),
        ("RENAME b TO m", "DDL-031", None),
        ("RENAME a TO a2", "DDL-032", None),
        ("RENAME p TO p2", "DDL-032", None),
        ("RENAME tt TO t2", "DDL-032", None),
    ],
)
def test_refused(table: Definitions, change: str, code: str, at: str | None) -> None:
    assert table.refuse(f"ALTER TABLE t {change}", code, at).span is not None


@pytest.mark.parametrize(
    "change", ["DROP WATERMARK", "DROP PRIMARY KEY", "DROP CONSTRAINT x", "MODIFY WATERMARK FOR ts AS ts"]
)
def test_what_is_not_there(table: Definitions, change: str) -> None:
    table.refuse(f"ALTER TABLE bare {change}", "DDL-030")
