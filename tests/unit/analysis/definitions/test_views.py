"""CREATE VIEW."""

from __future__ import annotations

import pytest

from sqlext.analysis.definitions.create_text import create_view_text
from sqlext_catalog.model import View

from .conftest import Definitions

TABLE = "CREATE TABLE t (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'json')"


@pytest.fixture
def views(flink: Definitions) -> Definitions:
    flink.run(TABLE)
    return flink


def test_a_view_keeps_its_text_and_what_gives_it_its_meaning(views: Definitions) -> None:
    views.run("CREATE VIEW w (a, b) COMMENT 'c' AS SELECT k, -- why\n  v + 1 FROM t;")
    view = views.view("w")
    assert (view.columns, view.query) == (("a", "b"), "SELECT k, -- why\n  v + 1 FROM t")
    assert (view.comment, view.expressions, view.catalog, view.database) == (
        "c",
        "flink",
        "default_catalog",
        "default_database",
    )


def test_columns_are_those_of_the_query(views: Definitions) -> None:
    views.run("CREATE VIEW w AS SELECT *, v * 2 FROM t")
    assert views.view("w").columns == ("k", "v", "EXPR$1")


def test_a_view_can_join_the_versions_of_its_time(views: Definitions) -> None:
    timed = "ts TIMESTAMP(3), WATERMARK FOR ts AS ts"
    files = "WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'json')"
    views.run(f"CREATE TABLE orders (k STRING, {timed}) {files}")
    views.run(f"CREATE TABLE rates (k STRING PRIMARY KEY NOT ENFORCED, v INT, {timed}) {files}")
    versions = "rates FOR SYSTEM_TIME AS OF o.ts AS r"
    views.run(f"CREATE VIEW w AS SELECT o.k, r.v, o.ts FROM orders AS o JOIN {versions} ON o.k = r.k")
    assert views.view("w").columns == ("k", "v", "ts")


@pytest.mark.parametrize(
    ("query", "columns"),
    [
        ("SELECT * FROM t, t AS u", ("k", "v", "k0", "v0")),
        ("SELECT u.*, t.* FROM t, t AS u", ("k", "v", "k0", "v0")),
        # The second v is v0, so the third table's own v0 becomes v00.
        ("SELECT * FROM t, t AS u, (SELECT v AS v0 FROM t)", ("k", "v", "k0", "v0", "v00")),
        ("SELECT * FROM t, t AS u, t AS w", ("k", "v", "k0", "v0", "k1", "v1")),
        ("SELECT t.k AS x, u.* FROM t, t AS u", ("x", "k", "v")),
        ("SELECT k, * FROM t", ("k", "k0", "v")),
        ("SELECT * FROM (SELECT k, k FROM t)", ("k", "k0")),
        ("SELECT * FROM t JOIN t AS u USING (k)", ("k", "v", "v0")),
        ("WITH q AS (SELECT * FROM t, t AS u) SELECT * FROM q WHERE k0 = k", ("k", "v", "k0", "v0")),
    ],
)
def test_a_star_numbers_names_that_are_taken(views: Definitions, query: str, columns: tuple[str, ...]) -> None:
    views.run(f"CREATE VIEW w AS {query}")
    assert views.view("w").columns == columns


def test_show_create_names_what_a_star_numbered(views: Definitions) -> None:
    views.run("CREATE VIEW w AS SELECT * FROM t JOIN t AS u ON t.k = u.k")
    place = "`default_catalog`.`default_database`"
    assert create_view_text(views.view("w"), views.environment()) == (
        f"CREATE VIEW {place}.`w` (\n  `k`,\n  `v`,\n  `k0`,\n  `v0`\n)\n"
        "AS SELECT `t`.`k`, `t`.`v`, `u`.`k` AS `k0`, `u`.`v` AS `v0`\n"
        f"FROM {place}.`t` AS `t`\nINNER JOIN {place}.`t` AS `u` ON `t`.`k` = `u`.`k`\n"
    )


@pytest.mark.parametrize(
    ("text", "code", "at"),
    [
        ("CREATE VIEW w AS SELECT k FROM nope", "NAME-002", "nope"),
        ("CREATE VIEW w AS SELECT zz FROM t", "NAME-003", "zz"),
        ("CREATE VIEW w (a, b) AS SELECT k FROM t", "DDL-021", "w (a"),
        ("CREATE VIEW w AS SELECT k, v AS k FROM t", "DDL-021", "v AS k"),
        ("CREATE VIEW w AS SELECT t.k, u.k FROM t, t AS u", "DDL-021", "u.k FROM"),
        ("CREATE VIEW w AS SELECT *, v AS k FROM t", "DDL-021", "v AS k"),
        ("CREATE VIEW w AS SELECT k FROM (SELECT k, k FROM t)", "NAME-004", "k FROM (SELECT"),
        ("CREATE VIEW w AS SELECT t.*, u.*, t.v AS k0 FROM t, t AS u", "DDL-021", "t.v AS k0"),
        ("CREATE VIEW w (a, a) AS SELECT k, v FROM t", "DDL-021", "w (a"),
    ],
)
def test_refused(views: Definitions, text: str, code: str, at: str) -> None:
    views.refuse(text, code, at)


@pytest.mark.parametrize("kind", ["VIEW w AS SELECT * FROM w", "TEMPORARY VIEW t AS SELECT k FROM (SELECT * FROM t)"])
def test_a_view_cannot_read_itself(views: Definitions, kind: str) -> None:
    views.refuse(f"CREATE {kind}", "DDL-020")


def test_secrets_in_hints_are_not_stored(views: Definitions) -> None:
    kafka = "'connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'h:1', 'format' = 'json'"
    views.run(f"CREATE TABLE q (k STRING) WITH ({kafka})")
    hint = "/*+ OPTIONS('properties.sasl.jaas.config' = 'hunter2') */"
    views.run(f"CREATE VIEW w AS SELECT k FROM q {hint}; CREATE TEMPORARY VIEW x AS SELECT k FROM q {hint};")
    assert "hunter2" in views.view("w").query
    assert "hunter2" in views.view("x").query
    stored = views.catalog.at_version(views.catalog.snapshot().version)
    assert [v.query for v in stored.relations() if v.name.name == "w" and isinstance(v, View)] == [
        "SELECT k FROM q /*+ OPTIONS('properties.sasl.jaas.config' = '******') */"
    ]


def test_a_circle_of_views_is_refused(views: Definitions) -> None:
    views.run("CREATE VIEW a AS SELECT k FROM t; CREATE VIEW b AS SELECT k FROM a;")
    views.refuse("CREATE OR REPLACE VIEW a AS SELECT k FROM b", "DDL-020")


def test_a_with_query_of_the_views_name_is_not_the_view(views: Definitions) -> None:
    views.run("CREATE VIEW w AS WITH w AS (SELECT k FROM t) SELECT k FROM w")
    assert views.view("w").columns == ("k",)


def test_what_waits_for_an_operator_can_be_defined_and_described(views: Definitions) -> None:
    views.run("CREATE VIEW w AS SELECT k, COUNT(DISTINCT v) AS c FROM t GROUP BY k")
    assert views.run("DESCRIBE w") == [
        ("k", "STRING", True, None, None, None),
        ("c", "BIGINT", False, None, None, None),
    ]
