"""UPDATE, DELETE and MERGE of delta tables, and their neighbours: wrong names and types are refused at check.

The place is what stands between the marks ``«`` and ``»``.
"""

from __future__ import annotations

import pytest

from sqlext.session.offline.checking import errors_of
from sqlext.session.offline.compilation import new_state
from sqlext.source import SourceText

TABLES = """CREATE TABLE stored (
  a INT, b STRING, d DATE, r ROW<x INT>, arr ARRAY<INT>, c AS a + 1, ts TIMESTAMP(3), ok BOOLEAN
) WITH ('connector' = 'delta', 'path' = '/data/stored');
CREATE TABLE other (a INT, b STRING) WITH ('connector' = 'delta', 'path' = '/data/other');
CREATE TABLE lines (a INT, b STRING) WITH ('connector' = 'filesystem', 'path' = '/data/lines', 'format' = 'json');
"""
_MERGE = "MERGE INTO stored t USING other o ON t.a = o.a"

BROKEN = {
    "UPDATE stored SET «nope» = 1": ("NAME-003", "the columns here are"),
    "UPDATE stored SET «c» = 1": ("NAME-003", "expression"),
    "UPDATE stored SET a = «'x'»": ("SINK-002", "INT"),
    "UPDATE stored SET a = «'1.5'»": ("SINK-002", "INT"),
    "UPDATE stored SET a = «d»": ("SINK-002", "no CAST"),
    "UPDATE stored SET d = «1»": ("SINK-002", "no CAST"),
    "UPDATE stored SET d = «'soon'»": ("SINK-002", "DATE"),
    "UPDATE stored SET ok = «'maybe'»": ("SINK-002", "BOOLEAN"),
    "UPDATE stored SET arr = «1»": ("SINK-002", "ARRAY<INT>"),
    "UPDATE stored SET a = «arr»": ("SINK-002", "INT"),
    "UPDATE stored SET «r.y» = 1": ("NAME-005", "its fields are x"),
    "UPDATE stored SET r.x = «d»": ("SINK-002", "INT"),
    "UPDATE stored SET a = «nope» + 1": ("NAME-003", ""),
    "UPDATE stored SET a = 1, «A» = 2": ("NAME-006", "one value"),
    "UPDATE stored SET a = «uppr(b)»": ("FUNC-001", "`UPPER`"),
    "UPDATE stored SET a = «substring(b)»": ("FUNC-002", ""),
    "UPDATE stored SET a = 1 WHERE «nope» = 1": ("NAME-003", ""),
    "UPDATE stored SET a = 1 WHERE «a»": ("TYPE-003", "a <> 0"),
    "UPDATE stored SET a = 1 WHERE «b»": ("TYPE-003", ""),
    "UPDATE stored SET a = 1 WHERE «x.a» = 1": ("NAME-003", "`stored.a`"),
    "UPDATE stored s SET a = 1 WHERE «stored.a» = 1": ("NAME-003", "`s.a`"),
    "UPDATE stored SET «x.a» = 1": ("NAME-003", "`stored.a`"),
    "UPDATE «storde» SET a = 1": ("NAME-002", "`stored`"),
    "DELETE FROM stored WHERE «nope» = 1": ("NAME-003", ""),
    "DELETE FROM stored WHERE «stord.a» = 1": ("NAME-003", "`stored.a`"),
    "DELETE FROM stored WHERE «a»": ("TYPE-003", ""),
    "DELETE FROM «storde»": ("NAME-002", "`stored`"),
    "DELETE FROM stored WHERE a IN (SELECT a FROM «nowhere»)": ("NAME-002", ""),
    "DELETE FROM stored WHERE «r.z» = 1": ("NAME-005", ""),
    "MERGE INTO stored USING «nowhere» ON TRUE WHEN MATCHED THEN DELETE": ("NAME-002", ""),
    "MERGE INTO «nowhere» USING stored ON TRUE WHEN MATCHED THEN DELETE": ("NAME-002", ""),
    "MERGE INTO stored USING other o ON stored.a = «other.a» WHEN MATCHED THEN DELETE": ("NAME-003", "`o.a`"),
    "MERGE INTO stored USING other o ON «a» = o.a WHEN MATCHED THEN DELETE": ("NAME-004", "stored.a or o.a"),
    "MERGE INTO stored t USING other o ON «t.a» WHEN MATCHED THEN DELETE": ("TYPE-003", ""),
    "MERGE INTO stored t USING (SELECT 1 AS a) q ON t.a = «q.c» WHEN MATCHED THEN DELETE": ("NAME-003", ""),
    "MERGE INTO stored t USING (VALUES (1)) q (a) ON t.a = «q.b» WHEN MATCHED THEN DELETE": ("NAME-003", ""),
    "MERGE INTO stored t USING (SELECT DATE '2024-01-01' AS b) q ON TRUE WHEN MATCHED THEN UPDATE SET a = «q.b»": (
        "SINK-002",
        "no CAST",
    ),
    f"{_MERGE} WHEN MATCHED THEN UPDATE SET «nope» = o.a": ("NAME-003", ""),
    f"{_MERGE} WHEN MATCHED THEN UPDATE SET a = «o.nope»": ("NAME-003", ""),
    f"{_MERGE} WHEN MATCHED THEN UPDATE SET d = «o.a»": ("SINK-002", ""),
    f"{_MERGE} WHEN MATCHED THEN UPDATE SET «o.a» = 1": ("NAME-003", "`t.a`"),
    f"{_MERGE} WHEN MATCHED THEN UPDATE SET «*»": ("SINK-001", "SCHEMA EVOLUTION"),
    f"{_MERGE} WHEN MATCHED AND «o.a» THEN DELETE": ("TYPE-003", ""),
    f"{_MERGE} WHEN MATCHED AND «nope» = 1 THEN DELETE": ("NAME-003", ""),
    f"{_MERGE} WHEN NOT MATCHED THEN INSERT «*»": ("SINK-001", ""),
    f"{_MERGE} WHEN NOT MATCHED THEN INSERT (a, «nope») VALUES (o.a, 1)": ("NAME-003", ""),
    f"{_MERGE} WHEN NOT MATCHED THEN INSERT «(a, b) VALUES (o.a)»": ("SINK-001", "one value"),
    f"{_MERGE} WHEN NOT MATCHED THEN INSERT (a, «a») VALUES (o.a, 1)": ("NAME-006", ""),
    f"{_MERGE} WHEN NOT MATCHED THEN INSERT (a) VALUES («t.a»)": ("NAME-003", "`o.a`"),
    f"{_MERGE} WHEN NOT MATCHED BY SOURCE THEN UPDATE SET a = «o.a»": ("NAME-003", "`t.a`"),
    "INSERT INTO other «VALUES (1)»": ("SINK-001", ""),
    "INSERT INTO other VALUES («'x'», 'a')": ("SINK-002", "CAST('x' AS INT)"),
    "INSERT INTO other VALUES («ARRAY(1)», 'a')": ("SINK-002", ""),
    "INSERT INTO lines VALUES («TRUE», 'a')": ("SINK-002", ""),
    "INSERT INTO other VALUES (1, 'a'), («DATE '2024-01-01'», 'b')": ("TYPE-021", "one type"),
    "INSERT INTO other VALUES (1, 'a'), («2»)": ("NAME-007", "as many values"),
    "INSERT INTO other («nope») VALUES (1)": ("NAME-003", "a, b"),
    "INSERT INTO other (a, «a») VALUES (1, 2)": ("NAME-006", ""),
    "ALTER TABLE lines DROP «nope»": ("DDL-030", "the columns are a, b"),
    "ALTER TABLE lines DROP (a, «nope»)": ("DDL-030", ""),
    "ALTER TABLE lines RENAME «nope» TO x": ("DDL-030", ""),
    "ALTER TABLE lines RENAME a TO «b»": ("DDL-031", ""),
    "ALTER TABLE lines MODIFY «nope INT»": ("DDL-030", ""),
    "ALTER TABLE lines RESET («'formt'»)": ("OPT-003", "`format`"),
}

RIGHT = [
    "UPDATE stored SET a = '5', b = a, d = '2024-01-01', r.x = 3, ok = 'true', arr = array(1), ts = NULL",
    "UPDATE stored SET a = DEFAULT WHERE stored.a > 1 AND A = 2",
    "UPDATE stored AS s SET s.a = s.b WHERE s.a IN (1, 2) OR s.b LIKE 'x%'",
    "UPDATE stored SET b = r, arr = transform(arr, x -> x + 1), d = NULL",
    "DELETE FROM stored WHERE ok",
    "DELETE FROM default_database.stored WHERE stored.a = 1",
    f"{_MERGE} WHEN MATCHED AND o.b THEN UPDATE SET t.b = o.b, d = NULL",
    f"{_MERGE} WHEN NOT MATCHED THEN INSERT (a, b) VALUES (o.a, o.b) WHEN NOT MATCHED BY SOURCE THEN DELETE",
    "MERGE INTO stored USING other ON stored.a = other.a WHEN MATCHED THEN UPDATE SET a = other.a + stored.a",
    "MERGE INTO other t USING stored o ON t.a = o.a WHEN NOT MATCHED THEN INSERT *",
    "MERGE INTO other t USING (SELECT 1 AS a, 'x' AS b) o ON t.a = o.a WHEN MATCHED THEN UPDATE SET *",
    # It gives the table the column.
    "MERGE WITH SCHEMA EVOLUTION INTO other t USING stored o ON t.a = o.a WHEN MATCHED THEN UPDATE SET d = o.d",
    # Only Spark knows these columns.
    "MERGE INTO stored t USING elsewhere.x o ON t.a = o.zz WHEN MATCHED THEN UPDATE SET a = zzz, b = o.y",
    "CREATE TABLE u USING parquet AS SELECT 1 AS k; MERGE INTO stored USING u ON a = u.k WHEN MATCHED THEN DELETE",
    "CREATE FUNCTION twice (x INT) RETURNS INT RETURN x * 2; UPDATE stored SET a = twice(a, 'x')",
    "INSERT INTO other VALUES (1, 'a'), (NULL, 'b'), (2, NULL)",
    "ALTER TABLE lines RESET ('format')",
]


@pytest.mark.parametrize("marked", BROKEN)
def test_broken(marked: str) -> None:
    code, hint = BROKEN[marked]
    place = marked[marked.index("«") + 1 : marked.index("»")]
    (error,) = errors_of(SourceText.of(f"{TABLES}{marked.replace('«', '').replace('»', '')};"), new_state(None).fork())
    assert error.span is not None
    assert (error.code, error.span.text) == (code, place), error.render()
    assert error.span.start == len(TABLES) + marked.index("«"), error.render()
    assert error.hint is not None
    assert hint in error.hint, error.render()


@pytest.mark.parametrize("text", RIGHT)
def test_right(text: str) -> None:
    assert errors_of(SourceText.of(f"{TABLES}{text};"), new_state(None).fork()) == []
