"""LIKE: what is inherited, what is refused; each asked of Flink 2.3.0."""

from __future__ import annotations

import pytest

from .conftest import Definitions

BASE = """
CREATE TABLE b (id INT, k STRING, v INT, ts TIMESTAMP(3), twice AS v * 2, m STRING METADATA,
  WATERMARK FOR ts AS ts, PRIMARY KEY (id) NOT ENFORCED)
COMMENT 'base' PARTITIONED BY (k) WITH ('connector' = 'x', 'a' = '1')
"""


@pytest.fixture
def base(flink: Definitions) -> Definitions:
    flink.run(BASE)
    flink.run("CREATE VIEW w AS SELECT 1 AS a")
    return flink


def test_everything_but_the_comment_is_inherited(base: Definitions) -> None:
    base.run("CREATE TABLE e LIKE b")
    old, new = base.table("b"), base.table("e")
    assert (new.columns, new.watermark, new.primary_key) == (old.columns, old.watermark, old.primary_key)
    assert (new.partitioned_by, new.options, new.comment) == (old.partitioned_by, old.options, None)


def test_own_columns_come_last_and_options_overwrite(base: Definitions) -> None:
    base.run("CREATE TABLE e (n BIGINT, nn AS n + v) WITH ('a' = '2', 'z' = '3') LIKE b")
    table = base.table("e")
    assert [c.name for c in table.columns] == ["id", "k", "v", "ts", "twice", "m", "n", "nn"]
    assert dict(table.options) == {"connector": "x", "a": "2", "z": "3"}


@pytest.mark.parametrize(
    ("options", "left_out"),
    [
        ("EXCLUDING GENERATED", {"twice"}),
        ("EXCLUDING METADATA", {"m"}),
        ("EXCLUDING ALL", {"twice", "m"}),
        ("EXCLUDING ALL INCLUDING GENERATED", {"m"}),
    ],
)
def test_columns_left_out(base: Definitions, options: str, left_out: set[str]) -> None:
    base.run(f"CREATE TABLE e LIKE b ({options})")
    assert {"id", "k", "v", "ts", "twice", "m"} - {c.name for c in base.table("e").columns} == left_out


def test_excluding_all_leaves_bare_physical_columns(base: Definitions) -> None:
    base.run("CREATE TABLE e WITH ('connector' = 'y') LIKE b (EXCLUDING ALL)")
    table = base.table("e")
    assert (table.watermark, table.primary_key, table.partitioned_by) == (None, None, ())
    assert table.options == (("connector", "y"),)


def test_overwriting(base: Definitions) -> None:
    base.run(
        "CREATE TABLE e (twice AS v * 3, m INT METADATA FROM 'z', WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) "
        "LIKE b (OVERWRITING GENERATED OVERWRITING METADATA OVERWRITING WATERMARKS)"
    )
    table = base.table("e")
    assert [c.name for c in table.columns] == ["id", "k", "v", "ts", "twice", "m"]
    assert (table.columns[4].expression, table.columns[5].metadata_key) == ("v * 3", "z")
    assert table.watermark is not None
    assert table.watermark.expression == "ts - INTERVAL '1' SECOND"


@pytest.mark.parametrize(
    ("statement", "code", "at"),
    [
        ("CREATE TABLE e LIKE nope", "NAME-002", "nope"),
        ("CREATE TABLE e LIKE w", "DDL-010", "LIKE"),
        ("CREATE TABLE e (v BIGINT) LIKE b", "DDL-011", "v BIGINT"),
        ("CREATE TABLE e (twice INT) LIKE b", "DDL-011", "twice"),
        ("CREATE TABLE e (k AS v + 1) LIKE b (OVERWRITING GENERATED)", "DDL-011", "k AS"),
        ("CREATE TABLE e (twice AS v * 3) LIKE b", "DDL-011", "twice"),
        ("CREATE TABLE e (m INT METADATA) LIKE b", "DDL-011", "m INT"),
        ("CREATE TABLE e (WATERMARK FOR ts AS ts) LIKE b", "DDL-011", "WATERMARK"),
        ("CREATE TABLE e (PRIMARY KEY (v) NOT ENFORCED) LIKE b", "DDL-011", "PRIMARY"),
        ("CREATE TABLE e (PRIMARY KEY (v) NOT ENFORCED) LIKE b (EXCLUDING CONSTRAINTS)", "DDL-004", "PRIMARY"),
        ("CREATE TABLE e PARTITIONED BY (v) LIKE b", "DDL-011", "CREATE"),
        ("CREATE TABLE e WITH ('a' = '2') LIKE b (INCLUDING OPTIONS)", "DDL-011", "'a'"),
        ("CREATE TABLE e WITH ('a' = '2') LIKE b (INCLUDING ALL)", "DDL-011", "'a'"),
        ("CREATE TABLE e LIKE b (INCLUDING OPTIONS EXCLUDING OPTIONS)", "DDL-012", "EXCLUDING"),
        ("CREATE TABLE e (n AS twice + 1) LIKE b", "NAME-003", "twice"),
        ("CREATE TABLE e LIKE b AS SELECT 1 AS a", "DDL-014", "LIKE"),
    ],
)
def test_refused(base: Definitions, statement: str, code: str, at: str) -> None:
    base.refuse(statement, code, at)


def test_a_watermark_cannot_use_a_generated_column_of_the_base(flink: Definitions) -> None:
    flink.run("CREATE TABLE b (s STRING, rt AS TO_TIMESTAMP(s)) WITH ('connector' = 'x')")
    flink.refuse("CREATE TABLE e (WATERMARK FOR rt AS rt) LIKE b", "TIME-010", "WATERMARK")


def test_expressions_keep_their_meaning(base: Definitions) -> None:
    base.mode = "spark"
    base.refuse("CREATE TABLE e LIKE b", "DDL-013", "LIKE")
    base.run("CREATE TABLE e LIKE b (EXCLUDING ALL)")
