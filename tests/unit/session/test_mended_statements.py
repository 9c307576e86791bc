"""Wrong statements of new users: each is told at its exact place, and what the hint says mends it.

The place is what stands between the marks ``«`` and ``»``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

from sqlext.errors import SqlExtError
from sqlext.session.offline.checking import found_in
from sqlext.session.offline.compilation import new_state
from sqlext.source import SourceText

TABLES = """CREATE TABLE orders (id INT, item STRING, amount DOUBLE, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '/in/orders', 'format' = 'json');
CREATE TABLE returned (id INT, item STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '/in/returned', 'format' = 'json');
CREATE TABLE totals (item STRING, total DOUBLE) WITH ('connector' = 'blackhole');
"""
TUMBLED = "TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"
BOTH, SPARK, FLINK = ("spark", "flink"), ("spark",), ("flink",)


@dataclass(frozen=True)
class Mistake:
    """A statement with a mistake.

    Attributes:
        hint: a regular expression of words of the hint.
        right: the statement that does what the hint says.
        modes: the expression modes in which it is told so.
    """

    wrong: str
    code: str
    hint: str
    right: str
    modes: tuple[str, ...] = BOTH


MISTAKES = [
    # A column, in each clause.
    Mistake("SELECT «itm» FROM orders", "NAME-003", "`item`", "SELECT item FROM orders"),
    Mistake("SELECT «o.itm» FROM orders o", "NAME-003", "`o.item`", "SELECT o.item FROM orders o"),
    Mistake("SELECT «orders.item» FROM orders o", "NAME-003", "`o.item`", "SELECT o.item FROM orders o"),
    Mistake(
        "SELECT id FROM orders WHERE «amuont» > 1", "NAME-003", "`amount`", "SELECT id FROM orders WHERE amount > 1"
    ),
    Mistake(
        "SELECT item, COUNT(*) FROM orders GROUP BY item HAVING SUM(«amuont») > 1",
        "NAME-003",
        "`amount`",
        "SELECT item, COUNT(*) FROM orders GROUP BY item HAVING SUM(amount) > 1",
    ),
    Mistake("SELECT id FROM orders ORDER BY «tss»", "NAME-003", "`ts`", "SELECT id FROM orders ORDER BY ts"),
    Mistake(
        "SELECT o.id FROM orders o JOIN returned r ON «o.idd» = r.id",
        "NAME-003",
        "`o.id`",
        "SELECT o.id FROM orders o JOIN returned r ON o.id = r.id",
    ),
    Mistake(
        "SELECT SUM(amount) OVER (PARTITION BY «itm» ORDER BY ts) FROM orders",
        "NAME-003",
        "`item`",
        "SELECT SUM(amount) OVER (PARTITION BY item ORDER BY ts) FROM orders",
    ),
    Mistake(
        "SELECT SUM(amount) OVER w FROM orders WINDOW w AS (PARTITION BY «itm» ORDER BY ts)",
        "NAME-003",
        "`item`",
        "SELECT SUM(amount) OVER w FROM orders WINDOW w AS (PARTITION BY item ORDER BY ts)",
    ),
    Mistake(
        "SELECT id FROM orders WHERE item = «pen»",
        "NAME-003",
        "quotes, 'pen'",
        "SELECT id FROM orders WHERE item = 'pen'",
    ),
    Mistake(
        "SELECT «window_start» FROM orders",
        "NAME-003",
        r"FROM TABLE\(TUMBLE\(TABLE t, DESCRIPTOR\(ts\), INTERVAL '1' MINUTE",
        f"SELECT window_start FROM {TUMBLED}",
    ),
    Mistake("DROP TABLE «ordrs»", "CAT-002", "`orders`", "DROP TABLE orders"),
    Mistake("ALTER TABLE «ordrs» ADD (n INT)", "CAT-002", "`orders`", "ALTER TABLE orders ADD (n INT)"),
    # Keywords that are missing, misspelt, or in a wrong place.
    Mistake("SELECT item «FORM» orders", "PARSE-002", "did you mean FROM", "SELECT item FROM orders"),
    Mistake("SELECT item FROM orders «LIMT» 5", "PARSE-002", "did you mean LIMIT", "SELECT item FROM orders LIMIT 5"),
    Mistake(
        "SELECT item FROM orders GROUP «item»",
        "PARSE-002",
        "BY is missing before this",
        "SELECT item FROM orders GROUP BY item",
        SPARK,
    ),
    Mistake(
        "SELECT item FROM orders WHERE id = 1 GROUP «item»",
        "PARSE-002",
        "BY is missing before this",
        "SELECT item FROM orders WHERE id = 1 GROUP BY item",
    ),
    Mistake(
        "SELECT id FROM orders ORDER «ts»",
        "PARSE-002",
        "BY is missing before this",
        "SELECT id FROM orders ORDER BY ts",
        SPARK,
    ),
    Mistake(
        "SELECT SUM(amount) OVER (PARTITION «item» ORDER BY ts) FROM orders",
        "PARSE-002",
        "BY is missing before this",
        "SELECT SUM(amount) OVER (PARTITION BY item ORDER BY ts) FROM orders",
    ),
    Mistake(
        "SELECT CASE WHEN id > 1 THEN 'a' ELSE 'b' «FROM» orders",
        "PARSE-002",
        "END is missing before this",
        "SELECT CASE WHEN id > 1 THEN 'a' ELSE 'b' END FROM orders",
    ),
    Mistake(
        "SELECT CAST(id«,» INT) FROM orders", "PARSE-002", "write AS in its place", "SELECT CAST(id AS INT) FROM orders"
    ),
    Mistake(
        "SELECT id FROM orders WHERE id BETWEEN 1«,» 2",
        "PARSE-002",
        "write AND in its place",
        "SELECT id FROM orders WHERE id BETWEEN 1 AND 2",
    ),
    Mistake(
        "SELECT id FROM orders WHERE item LIKE «%»pen%",
        "PARSE-002",
        "in quotes: '%...%'",
        "SELECT id FROM orders WHERE item LIKE '%pen%'",
    ),
    Mistake("SELECT «TOP» 5 item FROM orders", "PARSE-004", "LIMIT 5 at the end", "SELECT item FROM orders LIMIT 5"),
    Mistake(
        "SELECT id FROM orders WHERE ts > LOCALTIMESTAMP - INTERVAL 1 «MINUTS»",
        "PARSE-002",
        "did you mean MINUTE",
        "SELECT id FROM orders WHERE ts > LOCALTIMESTAMP - INTERVAL 1 MINUTE",
        SPARK,
    ),
    Mistake(
        f"SELECT COUNT(*) FROM {TUMBLED} GROUP BY window_start, window_end EMIT EVERY 5«»",
        "EMIT-002",
        "5 ROWS are rows, 5s are seconds",
        f"SELECT COUNT(*) FROM {TUMBLED} GROUP BY window_start, window_end EMIT EVERY 5 ROWS",
    ),
    # Definitions.
    Mistake(
        "CREATE TABLE t1 (id INT, «)» WITH ('connector' = 'blackhole')",
        "PARSE-002",
        "remove the comma before this",
        "CREATE TABLE t1 (id INT) WITH ('connector' = 'blackhole')",
    ),
    Mistake(
        "CREATE TABLE t1 (id INT) WITH ('connector' «'blackhole'»)",
        "PARSE-002",
        "= is missing before this",
        "CREATE TABLE t1 (id INT) WITH ('connector' = 'blackhole')",
    ),
    Mistake(
        "CREATE TABLE t1 (id INT) «(»'connector' = 'blackhole')",
        "PARSE-002",
        "WITH is missing before this",
        "CREATE TABLE t1 (id INT) WITH ('connector' = 'blackhole')",
    ),
    Mistake(
        "CREATE TABLE t1 (ts TIMESTAMP(3), WATERMARK «ts» AS ts) WITH ('connector' = 'blackhole')",
        "PARSE-002",
        "FOR is missing before this",
        "CREATE TABLE t1 (ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'blackhole')",
    ),
    # Types.
    Mistake(
        "SELECT id FROM orders WHERE id = 1 OR «2»",
        "TYPE-003",
        r"id IN \(1, 2\)",
        "SELECT id FROM orders WHERE id IN (1, 2)",
    ),
    Mistake("SELECT id FROM orders WHERE NOT «id»", "TYPE-003", "id <> 0", "SELECT id FROM orders WHERE NOT id <> 0"),
    Mistake(
        "SELECT id FROM orders WHERE «id» AND item = 'a'",
        "TYPE-003",
        "id <> 0",
        "SELECT id FROM orders WHERE id <> 0 AND item = 'a'",
    ),
    Mistake(
        "SELECT id FROM orders WHERE «amount»", "TYPE-003", "amount <> 0", "SELECT id FROM orders WHERE amount <> 0"
    ),
    Mistake(
        "SELECT id FROM orders WHERE «item || 'a'»",
        "TYPE-003",
        r"item \|\| 'a' = 'true'",
        "SELECT id FROM orders WHERE item || 'a' = 'true'",
    ),
    Mistake(
        "SELECT id FROM orders WHERE «ts»", "TYPE-003", "ts IS NOT NULL", "SELECT id FROM orders WHERE ts IS NOT NULL"
    ),
    Mistake(
        "SELECT COUNT(*) FILTER (WHERE «item») FROM orders",
        "TYPE-003",
        "item = 'true'",
        "SELECT COUNT(*) FILTER (WHERE item = 'true') FROM orders",
    ),
    Mistake(
        "SELECT CASE WHEN «item» THEN 1 END FROM orders",
        "TYPE-003",
        "item = 'true'",
        "SELECT CASE WHEN item = 'true' THEN 1 END FROM orders",
    ),
    Mistake("SELECT IF(«id», 1, 2) FROM orders", "TYPE-003", "id <> 0", "SELECT IF(id <> 0, 1, 2) FROM orders", SPARK),
    Mistake(
        "SELECT «item + 1» FROM orders",
        "TYPE-001",
        r"CAST\(item AS INT\)",
        "SELECT CAST(item AS INT) + 1 FROM orders",
        FLINK,
    ),
    Mistake(
        "SELECT «ts + id» FROM orders",
        "TYPE-001",
        r"TIMESTAMPADD\(SECOND, id, ts\)",
        "SELECT TIMESTAMPADD(SECOND, id, ts) FROM orders",
    ),
    # Groups, windows, sinks.
    Mistake(
        "SELECT item FROM orders WHERE «COUNT(*)» > 1 GROUP BY item",
        "WINDOW-009",
        "behind GROUP BY, as HAVING",
        "SELECT item FROM orders GROUP BY item HAVING COUNT(*) > 1",
    ),
    Mistake(
        "SELECT «ROW_NUMBER()» FROM orders",
        "OVER-002",
        r"ROW_NUMBER\(\) OVER \(PARTITION BY ... ORDER BY ...\)",
        "SELECT ROW_NUMBER() OVER (PARTITION BY item ORDER BY ts) FROM orders",
    ),
    Mistake(
        "SELECT «LAG(amount)» FROM orders",
        "OVER-002",
        r"LAG\(amount\) OVER \(PARTITION BY ... ORDER BY ...\)",
        "SELECT LAG(amount) OVER (PARTITION BY item ORDER BY ts) FROM orders",
    ),
    Mistake(
        "SELECT item FROM orders UNION ALL «SELECT item, id FROM returned»",
        "NAME-007",
        "as the first query, which has item",
        "SELECT item FROM orders UNION ALL SELECT item FROM returned",
    ),
    Mistake(
        "INSERT INTO totals SELECT item, «MAX(item)» FROM orders GROUP BY item",
        "SINK-002",
        r"CAST\(MAX\(item\) AS DOUBLE\)",
        "INSERT INTO totals SELECT item, CAST(MAX(item) AS DOUBLE) FROM orders GROUP BY item",
    ),
    Mistake(
        "INSERT INTO totals SELECT item, «ids» FROM (SELECT item, ARRAY[id] AS ids FROM orders)",
        "SINK-002",
        "select a DOUBLE, or declare `total`",
        "INSERT INTO totals SELECT item, ids[1] FROM (SELECT item, ARRAY[id] AS ids FROM orders)",
        FLINK,
    ),
    Mistake("SELECT «IF(id > 1, 'a')» FROM orders", "FUNC-002", "IF", "SELECT IF(id > 1, 'a', 'b') FROM orders"),
]


def check(text: str, mode: str) -> list[SqlExtError]:
    script = f"SET 'sqlext.expressions' = '{mode}';\n{TABLES}{text};"
    return [e for e in found_in(SourceText.of(script), new_state(None).fork()) if e.severity == "error"]


CASES = [(mistake, mode) for mistake in MISTAKES for mode in mistake.modes]


@pytest.mark.parametrize(("mistake", "mode"), CASES, ids=[f"{m.wrong}-{mode}" for m, mode in CASES])
def test_told_and_mended(mistake: Mistake, mode: str) -> None:
    start, end = mistake.wrong.index("«"), mistake.wrong.index("»") - 1
    error = check(re.sub("[«»]", "", mistake.wrong), mode)[0]
    assert error.span is not None
    before = len(f"SET 'sqlext.expressions' = '{mode}';\n{TABLES}")
    assert (error.code, error.span.start - before) == (mistake.code, start), error.render()
    # At the end of a statement stands what ends it.
    assert start == end or error.span.end - before == end, error.render()
    assert re.search(mistake.hint, error.hint or ""), error.render()
    assert [e.render() for e in check(mistake.right, mode)] == []
