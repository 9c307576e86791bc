"""A script that runs with other values of its variables over an old catalog is told the ways on, at the option."""

from __future__ import annotations

import pytest

from sqlext.dialect.variables import substitute
from sqlext.errors import SqlExtError
from sqlext.session.offline.checking import errors_of
from sqlext.session.offline.compilation import new_state


def refused(script: str, then: str, values: dict[str, str]) -> SqlExtError:
    """Return what is wrong with the second script over the catalog of the first."""
    state = new_state(None)
    assert errors_of(substitute(script, {"OUT": "/a", "N": "1"}), state) == []
    state.created = set()
    (error,) = errors_of(substitute(then, values), state)
    assert error.code == "CAT-003"
    assert error.span is not None
    return error


TABLE = "CREATE TABLE t (k STRING) WITH ('connector' = 'delta', 'path' = '${OUT}/${N}/t');"
VIEW = "CREATE MATERIALIZED VIEW m WITH ('path' = '${OUT}/m') AS SELECT 1 AS one;"


@pytest.mark.parametrize(
    ("script", "values", "given"),
    [
        (TABLE, {"OUT": "/b", "N": "1"}, "${OUT} and ${N},"),
        (TABLE.replace("${N}/", ""), {"OUT": "/b"}, "${OUT},"),
        (VIEW, {"OUT": "/b"}, "${OUT},"),
    ],
)
def test_the_ways_on(script: str, values: dict[str, str], given: str) -> None:
    error = refused(script, script, values)
    assert error.hint is not None
    assert f"old value of {given}" in error.hint
    assert "--catalog DIR" in error.hint
    assert error.source_line is not None
    assert error.column is not None
    assert error.source_line[error.column - 1 :].startswith("'${OUT}")


def test_other_options_and_columns() -> None:
    other = refused(TABLE, TABLE.replace("/t'", "/u'").replace("${OUT}", "/a").replace("${N}", "1"), {})
    assert other.span is not None
    assert other.span.text == "'/a/1/u'"
    columns = refused(TABLE, TABLE.replace("STRING", "INT"), {"OUT": "/a", "N": "1"})
    for error in (other, columns):
        assert error.hint == "drop it, ALTER it, or write CREATE OR REPLACE TABLE"


def test_the_same_value_changes_nothing() -> None:
    state = new_state(None)
    for _ in range(2):
        state.created = set()
        assert errors_of(substitute(TABLE, {"OUT": "/a", "N": "1"}), state) == []
