"""What `sqlext check` says of broken statements under Spark's expressions, without Spark: code, place, hint.

The place is what stands between the marks ``«`` and ``»``.
"""

from __future__ import annotations

import pytest

from sqlext.analysis.functions.model import SparkCount
from sqlext.session.offline.checking import errors_of, found_in
from sqlext.session.offline.compilation import new_state
from sqlext.source import SourceText

TABLES = """CREATE TABLE orders (id INT, item STRING, amount DOUBLE, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '/in/orders', 'format' = 'json');
CREATE TABLE returned (id INT, item STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '/in/returned', 'format' = 'json');
CREATE TABLE shops (places ARRAY<ROW<name STRING>>, sizes ARRAY<INT>)
WITH ('connector' = 'filesystem', 'path' = '/in/shops', 'format' = 'json');
CREATE TABLE totals (item STRING, total BIGINT) WITH ('connector' = 'blackhole');
"""

BROKEN = {
    "SELECT id FROM orders WHERE «amount»": ("TYPE-003", "amount <> 0"),
    "SELECT id FROM orders WHERE «ts»": ("TYPE-003", "ts IS NOT NULL"),
    "SELECT id FROM orders o JOIN returned USING (id) WHERE «item» = 'a'": ("NAME-004", "o.item or returned.item"),
    "SELECT id FROM orders WHERE «item»": ("TYPE-003", "item = 'true'"),
    "SELECT TIMESTAMPDIFF(«HOR», ts, ts) FROM orders": ("PARSE-002", "did you mean HOUR"),
    "SELECT EXTRACT(«HOR» FROM ts) FROM orders": ("PARSE-002", "did you mean HOUR"),
    "SELECT TIMESTAMPADD(«fortnight», 1, ts) FROM orders": ("PARSE-002", "the units are YEAR, QUARTER, MONTH"),
    "SELECT TIMESTAMPADD(«DAYS», 1, ts) FROM orders": ("PARSE-002", "did you mean DAY"),
    "SELECT TIMESTAMPDIFF(«DAYOFYEAR», ts, ts) FROM orders": ("PARSE-002", "did you mean DAY"),
    "SELECT TIMESTAMPDIFF(«NANOSECOND», ts, ts) FROM orders": ("PARSE-002", "MICROSECOND"),
    "SELECT EXTRACT(«QUARTERS» FROM ts) FROM orders": ("PARSE-002", "did you mean QUARTER"),
    "SELECT EXTRACT(«MILLISECONDS» FROM ts) FROM orders": ("PARSE-002", "did you mean MILLISECOND"),
    "SELECT EXTRACT(«DAYOFYEAR» FROM ts) FROM orders": ("PARSE-002", "did you mean DOY"),
    "SELECT item, COUNT(*) FILTER (WHERE «item») FROM orders GROUP BY item": ("TYPE-003", ""),
    "SELECT TRANSFORM(ARRAY(1), x -> x + «idd») FROM orders": ("NAME-003", "did you mean `id`"),
    "SELECT TRANSFORM(ARRAY(1), x -> «UPPER(x, 1)») FROM orders": ("FUNC-002", "DESCRIBE FUNCTION UPPER"),
    "SELECT TRANSFORM(sizes, x -> «x + LOCALTIMESTAMP») FROM shops": ("TYPE-001", "TIMESTAMPADD(SECOND, x, "),
    "SELECT FILTER(sizes, x -> «x») FROM shops": ("TYPE-003", ""),
    "SELECT AGGREGATE(ARRAY(id), 0, (total, x) -> total + «y») FROM orders": ("NAME-003", "the columns here are"),
    "SELECT TRANSFORM(ARRAY(id), «(x, i, n) -> x») FROM orders": ("FUNC-002", "write (x, y) -> ..."),
    "SELECT TRANSFORM(ARRAY(id), (x, «X») -> x) FROM orders": ("NAME-006", "another name"),
    "SELECT UPPER(«x -> x») FROM orders": ("FUNC-002", "TRANSFORM"),
    "SELECT AGGREGATE(ARRAY(id), «(total, x) -> total») FROM orders": ("FUNC-002", "DESCRIBE FUNCTION AGGREGATE"),
    "SELECT TRANSFORM(ARRAY(id), x -> «(SELECT 1)») FROM orders": ("JOIN-017", "a sub-query of FROM"),
    "SELECT TRANSFORM(ARRAY(NAMED_STRUCT('a', id)), x -> x + «b») FROM orders": ("NAME-003", ""),
    "SELECT «p.places[0].nam» FROM shops p": ("NAME-005", "did you mean `name`"),
    "SELECT TRANSFORM(places, x -> «x.size») FROM shops": ("NAME-005", "its fields are name"),
    "SELECT item, TRANSFORM(COLLECT_LIST(id), x -> x + «amount») FROM orders GROUP BY item": (
        "NAME-010",
        "MAX(amount)",
    ),
    "CREATE TABLE made (a ARRAY<INT>, b AS TRANSFORM(a, x -> x + «c»)) WITH ('connector' = 'blackhole')": (
        "NAME-003",
        "the columns here are a",
    ),
    "SELECT «amount + ts» FROM orders": ("TYPE-001", "TIMESTAMPADD(SECOND, CAST(amount AS INT), ts)"),
    "SELECT id FROM orders WHERE «ts > amount»": ("TYPE-001", "CAST"),
    "SELECT «UPPER(item, 2)» FROM orders": ("FUNC-002", "DESCRIBE FUNCTION UPPER"),
    "SELECT «UPPER()» FROM orders": ("FUNC-002", "DESCRIBE FUNCTION UPPER"),
    "SELECT «SUBSTRING(item)» FROM orders": ("FUNC-002", "DESCRIBE FUNCTION SUBSTRING"),
    "SELECT «ARRAY_DISTINCT(1, 2)» FROM orders": ("FUNC-002", "DESCRIBE FUNCTION ARRAY_DISTINCT"),
    "SELECT «SPLIT_INDEX(item)» FROM orders": ("FUNC-002", "write SPLIT_INDEX("),
    "CREATE TABLE unused (id INT) WITH ('connector' = 'filesystem', 'path' = '/in', «'format' = 'jsn'»)": (
        "OPT-005",
        "did you mean `json`?",
    ),
    "CREATE TABLE unused (id INT) WITH («'connector' = 'datagn'»)": ("OPT-002", "did you mean `datagen`?"),
    "CREATE TABLE unused (id INT) WITH ('connector' = 'datagen', «'rows-per-second' = 'x'»)": ("OPT-005", "it must be"),
    "INSERT INTO totals SELECT item, «SUM(id) OVER (PARTITION BY item ORDER BY ts)» FROM orders": (
        "WARN-001",
        "table.exec.state.ttl",
    ),
    "SELECT item, COUNT(*) FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR)) "
    "GROUP BY item, window_start, window_end EMIT AFTER WATERMARK EARLY «EVERY 2h»": ("WARN-005", ""),
    "INSERT INTO totals SELECT item, «item» FROM orders": ("SINK-002", "CAST(item AS BIGINT)"),
    "INSERT INTO totals «SELECT item FROM orders»": ("SINK-001", "sink: item STRING, total BIGINT"),
    "SET 'execution.runtime-mode' = «'stream'»": ("OPT-011", "one of 'streaming', 'batch'"),
    "SET «'sqlext.bonded'» = 'true'": ("OPT-010", "`sqlext.bounded`"),
    "SELECT id FROM orders «SELECT» 1": ("PARSE-002", "end the statement before this with `;`"),
    "SELECT COUNT(* «FROM» orders": ("PARSE-002", "a `)` is missing before this"),
    "SELECT id item «amount» FROM orders": ("PARSE-002", "is a comma or an operator missing before this?"),
    "SELECT item, COUNT(*) FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), «INTERVAL '0' MINUTE»)) "
    "GROUP BY item, window_start, window_end": ("WINDOW-005", "INTERVAL '10' MINUTE"),
    "SELECT item, COUNT(*) FROM TABLE(CUMULATE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR, "
    "«INTERVAL '5' MINUTE»)) GROUP BY item, window_start, window_end": ("WINDOW-005", "the step comes before the size"),
    "SELECT item, COUNT(*) FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR)) "
    "GROUP BY item, window_start, window_end EMIT AFTER WATERMARK «LATE» EVERY 1 ROW": (
        "EMIT-021",
        "ALLOW LATENESS 1h",
    ),
}


@pytest.mark.parametrize(("marked", "code", "hint"), [(text, *told) for text, told in BROKEN.items()])
def test_broken(marked: str, code: str, hint: str) -> None:
    place = marked[marked.index("«") + 1 : marked.index("»")]
    text = marked.replace("«", "").replace("»", "")
    error = found_in(SourceText.of(f"{TABLES}{text};"), new_state(None).fork())[0]
    assert error.span is not None
    assert (error.code, error.span.text) == (code, place), error.render()
    assert error.span.start == len(TABLES) + marked.index("«"), error.render()
    assert hint in (error.hint or ""), error.render()


@pytest.mark.parametrize(
    "condition",
    ["WHERE item AND id = 1", "WHERE amount > 1", "WHERE NULL", "GROUP BY id HAVING COUNT(*)"],
)
def test_what_spark_may_cast_is_left_to_spark(condition: str) -> None:
    text = f"{TABLES}SELECT id FROM orders {condition};"
    found = found_in(SourceText.of(text), new_state(None).fork())
    assert [error.render() for error in found if error.severity == "error"] == []


@pytest.mark.parametrize(
    "call",
    [
        "TRIM(BOTH 'a' FROM item)",
        "SUBSTRING(item FROM 1 FOR 2)",
        "OVERLAY(item PLACING 'x' FROM 1)",
        "POSITION('a' IN item)",
        "EXTRACT(DAY FROM ts)",
        "EXTRACT(dow_iso FROM ts)",
        "EXTRACT(hrs FROM ts)",
        "FLOOR(ts TO DAY)",
        "CEIL(amount, 1)",
        "MAKE_TIMESTAMP_LTZ(2026, 1, 1, 0, 0, 0, 'UTC')",
        "COUNT(*)",
        "CONCAT(item, item, item)",
        "CURRENT_DATE",
        "CURRENT_DATE()",
        "DATE_ADD(DAY, 1, ts)",
        "PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY amount)",
        "TRANSFORM(ARRAY(1), x -> x + id)",
        "AGGREGATE(ARRAY(1), 0, (total, x) -> total + x)",
        # A parameter goes before a column of its name, whatever its case.
        "TRANSFORM(ARRAY(1), ITEM -> item + id)",
        "TRANSFORM(ARRAY(1), id -> id + orders.id)",
        "TRANSFORM(ARRAY(1), x -> TRANSFORM(ARRAY(2), y -> x + y + id))",
        "ARRAY_SORT(ARRAY(1, 2), (a, b) -> b - a)",
        "MAP_ZIP_WITH(MAP('a', 1), MAP('a', 2), (k, a, b) -> a + b)",
        "SUM(CARDINALITY(FILTER(ARRAY(1), x -> x > 0)))",
        "CARDINALITY(TRANSFORM(COLLECT_LIST(id), x -> x + 1))",
        "TRANSFORM(ARRAY(1), 2)",
        "TIMESTAMPADD(DAYOFYEAR, 1, ts)",
        "EXTRACT(days FROM ts)",
        "EXTRACT(MILLISECOND FROM ts)",
        "TO_TIMESTAMP(item)",
        "COALESCE(item)",
        "SUM(item)",
    ],
)
def test_calls_that_spark_takes(call: str) -> None:
    text = f"{TABLES}SELECT {call} FROM orders;"
    found = found_in(SourceText.of(text), new_state(None).fork())
    assert [error.render() for error in found if error.severity == "error"] == []


@pytest.mark.parametrize(
    ("text", "taken", "words"),
    [("1", [1], "1 argument"), ("0,2", [0, 2], "0 or 2 arguments"), ("2+", [2, 3, 9], "at least 2 arguments")],
)
def test_numbers_of_arguments(text: str, taken: list[int], words: str) -> None:
    count = SparkCount.of(text)
    assert [n for n in (0, 1, 2, 3, 9) if count.takes(n)] == taken
    assert str(count) == words


def test_a_function_that_was_refused_is_told_once() -> None:
    text = f"{TABLES}CREATE FUNCTION twice AS 'no.such.Twice' LANGUAGE JAVA;\nSELECT TWICE(amount) FROM orders;"
    found = found_in(SourceText.of(text), new_state(None).fork())
    assert [error.code for error in found if error.code == "FUNC-001"] == []
    assert [error.severity for error in found].count("error") == 1


@pytest.mark.parametrize(
    "query",
    [
        "SELECT item, TRANSFORM(COLLECT_LIST(id), x -> x + 1) FROM orders GROUP BY item",
        "SELECT item FROM orders GROUP BY item HAVING EXISTS(COLLECT_LIST(id), x -> x > 1)",
        "SELECT TRANSFORM(ARRAY(id), x -> x + 1) FROM orders GROUP BY TRANSFORM(ARRAY(id), x -> x + 1)",
        "SELECT o.id FROM orders o JOIN returned r ON o.id = r.id AND EXISTS(ARRAY(o.id), x -> x > 1)",
        "SELECT o.id FROM orders o JOIN returned r ON o.id = r.id AND EXISTS(ARRAY(r.id), id -> id > 1)",
        "SELECT places[0].NAME FROM shops",
    ],
)
def test_lambdas_stand_wherever_expressions_do(query: str) -> None:
    found = found_in(SourceText.of(f"{TABLES}{query};"), new_state(None).fork())
    assert [error.render() for error in found if error.severity == "error"] == []


_NO_TYPE = "CREATE TABLE wrong (id INTT, name STRING) WITH ('connector' = 'blackhole');"
_NO_CATALOG = "CREATE CATALOG c WITH ('type' = 'hive'); USE CATALOG c;"
_OWN = "CREATE TABLE own (id INT) WITH ('bucket' = '1');"
_NO_CONNECTOR = "CREATE TABLE wrong (id INT) WITH ('connector' = 'blackhol');"


@pytest.mark.parametrize(
    "script",
    [
        f"{_NO_TYPE} ALTER TABLE wrong ADD (n INT); ALTER TABLE wrong SET ('a' = 'b'); INSERT INTO wrong SELECT 1;",
        f"{_NO_TYPE} CREATE VIEW of_it AS SELECT id FROM wrong; SELECT id FROM of_it; DROP VIEW of_it;",
        f"{_NO_TYPE} ALTER TABLE wrong RENAME TO renamed; SELECT id FROM renamed; DROP TABLE renamed;",
        f"{_NO_TYPE} CREATE TABLE copy LIKE wrong; INSERT INTO copy SELECT 1, 'a'; DESCRIBE copy;",
        f"{_NO_CONNECTOR} ALTER TABLE wrong RENAME TO renamed; INSERT INTO renamed SELECT 1; SELECT id FROM renamed;",
        "CREATE DATABASE d WITH (x); CREATE TABLE d.t (id INT) WITH ('connector' = 'blackhole'); USE d;",
        "CREATE CATALOG c WITH ('type' = 'hive'); USE CATALOG c;",
        f"{_NO_CATALOG} CREATE DATABASE d; USE d; {_OWN} INSERT INTO own SELECT 1; SELECT id FROM own;",
        "CREATE VIEW wrong AS SELECT idd FROM orders; ALTER VIEW wrong AS SELECT id FROM orders; DROP VIEW wrong;",
        f"{_NO_TYPE} SHOW TABLES;",
    ],
)
def test_what_follows_from_a_refused_definition_is_silent(script: str) -> None:
    found = found_in(SourceText.of(TABLES + script), new_state(None).fork())
    assert [error.severity for error in found].count("error") == 1, [error.render() for error in found]


def test_what_does_not_follow_from_a_refused_definition_is_told() -> None:
    # `name` is a column of the refused table, and no table. What is told of tables ends with the catalog in use.
    script = f"{_NO_CATALOG} USE CATALOG default_catalog; {_OWN} INSERT INTO own SELECT 1;"
    assert [e.code for e in errors_of(SourceText.of(script), new_state(None).fork())] == ["CAT-039", "OPT-001"]
    script = f"{TABLES}{_NO_TYPE} SELECT id FROM name; SELECT idd FROM orders; DROP TABLE ordrs;"
    found = [e.code for e in found_in(SourceText.of(script), new_state(None).fork()) if e.severity == "error"]
    assert found == ["PARSE-007", "NAME-002", "NAME-003", "CAT-002"]


_BROKEN_FORMAT = "CREATE TABLE base (id INT) WITH ('connector' = 'filesystem', 'path' = '/x', 'format' = 'jsn');"
_CONTAINS = "CREATE TEMPORARY FUNCTION contains(a STRING, b STRING, c INT) RETURNS BOOLEAN RETURN true;"
_SLOW = """CREATE TABLE slow (id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' HOUR)
WITH ('connector' = 'filesystem', 'path' = '/x', 'format' = 'json', 'source.monitor-interval' = '1 s');"""
_TUMBLED = "SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE slow, DESCRIPTOR(ts), INTERVAL '1' HOUR))"


@pytest.mark.parametrize(
    "script",
    [
        f"{_BROKEN_FORMAT} ALTER TABLE base SET ('format' = 'json'); SELECT id FROM base;",
        f"{_BROKEN_FORMAT} CREATE TABLE b WITH ('format' = 'json') LIKE base (OVERWRITING OPTIONS); SELECT id FROM b;",
        f"{_BROKEN_FORMAT} DROP TABLE IF EXISTS default_catalog.default_database.`base`;",
        f"{_CONTAINS} SELECT contains(item, 'a', 2) FROM orders;",
        # The watermark waits: a window of an hour is open for six.
        f"{_SLOW} {_TUMBLED} GROUP BY window_start, window_end EMIT AFTER WATERMARK EARLY EVERY 2h;",
    ],
)
def test_what_is_right_in_the_end(script: str) -> None:
    found = found_in(SourceText.of(TABLES + script), new_state(None).fork())
    codes = [error.code for error in found if error.severity == "error" or error.code == "WARN-005"]
    assert codes == [], [error.render() for error in found]
