"""CREATE and DROP MATERIALIZED VIEW without Spark: its table, its key, its query's name, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from sqlext import SqlExtError
from sqlext.dialect.script import parse_script
from sqlext.session.interpreter import Interpreter
from sqlext.session.offline.compilation import new_state
from sqlext.session.offline.dry_run import DryRun
from sqlext.source import SourceText
from sqlext_catalog.ddl.queries import record_query
from sqlext_catalog.model import ObjectName, QueryRecord, Table, query_name

EVENTS = """CREATE TABLE events (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '/in', 'format' = 'json');
CREATE VIEW plain AS SELECT k FROM events"""
WINDOWED = """SELECT window_start, window_end, k, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, k"""


@pytest.fixture
def handler() -> DryRun:
    made = DryRun(new_state(None))
    run(made, EVENTS)
    return made


def run(handler: DryRun, text: str) -> list[Any]:
    """Run a script and return the rows of its last statement."""
    interpreter = Interpreter(handler.state, handler)
    results = [interpreter.run(s) for s in parse_script(SourceText.of(f"{text};"))]
    return results[-1].rows


def view(handler: DryRun, text: str) -> Table:
    """Return the table of the view ``mv`` after a script."""
    run(handler, text)
    found = handler.state.catalog.lookup(("mv",))
    assert isinstance(found, Table)
    return found


def test_its_table(handler: DryRun) -> None:
    table = view(
        handler, "CREATE MATERIALIZED VIEW mv COMMENT 'sums' AS SELECT k, COUNT(*) AS n FROM events GROUP BY k"
    )
    options = dict(table.options)
    assert options.pop("path").endswith("/tables/default_catalog-default_database-mv-f8a3716b")
    assert options == {"connector": "delta", "sqlext.kept-by": "mv"}
    assert [(c.name, str(c.type)) for c in table.columns] == [("k", "STRING"), ("n", "BIGINT NOT NULL")]
    assert (table.primary_key and table.primary_key.columns, table.comment) == (("k",), "sums")
    assert handler.compiled[-1].insert is not None


def test_they_are_listed(handler: DryRun) -> None:
    run(handler, "CREATE MATERIALIZED VIEW mv AS SELECT k FROM events")
    run(handler, "CREATE MATERIALIZED VIEW other AS SELECT v FROM events")
    assert run(handler, "SHOW MATERIALIZED TABLES") == [("mv",), ("other",)]
    assert run(handler, "SHOW MATERIALIZED TABLES LIKE 'o%'") == [("other",)]


def test_show_create_gives_the_statement_that_makes_it(handler: DryRun) -> None:
    """What it shows makes the same table; the query is the one that was started, as it was written."""
    options = "WITH ('path' = '/t', 'mergeSchema' = 'true')"
    text = f"CREATE MATERIALIZED TABLE mt (PRIMARY KEY (k) NOT ENFORCED) COMMENT 'sums' PARTITIONED BY (k) {options} "
    query = "SELECT k, COUNT(*) AS n FROM events GROUP BY k"
    run(handler, f"{text} FRESHNESS = INTERVAL '3' MINUTE AS {query}")
    record = QueryRecord("mt", f"{text} AS {query}", (), None, "", "", "running")
    handler.state.catalog.apply(record_query(record), "started")
    ((shown,),) = run(handler, "SHOW CREATE MATERIALIZED TABLE mt")
    assert shown == (
        "CREATE MATERIALIZED TABLE `default_catalog`.`default_database`.`mt` (\n"
        "  CONSTRAINT `PK_k` PRIMARY KEY (`k`) NOT ENFORCED\n)\n"
        "COMMENT 'sums'\nPARTITIONED BY (`k`)\n"
        "WITH (\n  'connector' = 'delta',\n  'mergeSchema' = 'true',\n  'path' = '/t'\n)\n"
        f"REFRESH_MODE = CONTINUOUS\nAS {query}\n"
    )
    run(handler, f"CREATE TABLE before LIKE mt; DROP MATERIALIZED TABLE mt; {shown}")
    before, after = (handler.state.catalog.lookup((name,)) for name in ("before", "mt"))
    assert isinstance(before, Table)
    assert isinstance(after, Table)
    assert before.primary_key == after.primary_key
    assert sorted(before.options) == sorted(after.options)


@pytest.mark.parametrize(("name", "hint"), [("events", "write SHOW CREATE TABLE"), ("plain", "write SHOW CREATE VIEW")])
def test_show_create_of_what_is_none(handler: DryRun, name: str, hint: str) -> None:
    with pytest.raises(SqlExtError, match="CAT-004") as refused:
        run(handler, f"SHOW CREATE MATERIALIZED TABLE {name}")
    assert refused.value.hint == hint


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("SELECT k AS a, COUNT(*) AS n FROM events GROUP BY k", ("a",)),
        ("SELECT COUNT(*) AS n, k, v FROM events GROUP BY k, v", ("k", "v")),
        ("SELECT k, v FROM events", None),
        (WINDOWED, None),
        (f"{WINDOWED} EMIT ON WINDOW CLOSE", None),
        (f"{WINDOWED} EMIT CHANGES", ("window_start", "window_end", "k")),
    ],
)
def test_the_key_of_updates_is_its_primary_key(handler: DryRun, query: str, key: tuple[str, ...] | None) -> None:
    table = view(handler, f"CREATE MATERIALIZED VIEW mv AS {query}")
    assert (table.primary_key.columns if table.primary_key else None) == key


def test_names_of_its_columns_and_another_place(handler: DryRun) -> None:
    table = view(
        handler,
        "CREATE MATERIALIZED VIEW mv (a, n) WITH ('table-name' = 'd.t') AS SELECT k, COUNT(*) FROM events GROUP BY k",
    )
    assert table.primary_key is not None
    assert ([c.name for c in table.columns], table.primary_key.columns) == (["a", "n"], ("a",))
    assert "path" not in dict(table.options)


def test_the_query_is_named_after_it() -> None:
    assert query_name(ObjectName("default_catalog", "default_database", "mv")) == "mv"
    assert query_name(ObjectName("default_catalog", "sales", "mv")) == "default_catalog.sales.mv"


def test_drop_takes_the_table_too(handler: DryRun) -> None:
    run(handler, "CREATE MATERIALIZED VIEW mv AS SELECT k FROM events; DROP MATERIALIZED VIEW mv")
    assert handler.state.catalog.lookup(("mv",)) is None
    run(handler, "DROP MATERIALIZED VIEW IF EXISTS mv")


def test_a_table_like_it_is_none(handler: DryRun) -> None:
    run(handler, "CREATE MATERIALIZED VIEW mv AS SELECT k FROM events; CREATE TABLE t LIKE mv; DROP TABLE t")
    with pytest.raises(SqlExtError, match="is a table, not a materialized view"):
        run(handler, "CREATE TABLE u LIKE mv; DROP MATERIALIZED VIEW u")


def test_settings_come_back(handler: DryRun) -> None:
    run(handler, "SET 'pipeline.name' = 'mine'; CREATE MATERIALIZED VIEW mv AS SELECT k FROM events")
    assert handler.state.settings.get("pipeline.name") == "mine"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("CREATE TEMPORARY MATERIALIZED VIEW mv AS SELECT k FROM events", "DDL-015"),
        ("CREATE MATERIALIZED VIEW mv WITH ('connector' = 'kafka') AS SELECT k FROM events", "DDL-022"),
        ("CREATE MATERIALIZED VIEW mv (a, b) AS SELECT k FROM events", "DDL-021"),
        ("CREATE MATERIALIZED VIEW mv AS SELECT k FROM mv", "DDL-020"),
        ("CREATE MATERIALIZED VIEW mv AS SELECT COUNT(*) AS n FROM events GROUP BY k", "SINK-004"),
        ("CREATE MATERIALIZED VIEW events AS SELECT k FROM plain", "CAT-001"),
        ("CREATE MATERIALIZED VIEW mv AS SELECT k FROM events; DROP TABLE mv", "CAT-004"),
        ("CREATE MATERIALIZED VIEW mv AS SELECT k FROM events; DROP VIEW mv", "CAT-004"),
        ("CREATE MATERIALIZED VIEW mv AS SELECT k FROM events; INSERT INTO mv SELECT k FROM events", "SINK-009"),
        ("DROP MATERIALIZED VIEW events", "CAT-004"),
        ("DROP MATERIALIZED VIEW plain", "CAT-004"),
        ("DROP MATERIALIZED VIEW mv", "CAT-002"),
    ],
)
def test_refused(handler: DryRun, text: str, code: str) -> None:
    with pytest.raises(SqlExtError) as refused:
        run(handler, text)
    assert refused.value.code == code, refused.value.render()


def test_a_materialized_table_of_flink(handler: DryRun) -> None:
    table = view(
        handler,
        """CREATE OR ALTER MATERIALIZED TABLE mv (PRIMARY KEY (k) NOT ENFORCED) COMMENT 'sums' PARTITIONED BY (k)
        WITH ('path' = '/rows') FRESHNESS = INTERVAL '3' MINUTE REFRESH_MODE = CONTINUOUS START_MODE = FROM_BEGINNING
        AS SELECT k, COUNT(*) AS n FROM events GROUP BY k""",
    )
    assert dict(table.options) == {"connector": "delta", "path": "/rows", "sqlext.kept-by": "mv"}
    assert (table.primary_key and table.primary_key.columns, table.partitioned_by) == (("k",), ("k",))
    run(handler, "ALTER MATERIALIZED TABLE mv SUSPEND; ALTER MATERIALIZED TABLE mv RESUME")
    run(handler, "DROP MATERIALIZED TABLE mv")
    assert handler.state.catalog.lookup(("mv",)) is None


@pytest.mark.parametrize(
    ("statement", "code", "at"),
    [
        ("CREATE MATERIALIZED TABLE m REFRESH_MODE = FULL AS SELECT 1", "PARSE-004", "FULL"),
        ("CREATE MATERIALIZED TABLE m REFRESH_MODE = NONE AS SELECT 1", "PARSE-002", "NONE"),
        ("CREATE MATERIALIZED TABLE m FRESHNESS = 3 AS SELECT 1", "PARSE-002", "3"),
        ("CREATE MATERIALIZED TABLE m FRESHNESS = INTERVAL '1' MONTH AS SELECT 1", "PARSE-006", "INTERVAL"),
        ("CREATE MATERIALIZED TABLE m FRESHNESS = INTERVAL '0' DAY AS SELECT 1", "PARSE-006", "INTERVAL"),
        ("CREATE MATERIALIZED TABLE m START_MODE = FROM_NOW AS SELECT 1", "PARSE-004", "FROM_NOW"),
        ("CREATE MATERIALIZED TABLE m (a INT) AS SELECT 1", "PARSE-004", "m (a"),
        ("CREATE MATERIALIZED TABLE m PARTITIONED BY (b) AS SELECT 1 AS a", "DDL-005", "m PART"),
        ("CREATE MATERIALIZED TABLE m (PRIMARY KEY (b) NOT ENFORCED) AS SELECT 1 AS a", "DDL-002", "PRIMARY"),
        ("ALTER MATERIALIZED TABLE events SUSPEND", "CAT-004", "events"),
        ("ALTER MATERIALIZED TABLE nothing RESUME", "CAT-002", "nothing"),
        ("ALTER MATERIALIZED TABLE events REFRESH", "PARSE-004", "REFRESH"),
        ("ALTER MATERIALIZED TABLE events AS SELECT 1", "PARSE-004", "AS"),
        ("ALTER MATERIALIZED TABLE events SUSPNED", "PARSE-002", "SUSPNED"),
        ("DROP MATERIALIZED TABLE events", "CAT-004", "events"),
    ],
)
def test_what_a_materialized_table_is_not(handler: DryRun, statement: str, code: str, at: str) -> None:
    with pytest.raises(SqlExtError) as refused:
        run(handler, statement)
    assert refused.value.code == code, refused.value.render()
    assert refused.value.span is not None
    assert refused.value.span.start == statement.index(at)
