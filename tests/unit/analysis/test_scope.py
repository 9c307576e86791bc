"""Names: case, ambiguity, USING and NATURAL, qualified names, fields of rows."""

from __future__ import annotations

import pytest

from .conftest import Analysis


@pytest.mark.parametrize(
    ("query", "columns"),
    [
        ("SELECT amount FROM clicks", ["amount"]),
        ("SELECT clicks.amount FROM clicks", ["amount"]),
        ("SELECT c.amount FROM clicks AS c", ["amount"]),
        ("SELECT default_database.clicks.amount FROM clicks", ["amount"]),
        ("SELECT default_catalog.default_database.clicks.amount FROM clicks", ["amount"]),
        ("SELECT amount FROM default_catalog.default_database.clicks", ["amount"]),
        ("SELECT extra.a, extra.b.c FROM clicks", ["a", "c"]),
        ("SELECT clicks.extra.b.c FROM clicks", ["c"]),
        ("SELECT extra.* FROM clicks", ["a", "b"]),
        ("SELECT clicks.extra.b.*, amount FROM clicks", ["c", "amount"]),
        ("SELECT extra.*, extra.a FROM clicks", ["a", "b", "a0"]),
        ("SELECT extra.* FROM (SELECT 1 AS uno) AS extra", ["uno"]),
        ("SELECT extra.a, extra.* FROM clicks GROUP BY extra.a, extra.b", ["a", "a0", "b"]),
        ("SELECT tags['k'] AS k FROM clicks", ["k"]),
        ("SELECT u.*, c.amount FROM clicks AS c JOIN users AS u USING (user_name)",
         ["user_name", "country", "since", "amount"]),
        ("SELECT * FROM (SELECT user_name, amount FROM clicks) JOIN users USING (user_name)",
         ["user_name", "amount", "country", "since"]),
        ("SELECT user_name FROM clicks JOIN users USING (user_name)", ["user_name"]),
        ("SELECT * FROM (SELECT user_name FROM clicks) NATURAL JOIN (SELECT user_name, country FROM users)",
         ["user_name", "country"]),
        ("SELECT a.user_name, b.user_name FROM users AS a, users AS b", ["user_name", "user_name"]),
        ("SELECT user_name0 FROM (SELECT a.*, b.* FROM users AS a, users AS b)", ["user_name0"]),
        ("SELECT clicks FROM (SELECT amount AS clicks FROM clicks) AS clicks", ["clicks"]),
        ("SELECT 1 + 1, amount + 1 FROM clicks", ["EXPR$0", "EXPR$1"]),
    ],
)  # fmt: skip
def test_found(flink: Analysis, query: str, columns: list[str]) -> None:
    assert [c.name for c in flink.plan(query).columns] == columns


@pytest.mark.parametrize(
    ("query", "code", "at", "hint"),
    [
        ("SELECT amuont FROM clicks", "NAME-003", "amuont", "did you mean `amount`?"),
        ("SELECT Amount FROM clicks", "NAME-003", "Amount", "did you mean `amount`?"),
        ("SELECT x.amount FROM clicks AS c", "NAME-003", "x.amount", "did you mean `c.amount`?"),
        ("SELECT clicks.amount FROM clicks AS c", "NAME-003", "clicks.amount", "did you mean `c.amount`?"),
        ("SELECT user_name FROM clicks, users", "NAME-004", "user_name FROM",
         "qualify it: clicks.user_name or users.user_name"),
        ("SELECT extra.z FROM clicks", "NAME-005", "extra.z", "its fields are a, b"),
        ("SELECT extra.b.d FROM clicks", "NAME-005", "extra.b.d", "its fields are c"),
        ("SELECT amount.z FROM clicks", "NAME-005", "amount.z",
         "DESCRIBE says which fields a ROW has; elements of maps and arrays are m['k'] and a[1]"),
        ("SELECT * FROM clikcs", "NAME-002", "clikcs", "did you mean `clicks`?"),
        ("SELECT x.* FROM clicks", "NAME-002", "x.*",
         "look at its spelling: SHOW TABLES lists the tables, and one with an alias goes by that alone"),
        ("SELECT amount.* FROM clicks", "NAME-002", "amount.*", "write `amount` for its value"),
        ("SELECT clicks.tags.* FROM clicks", "NAME-002", "clicks.tags.*", "UNNEST gives its elements"),
        ("SELECT extra.b.c.* FROM clicks", "NAME-002", "extra.b.c.*", "write `extra`.`b`.`c` for its value"),
        ("SELECT *", "NAME-003", "*",
         "look at its spelling: DESCRIBE lists the columns of a table; FROM may be missing"),
        ("SELECT 1 FROM users, users", "NAME-006", "users", "give one an alias"),
        ("SELECT 1 FROM clicks JOIN users USING (amount)", "NAME-003", "clicks JOIN",
         "look at its spelling: DESCRIBE lists the columns of a table; FROM may be missing"),
        ("SELECT a FROM (SELECT 1 AS a) AS t (b)", "NAME-003", "a FROM (",
         "the columns here are b; a text stands in quotes, 'a'"),
        ("SELECT a FROM (SELECT 1 AS a) AS t (a, b)", "NAME-007", "(SELECT 1", "name each of them: a"),
        ("SELECT 1 UNION ALL SELECT 1, 2", "NAME-007", "SELECT 1, 2",
         "give as many as the first query, which has EXPR$0"),
        ("VALUES (1, 2), (3)", "NAME-007", "3", "give each row as many values as the first, 2"),
    ],
)  # fmt: skip
def test_refused(flink: Analysis, query: str, code: str, at: str, hint: str) -> None:
    assert flink.refuse(query, code, at).hint == hint


def test_case_is_folded_in_spark_mode_alone(spark_mode: Analysis) -> None:
    assert list(spark_mode.columns("SELECT AMOUNT, Clicks.Extra.A FROM clicks")) == ["AMOUNT", "A"]
    spark_mode.run("CREATE TABLE both (a INT, A STRING) WITH ('connector' = 'datagen')")
    assert spark_mode.columns("SELECT a, A FROM both") == {"a": "INT", "A": "STRING"}


def test_a_cte_hides_a_table(flink: Analysis) -> None:
    assert list(flink.columns("WITH clicks AS (SELECT 1 AS uno) SELECT * FROM clicks")) == ["uno"]
    assert list(flink.columns("WITH clicks AS (SELECT amount FROM clicks) SELECT * FROM clicks")) == ["amount"]


def test_a_view_sees_its_own_names(flink: Analysis) -> None:
    flink.run("CREATE VIEW v AS SELECT amount FROM clicks")
    assert list(flink.columns("WITH clicks AS (SELECT 1 AS uno) SELECT * FROM v")) == ["amount"]


def test_a_view_sees_its_own_database(flink: Analysis) -> None:
    flink.run("CREATE VIEW v AS SELECT amount FROM clicks; CREATE DATABASE other; USE other")
    assert list(flink.columns("SELECT * FROM default_database.v")) == ["amount"]


@pytest.mark.parametrize(
    ("query", "columns"),
    [
        ("SELECT * EXCEPT (tags, EXTRA, pt) FROM clicks", ["user_name", "amount", "ts"]),
        (
            "SELECT c.* EXCEPT (tags, extra, pt, ts), 1 AS one, u.* EXCEPT (user_name) FROM clicks c, users u",
            ["user_name", "amount", "one", "country", "since"],
        ),
        (
            "SELECT x.* FROM clicks c, LATERAL (SELECT u.* EXCEPT (user_name) FROM users u WHERE since = c.ts) x",
            ["country", "since"],
        ),
        ("SELECT page FROM visits EXCEPT (SELECT country FROM users)", ["page"]),
    ],
)
def test_sparks_except_leaves_columns_out(spark_mode: Analysis, query: str, columns: list[str]) -> None:
    assert [c.name for c in spark_mode.plan(query).columns] == columns


@pytest.mark.parametrize(
    ("query", "code", "at"),
    [
        ("SELECT * EXCEPT (tag) FROM clicks", "NAME-003", "tag"),
        ("SELECT v.* EXCEPT (user_name, page, vt) FROM visits v", "NAME-003", "v.*"),
        ("SELECT * EXCEPT (extra.a) FROM clicks", "PARSE-004", ".a"),
    ],
)
def test_columns_that_cannot_be_left_out(spark_mode: Analysis, query: str, code: str, at: str) -> None:
    spark_mode.refuse(query, code, at)
