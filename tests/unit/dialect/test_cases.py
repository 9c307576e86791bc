"""Every script recorded from Flink parses here; what Flink's parser refused is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlext.dialect.ast.expressions import Expr
from sqlext.dialect.ast.queries import Query
from sqlext.dialect.ast.statements import SparkStatement
from sqlext.dialect.expressions.operations import parse_expression_text
from sqlext.dialect.queries.whole import parse_query_text
from sqlext.dialect.script import parse_script
from sqlext.dialect.variables import substitute
from sqlext.errors import SqlExtError

CASES = Path(__file__).parents[2] / "conformance" / "cases" / "flink"
SCRIPTS = sorted(CASES.glob("*/*/script.sql"))
VARIABLES = {"IN": "in", "OUT": "out"}

#: What Flink refuses by syntax alone.
REFUSED = {
    "errors/syntax_error": ("PARSE-002", 16, 17),
    "errors/reserved_word": ("PARSE-005", 1, 17),
    "errors/primary_key_enforced": ("PARSE-009", 1, 26),
}


def _name(script: Path) -> str:
    return script.parent.relative_to(CASES).as_posix()


@pytest.mark.skipif(not SCRIPTS, reason="the recorded cases are not here")
def test_every_script_parses() -> None:
    for script in SCRIPTS:
        if _name(script) not in REFUSED:
            source = substitute(script.read_text(), VARIABLES, str(script))
            spark = [s.span.text for s in parse_script(source, "flink") if isinstance(s, SparkStatement)]
            assert not spark, f"{script}: taken for Spark's"


@pytest.mark.skipif(not SCRIPTS, reason="the recorded cases are not here")
@pytest.mark.parametrize("name", REFUSED)
def test_what_flink_refuses_by_syntax(name: str) -> None:
    script = CASES / name / "script.sql"
    with pytest.raises(SqlExtError) as caught:
        list(parse_script(substitute(script.read_text(), VARIABLES, "script.sql"), "flink"))
    assert (caught.value.code, caught.value.line, caught.value.column) == REFUSED[name]


@pytest.mark.skipif(not SCRIPTS, reason="the recorded cases are not here")
def test_the_text_of_a_node_is_that_node(shape: object) -> None:
    """Spans are exact: what a query or expression covers reads as the same tree again."""
    assert callable(shape)
    for script in SCRIPTS:
        if _name(script) in REFUSED:
            continue
        for statement in parse_script(substitute(script.read_text(), VARIABLES), "flink"):
            for node in statement.walk():
                if type(node).__name__ == "Keyword":
                    continue
                if isinstance(node, Query):
                    assert shape(parse_query_text(node.span.text, "flink")) == shape(node)
                elif isinstance(node, Expr) and not type(node).__name__.startswith("Named"):
                    assert shape(parse_expression_text(node.span.text, "flink")) == shape(node)
