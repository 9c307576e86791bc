"""An error in a view's text that a query meets is shown in that text, by the view's name, with the place of its use."""

from __future__ import annotations

import pytest

from sqlext.session.offline.checking import errors_of
from sqlext.session.offline.compilation import new_state
from sqlext.session.state import SessionState
from sqlext.source import SourceText

TABLES = """CREATE TABLE t (a INT, b STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '/in/t', 'format' = 'json');
CREATE TABLE r (a INT, b STRING) WITH ('connector' = 'delta', 'path' = '/in/r');
CREATE TABLE s (a INT) WITH ('connector' = 'blackhole');
"""

#: A script, the code, the view's name and the place in it, what stands there, and the line and column of its use.
WRONG = [
    (
        "CREATE VIEW v AS SELECT a, b FROM t;\nALTER TABLE t DROP b;\nSELECT a FROM v;",
        "NAME-003",
        "v",
        (1, 11),
        "b",
        "7:15",
    ),
    ("CREATE VIEW v AS\n SELECT a\n FROM t;\nDROP TABLE t;\nSELECT a FROM v;", "NAME-002", "v", (2, 7), "t", "9:15"),
    (
        """CREATE VIEW v AS SELECT a FROM r;
ALTER TABLE r SET ('connector' = 'print');
INSERT INTO s SELECT x.a FROM v AS x;""",
        "OPT-006",
        "v",
        (1, 15),
        "r",
        "7:31",
    ),
    (
        """CREATE VIEW v AS SELECT t.a FROM t JOIN r ON t.a = r.a;
SET 'sqlext.unbounded-state' = 'error';
SELECT a FROM (SELECT * FROM v) AS q;""",
        "STATE-001",
        "v",
        (1, 17),
        "t JOIN r ON t.a = r.a",
        "",
    ),
    # Of a view of a view each is named, the inner one first.
    (
        """CREATE VIEW v AS SELECT a, b FROM t;
CREATE VIEW w AS SELECT UPPER(b) AS b FROM v;
ALTER TABLE t DROP b;
SELECT * FROM w;""",
        "NAME-003",
        "v",
        (1, 11),
        "b",
        "8:15",
    ),
]


def _state(text: str) -> SessionState:
    state = new_state(None).fork()
    assert errors_of(SourceText.of(text, "before.sql"), state) == []
    return state


@pytest.mark.parametrize(("script", "code", "view", "at", "text", "used"), WRONG)
def test_the_place_is_in_the_view(script: str, code: str, view: str, at: tuple[int, int], text: str, used: str) -> None:
    (error,) = errors_of(SourceText.of(TABLES + script, "f.sql"), new_state(None).fork())
    assert error.span is not None
    assert (error.code, error.file, (error.line, error.column)) == (code, f"view {view}", at), error.render()
    assert error.span.text == text
    assert f"view `{view}` is read at" in (error.hint or "") or not used
    assert (error.hint or "").endswith(used)


def test_the_views_of_an_earlier_script_too() -> None:
    state = _state(
        TABLES + "CREATE VIEW v AS SELECT a, b FROM t;\nCREATE VIEW w AS SELECT b FROM v;\nALTER TABLE t DROP b;"
    )
    (error,) = errors_of(SourceText.of("SELECT 1;\nSELECT * FROM w;", "after.sql"), state)
    assert (error.file, error.line, error.column) == ("view v", 1, 11)
    assert (error.hint or "").endswith("view `v` is read at view w:1:15; view `w` is read at after.sql:2:15")


def test_an_error_of_the_query_itself_stays_where_it_is() -> None:
    state = _state(TABLES + "CREATE VIEW v AS SELECT a FROM t;")
    (error,) = errors_of(SourceText.of("SELECT nope FROM v;", "after.sql"), state)
    assert (error.file, error.line, error.column) == ("after.sql", 1, 8)
    assert "is read at" not in (error.hint or "")
