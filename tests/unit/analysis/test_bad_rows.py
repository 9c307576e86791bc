"""'sqlext.bad-rows': which tables can tell bad rows from others, and which can keep them."""

from __future__ import annotations

import pytest

from .conftest import Analysis

TABLES = """
CREATE TABLE broken (text STRING, place STRING) WITH ('connector' = 'delta', 'path' = '/broken');
CREATE TABLE keyed (place STRING, text STRING, PRIMARY KEY (place) NOT ENFORCED)
WITH ('connector' = 'delta', 'path' = '/keyed');
CREATE TABLE other (text STRING, colour STRING) WITH ('connector' = 'blackhole');
CREATE TABLE types (text DATE) WITH ('connector' = 'blackhole');
CREATE TABLE unwritable (text STRING) WITH ('connector' = 'datagen');
"""
FILES = {"connector": "filesystem", "path": "/in", "format": "json"}
KAFKA = {"connector": "kafka", "topic": "t", "properties.bootstrap.servers": "b:9092", "format": "csv"}
SELECT = "SELECT v FROM t"


@pytest.fixture
def tables(flink: Analysis) -> Analysis:
    flink.run(TABLES)
    return flink


def made(options: dict[str, str], wanted: str | None = None) -> str:
    every = options | ({"sqlext.bad-rows": wanted} if wanted else {})
    given = ", ".join(f"'{k}' = '{v}'" for k, v in every.items())
    return f"CREATE TABLE t (v INT) WITH ({given})"


@pytest.mark.parametrize(
    ("options", "wanted", "code", "said"),
    [
        (FILES, "nowhere", "OPT-035", "there is no table `nowhere`"),
        (FILES, " ", "OPT-005", "must be 'fail', 'drop' or the name of a table"),
        (FILES, "drp", "OPT-035", "did you mean `drop`?"),
        (FILES, "other", "OPT-035", "`other` has a column `colour`, which bad rows do not have"),
        (FILES, "types", "OPT-035", "`types` has a column `text` of type DATE; it is STRING"),
        (FILES, "unwritable", "OPT-006", "can only be read"),
        (
            FILES | {"format": "parquet"},
            "drop",
            "OPT-034",
            "format 'parquet' has no rows that are looked at one by one",
        ),
        (FILES | {"json.ignore-parse-errors": "true"}, "drop", "OPT-034", "makes NULLs of them"),
        (FILES | {"scan.mode": "snapshot"}, "broken", "OPT-034", "only a stream counts or keeps them"),
        (KAFKA | {"format": "debezium-json"}, "drop", "OPT-034", "format 'debezium-json'"),
        ({"connector": "datagen"}, "drop", "OPT-034", "reads no texts"),
    ],
)
def test_refusals(tables: Analysis, options: dict[str, str], wanted: str, code: str, said: str) -> None:
    tables.run(made(options, wanted))
    error = tables.refuse(SELECT, code)
    assert error.span is not None
    # A table that can only be read is at fault where it is to take the rows.
    assert error.span.text == ("t" if code == "OPT-006" else f"'sqlext.bad-rows' = '{wanted}'")
    assert said in f"{error.message} {error.hint}"


@pytest.mark.parametrize("options", [FILES, FILES | {"format": "csv"}, KAFKA])
def test_bad_rows_come_beside_the_others(tables: Analysis, options: dict[str, str]) -> None:
    tables.run(made(options, "broken"))
    compiled = tables.run(SELECT)
    assert compiled is not None
    script = compiled.script
    assert [bad.outputs for bad in script.sides] == [(("text", "text"), ("place", "place"))]
    assert script.read_again == ("sqlext_t",)
    assert "UNION ALL SELECT NULL, named_struct('number', 0" in script.query


def test_a_table_that_is_read_twice_gives_them_once(tables: Analysis) -> None:
    tables.run(made(FILES, "keyed"))
    compiled = tables.run("SELECT v FROM t UNION ALL SELECT v + 1 FROM t")
    assert compiled is not None
    assert len(compiled.script.read_again) == 1


@pytest.mark.parametrize(
    "options",
    [FILES | {"format": "parquet"}, FILES | {"json.ignore-parse-errors": "true"}, FILES | {"scan.mode": "snapshot"}],
)
def test_set_is_for_those_that_can(tables: Analysis, options: dict[str, str]) -> None:
    tables.run("SET 'sqlext.bad-rows' = 'broken'")
    tables.run(made(options))
    compiled = tables.run(SELECT)
    assert compiled is not None
    assert not compiled.script.sides
    assert not compiled.script.judges


def test_a_table_says_otherwise_than_set(tables: Analysis) -> None:
    tables.run("SET 'sqlext.bad-rows' = 'broken'")
    tables.run(made(FILES, "DROP"))
    compiled = tables.run(SELECT)
    assert compiled is not None
    assert not compiled.script.sides
    assert compiled.script.judges
