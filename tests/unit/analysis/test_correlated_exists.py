"""EXISTS and IN over a static table that names columns of the query around it: a semi or anti join of Spark's."""

from __future__ import annotations

import pytest

from sqlext.errors import SqlExtError
from sqlext.plan.base import walk
from sqlext.plan.nodes import Join

from .conftest import Analysis

BATCH = "SET 'execution.runtime-mode' = 'batch'"
INSIDE = "(SELECT * FROM visits AS v WHERE v.page = {outer}.page AND v.user_name <> 'x')"


@pytest.mark.parametrize(("word", "kind"), [("", "LEFT SEMI"), ("NOT ", "LEFT ANTI")])
def test_a_join_of_sparks(flink: Analysis, word: str, kind: str) -> None:
    """Inside and outside the same table, and columns of the same names."""
    flink.run(BATCH)
    query = f"SELECT page FROM visits AS o WHERE user_name = 'y' AND {word}EXISTS {INSIDE.format(outer='o')}"
    (join,) = (n for n in walk(flink.plan(query)) if isinstance(n, Join))
    assert join.kind == kind
    assert [c.name for c in join.columns] == list(flink.columns("SELECT * FROM visits"))
    compiled = flink.run(query)
    assert compiled is not None
    assert f"{kind} JOIN" in compiled.script.query
    assert "__s1_" in compiled.script.query


@pytest.mark.parametrize(("word", "kind"), [("", "LEFT SEMI"), ("NOT ", "LEFT ANTI")])
def test_in_is_such_a_join_too(flink: Analysis, word: str, kind: str) -> None:
    flink.run(BATCH)
    inside = "SELECT v.page FROM visits AS v WHERE v.vt = o.vt"
    compiled = flink.run(f"SELECT page FROM visits AS o WHERE page {word}IN ({inside})")
    assert compiled is not None
    (join,) = (n for n in walk(compiled.plan) if isinstance(n, Join))
    assert join.kind == kind
    # NOT IN is not true if one comparison is unknown.
    assert ("coalesce(" in compiled.script.query) == bool(word)


def test_as_many_values_as_columns(flink: Analysis) -> None:
    flink.run(BATCH)
    inside = "SELECT v.page, v.vt FROM visits AS v WHERE v.vt = o.vt"
    with pytest.raises(SqlExtError) as refused:
        flink.run(f"SELECT page FROM visits AS o WHERE page IN ({inside})")
    assert (refused.value.code, refused.value.line) == ("NAME-007", 1)
