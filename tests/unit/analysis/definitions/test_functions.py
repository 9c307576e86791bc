"""CREATE FUNCTION ... LANGUAGE PYTHON and DROP FUNCTION: off unless allowed, kept by the session."""

from __future__ import annotations

from typing import Any

import pytest

from sqlext import SqlExtError, connect
from sqlext.dialect.ast.statements import CreateFunction, Drop, SparkStatement
from sqlext.dialect.script import parse_script
from sqlext.session.interpreter import Interpreter
from sqlext.session.offline.compilation import new_state
from sqlext.session.offline.dry_run import DryRun
from sqlext.session.state import SessionState
from sqlext.source import SourceText

COUNTS = f"{__name__}.Counts"


class Counts:
    """Counts rows."""

    returns = "BIGINT"

    def zero(self) -> int:
        return 0

    def add(self, state: int, value: Any) -> int:
        return state + 1

    def merge(self, one: int, other: int) -> int:
        return one + other

    def finish(self, state: int) -> int:
        return state


class Others(Counts):
    """The same as another class."""


class Nothing:
    """No hooks."""


def parsed(text: str) -> Any:
    (statement,) = parse_script(SourceText.of(text))
    return statement


@pytest.fixture
def state() -> SessionState:
    made = new_state(None)
    made.python_allowed = True
    return made


def run(state: SessionState, text: str) -> DryRun:
    handler = DryRun(state)
    interpreter = Interpreter(state, handler)
    for statement in parse_script(SourceText.of(text)):
        interpreter.run(statement)
    return handler


@pytest.mark.parametrize("words", ["", "TEMPORARY ", "TEMPORARY SYSTEM ", "OR REPLACE "])
def test_the_statement(words: str) -> None:
    statement = parsed(f"CREATE {words}FUNCTION IF NOT EXISTS f AS 'a.b.C' LANGUAGE PYTHON")
    assert isinstance(statement, CreateFunction)
    assert (statement.name, statement.path, statement.if_not_exists) == (("f",), "a.b.C", True)
    assert statement.or_replace is ("REPLACE" in words)
    assert statement.path_span.text == "'a.b.C'"


@pytest.mark.parametrize(
    "text",
    [
        "CREATE FUNCTION f AS 'a.b.C'",
        "CREATE FUNCTION f AS 'a.b.C' USING JAR '/x.jar', JAR '/y.jar'",
        "CREATE FUNCTION f AS 'a.b.C' LANGUAGE JAVA",
        "CREATE TEMPORARY FUNCTION f AS 'a.b.C' LANGUAGE SCALA USING JAR '/x.jar'",
        "CREATE TEMPORARY SYSTEM FUNCTION IF NOT EXISTS f AS 'a.b.C'",
    ],
)
def test_classes_of_java(text: str, state: SessionState) -> None:
    with pytest.raises(SqlExtError) as caught:
        run(state, f"SET 'sqlext.expressions' = 'flink'; {text};")
    assert caught.value.code == "FUNC-040"
    assert caught.value.span is not None
    assert caught.value.span.text == "'a.b.C'"
    state.functions.register("aggregate", "F", Counts)
    assert not run(state, f"{text};").passed_on, "a class of Python stands for it"
    state.functions.remove("f")


def test_a_class_of_java_may_be_sparks(state: SessionState) -> None:
    assert run(state, "CREATE FUNCTION f AS 'a.b.C'; SELECT f(1);").passed_on


def test_an_expression_is_sparks() -> None:
    assert isinstance(parsed("CREATE FUNCTION f(x INT) RETURNS INT RETURN x + 1"), SparkStatement)


def test_alter_replaces_a_class(state: SessionState) -> None:
    run(
        state,
        f"CREATE FUNCTION f AS '{COUNTS}' LANGUAGE PYTHON; ALTER FUNCTION F AS '{__name__}.Others' LANGUAGE PYTHON;",
    )
    known = state.functions.find("aggregate", "f")
    assert known is not None
    assert known.cls.__name__ == "Others"
    # A class of Python goes on standing for one of Java.
    assert not run(state, "ALTER FUNCTION f AS 'a.b.D'; ALTER FUNCTION IF EXISTS f AS 'a.b.E' LANGUAGE JAVA;").passed_on
    assert not run(state, "ALTER FUNCTION IF EXISTS g AS 'a.b.C';").passed_on


@pytest.mark.parametrize(
    ("text", "code", "at"),
    [
        ("ALTER FUNCTION g AS 'a.b.C'", "FUNC-001", "g AS"),
        ("ALTER FUNCTION f AS 'no.such.Class' LANGUAGE PYTHON", "FUNC-034", "'no"),
        ("ALTER FUNCTION f RENAME TO g", "PARSE-002", "RENAME"),
        ("ALTER TEMPORARY FUNCTION f AS 'a.b.C'", "PARSE-002", "TEMPORARY"),
    ],
)
def test_alter_is_refused(state: SessionState, text: str, code: str, at: str) -> None:
    run(state, f"CREATE FUNCTION f AS '{COUNTS}' LANGUAGE PYTHON;")
    with pytest.raises(SqlExtError) as caught:
        run(state, text)
    assert (caught.value.code, caught.value.column) == (code, text.index(at) + 1)


def test_drop(state: SessionState) -> None:
    assert isinstance(parsed("DROP TEMPORARY SYSTEM FUNCTION IF EXISTS f"), Drop)
    handler = run(state, f"CREATE FUNCTION f AS '{COUNTS}' LANGUAGE PYTHON; DROP FUNCTION F;")
    assert (state.functions.names(), handler.passed_on) == ([], False)
    for others in ("IF EXISTS f", "spark_catalog.default.f"):
        assert run(state, f"DROP FUNCTION {others};").passed_on, "what is none of ours may be Spark's"
    with pytest.raises(SqlExtError, match=r"FUNC-001.*no function `f`"):
        run(state, "DROP FUNCTION f;")


def test_registered_by_its_hooks_and_again(state: SessionState) -> None:
    create = f"CREATE FUNCTION f AS '{COUNTS}' LANGUAGE PYTHON;"
    run(state, create + create)
    found = state.functions.find("aggregate", "F")
    assert found is not None
    assert found.cls.__name__ == "Counts"
    run(state, f"CREATE FUNCTION IF NOT EXISTS f AS '{__name__}.Others' LANGUAGE PYTHON;")
    assert found == state.functions.find("aggregate", "f")
    run(state, f"CREATE OR REPLACE FUNCTION f AS '{__name__}.Others' LANGUAGE PYTHON;")
    assert found != state.functions.find("aggregate", "f")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("CREATE FUNCTION f AS 'no.such.Module' LANGUAGE PYTHON", "FUNC-034"),
        ("CREATE FUNCTION f AS 'Counts' LANGUAGE PYTHON", "FUNC-034"),
        (f"CREATE FUNCTION f AS '{__name__}.COUNTS' LANGUAGE PYTHON", "FUNC-034"),
        (f"CREATE FUNCTION f AS '{__name__}.Nothing' LANGUAGE PYTHON", "FUNC-030"),
        (f"CREATE FUNCTION sum AS '{COUNTS}' LANGUAGE PYTHON", "FUNC-031"),
        (f"CREATE FUNCTION db.f AS '{COUNTS}' LANGUAGE PYTHON", "FUNC-031"),
        (
            "".join(f"CREATE FUNCTION f AS '{__name__}.{c}' LANGUAGE PYTHON;" for c in ("Counts", "Others")),
            "FUNC-037",
        ),
    ],
)
def test_refused(state: SessionState, text: str, code: str) -> None:
    with pytest.raises(SqlExtError) as refused:
        run(state, text)
    assert refused.value.code == code, refused.value.render()
    assert refused.value.span is not None


def test_scripts_import_nothing_unless_allowed() -> None:
    with pytest.raises(SqlExtError) as refused:
        run(new_state(None), "CREATE FUNCTION f AS 'no.such.Module' LANGUAGE PYTHON;")
    assert refused.value.code == "FUNC-035"


def test_a_session_checks_with_what_is_registered() -> None:
    script = """CREATE TABLE t (k STRING) WITH ('connector' = 'datagen');
    SELECT k, my_count(k) AS n FROM t GROUP BY k;"""
    session = connect(allow_python_functions=True)
    assert [e.code for e in session.check(script)] == ["FUNC-001"]
    session.register_aggregate("my_count", Counts)
    assert session.check(script) == []
    session.register_trigger(
        "nothing",
        type(
            "T", (), dict.fromkeys(("on_row", "on_event_time"), print) | {"on_processing_time": print, "clear": print}
        ),
    )
    session.register_evictor("all", type("E", (), {"keep": print}))
    other = f"CREATE FUNCTION other AS '{COUNTS}' LANGUAGE PYTHON;"
    assert session.check(other + script.replace("my_count", "other")) == []
    assert [e.code for e in session.check(script.replace("my_count", "other"))] == ["FUNC-001"]
    assert ("my_count",) in session.sql("SHOW FUNCTIONS LIKE 'my%'").rows
