"""Python functions of users in analysis: where they may stand, and what is refused."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import pytest

from sqlext import SqlExtError
from sqlext.analysis.functions import is_built_in
from sqlext.analysis.inserts.bound import BoundInsert
from sqlext.analysis.inserts.changes import changes
from sqlext.analysis.inserts.fingerprint import fingerprint
from sqlext.user_functions import UserFunctions, kind_of

from .conftest import Analysis

LETTERS = """
CREATE TABLE letters (cause STRING, text STRING) WITH ('connector' = 'delta', 'path' = '/letters');
SET 'sqlext.dead-letters.table' = 'letters';
"""
TABLE = """
CREATE TABLE t (v INT, s STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '/in', 'format' = 'json');
"""


def half(x: int | None, by: int = 2) -> float | None:
    return None if x is None else x / by


def other(x: int | None, by: int = 2) -> float | None:
    return x


class Longest:
    returns = "STRING"

    def zero(self) -> None:
        return None

    def add(self, state: Any, value: str) -> Any:
        return state

    def finish(self, state: Any) -> Any:
        return state


@pytest.fixture
def tables(spark_mode: Analysis) -> Analysis:
    spark_mode.handler.state.functions.register("scalar", "half", half, "DOUBLE")
    spark_mode.run(TABLE)
    return spark_mode


@pytest.mark.parametrize(
    "select",
    [
        "SELECT HALF(v) AS x FROM t",
        "SELECT v FROM t WHERE half(v, 3) > 1",
        "SELECT half(CAST(half(v) AS INT)) AS x FROM t",
        "SELECT CASE WHEN half(v) > 1 THEN 1 END AS x FROM t",
        "SELECT half(v) AS h, COUNT(*) AS n FROM t GROUP BY half(v)",
        "SELECT SUM(half(v)) AS x FROM t",
        "SELECT x FROM (SELECT half(v) AS x FROM t) WHERE x > 1",
        "SELECT x FROM t, UNNEST(ARRAY[half(v)]) AS u (x)",
        "SELECT a.v FROM t AS a JOIN t AS b ON a.ts = b.ts WHERE half(a.v) > 1",
    ],
)
@pytest.mark.parametrize("mode", ["spark", "flink"])
def test_where_they_stand(tables: Analysis, mode: str, select: str) -> None:
    tables.mode = mode
    compiled = tables.run(select.replace("ARRAY[half(v)]", "array(half(v))") if mode == "spark" else select)
    assert compiled is not None
    assert compiled.script.python_functions == ("half",)
    assert compiled.script.runs_python


def test_their_type_is_known(tables: Analysis) -> None:
    assert tables.columns("SELECT half(v) AS x, v FROM t") == {"x": "DOUBLE", "v": "INT"}


@pytest.mark.parametrize(
    ("call", "code"),
    [
        ("half()", "FUNC-002"),
        ("half(v, v, v)", "FUNC-002"),
        ("half(DISTINCT v)", "FUNC-003"),
        ("half(v) OVER (ORDER BY ts)", "FUNC-003"),
        ("half(*)", "FUNC-003"),
        ("third(v)", "FUNC-001"),
    ],
)
def test_calls_that_are_refused(tables: Analysis, call: str, code: str) -> None:
    assert tables.refuse(f"SELECT {call} AS x FROM t", code).span is not None


def test_a_row_for_which_one_raises_is_a_dead_letter(tables: Analysis) -> None:
    tables.run(LETTERS)
    compiled = tables.run("SELECT half(CAST(s AS INT)) AS x FROM t WHERE half(v) > 1")
    assert compiled is not None
    query = compiled.script.query
    assert "sqlext_python_half(" not in query
    assert "sqlext_tried_half(TRY_CAST(s AS INT)).value" in query
    assert "sqlext_tried_half(v).raised IS NOT NULL THEN named_struct('code', 'RUN-047', 'reason', concat(" in query


def test_above_a_window_it_is_refused(tables: Analysis) -> None:
    tables.run(LETTERS)
    error = tables.refuse("SELECT half(n) FROM (SELECT v, COUNT(*) AS n FROM t GROUP BY v)", "OPT-039")
    assert (error.span.text if error.span else "") == "half(n)"
    assert "let the function return None" in (error.hint or "")


def test_another_function_is_a_change(tables: Analysis) -> None:
    def printed() -> Any:
        compiled = tables.run("INSERT INTO snk SELECT s, CAST(half(v) AS BIGINT) FROM t")
        assert compiled is not None
        assert isinstance(compiled.insert, BoundInsert)
        return fingerprint(compiled.insert, "UTC", "spark", "none")

    before = printed()
    tables.handler.state.functions.register("scalar", "half", other, "DOUBLE")
    assert changes(before, printed())


def generates() -> Iterator[int]:
    yield 1


async def waits() -> int:
    return 1


@pytest.mark.parametrize(("function", "what"), [(Longest, "a class"), (3, "no function"), (generates, "a generator")])
def test_what_is_no_function(function: Any, what: str) -> None:
    with pytest.raises(SqlExtError, match=what) as failed:
        UserFunctions(is_built_in).register("scalar", "f", function, "INT")
    assert failed.value.code == "FUNC-030"


def test_names_that_are_taken() -> None:
    known = UserFunctions(is_built_in)
    known.register("scalar", "half", half, "DOUBLE")
    known.register("aggregate", "longest", Longest)
    for kind, name, cls in (("scalar", "upper", half), ("scalar", "LONGEST", half), ("aggregate", "HALF", Longest)):
        with pytest.raises(SqlExtError) as failed:
            known.register(kind, name, cls, "DOUBLE")  # type: ignore[arg-type]
        assert failed.value.code == "FUNC-031"
    with pytest.raises(SqlExtError) as failed:
        known.register("scalar", "third", half)
    assert failed.value.code == "FUNC-032"


def test_any_callable_is_one() -> None:
    assert kind_of(half) == "scalar"
    known = UserFunctions(is_built_in)
    known.register("scalar", "third", functools.partial(half, by=3), "DOUBLE")
    found = known.require("scalar", "THIRD", "FUNC-001")
    assert found.implementation == "functools.partial"
