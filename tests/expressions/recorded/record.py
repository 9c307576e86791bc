"""Asks a real Flink 2.3 (pip install apache-flink==2.3.0) for types and values: the source of the .jsonl beside it.

    python record.py expressions.txt answers.jsonl [--edges] [--batch]

One expression per line, over the table ``strs``, with ``--edges`` over the table ``edges``; ``~`` before it asks for
its type alone. Answers carry ``type`` or ``refused`` (plan time), ``rows`` (one value if all rows agree) or ``fails``
(run time). Aggregates need ``--batch``. One job answers many expressions; those of a job that fails are asked in
smaller jobs.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyflink.common import Row
from pyflink.table import EnvironmentSettings, TableEnvironment

STRS = """CREATE TABLE strs (
  id INT, s STRING, n INT, x DOUBLE, b BOOLEAN, ts TIMESTAMP(3), j STRING, u STRING,
  l AS CAST(n AS BIGINT), f AS CAST(x AS FLOAT), ti AS CAST(id AS TINYINT), si AS CAST(id AS SMALLINT),
  d AS CAST(ts AS DATE), tm AS CAST(ts AS TIME), de AS CAST(x AS DECIMAL(10, 2)),
  lz AS TO_TIMESTAMP_LTZ(id * 1000000000, 3), ai AS ARRAY[id, n], ast AS ARRAY[s, 'z'], mp AS MAP['a', n],
  bs AS CAST(s AS BYTES), ro AS CAST(ROW(id, s) AS ROW<p INT, q STRING>), vc AS CAST(s AS VARCHAR(20)),
  ch AS CAST('ab' AS CHAR(2)), ts6 AS CAST(ts AS TIMESTAMP(6))
) WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'json')"""

EDGES = """CREATE TABLE edges (
  id INT, t TINYINT, h SMALLINT, i INT, l BIGINT, f FLOAT, x DOUBLE, p DECIMAL(5, 2), q DECIMAL(20, 10),
  r DECIMAL(38, 18), w DECIMAL(38, 0), s STRING, y BYTES, b BOOLEAN, d DATE, m TIME(0), a TIMESTAMP(3), g TIMESTAMP(6),
  k TIMESTAMP_LTZ(3), ai ARRAY<INT>, au ARRAY<STRING>, mp MAP<STRING, INT>, ro ROW<g INT, u STRING, e ROW<o DOUBLE>>,
  ar ARRAY<ROW<g INT, u STRING>>, c AS CAST(s AS CHAR(4)), v AS CAST(s AS VARCHAR(3)), z AS CAST(y AS BINARY(3))
) WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'json')"""

#: How many expressions one job answers.
JOB = 60


def plain(value):
    """Return a value as JSON can hold it."""
    if isinstance(value, (list, tuple)) and not isinstance(value, Row):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {str(plain(k)): plain(v) for k, v in value.items()}
    if value is None or isinstance(value, (bool, int, str)):
        return value
    return repr(value) if isinstance(value, float) else str(value)


def cause(error):
    """Return the innermost message of a Java error."""
    message, java = str(error), getattr(error, "java_exception", None)
    while java is not None:
        message, java = java.getMessage() or message, java.getCause()
    return message[:160].replace("\n", " ")


def values(env, table, expressions):
    """Return the answer of each expression over a table."""
    try:
        with env.execute_sql(f"SELECT {', '.join(expressions)} FROM {table}").collect() as rows:
            found = [[plain(value) for value in row] for row in rows]
    except Exception as error:  # noqa: BLE001
        if len(expressions) == 1:
            return [{"fails": cause(error)}]
        step = -(-len(expressions) // 6)
        parts = [expressions[i : i + step] for i in range(0, len(expressions), step)]
        return [answer for part in parts for answer in values(env, table, part)]
    columns = [list(column) for column in zip(*found, strict=True)]
    return [{"rows": c[:1] if all(v == c[0] for v in c) else c} for c in columns]


def main(source, target, edges, batch):
    """Ask for every expression of the file."""
    settings = EnvironmentSettings.in_batch_mode() if batch else EnvironmentSettings.in_streaming_mode()
    env = TableEnvironment.create(settings)
    env.get_config().set("parallelism.default", "1")
    env.get_config().set("table.local-time-zone", "UTC")
    env.get_config().set("restart-strategy.type", "none")
    table = "edges" if edges else "strs"
    env.execute_sql((EDGES if edges else STRS).format(path=Path(__file__).parent / f"{table}.json"))
    answers = {}
    asked = []
    for line in filter(str.strip, Path(source).read_text().splitlines()):
        expression = line.removeprefix("~")
        answers[expression] = {"expression": expression}
        try:
            schema = env.sql_query(f"SELECT {expression} AS r FROM {table}")._j_table.getResolvedSchema()
            answers[expression]["type"] = schema.getColumns().get(0).getDataType().toString()
        except Exception as error:  # noqa: BLE001
            answers[expression]["refused"] = cause(error)
            continue
        if not line.startswith("~"):
            asked.append(expression)
    for i in range(0, len(asked), 1 if batch else JOB):
        part = asked[i : i + (1 if batch else JOB)]
        for expression, answer in zip(part, values(env, table, part), strict=True):
            answers[expression].update(answer)
    lines = (json.dumps(answer, ensure_ascii=False) for answer in answers.values())
    Path(target).write_text("".join(f"{line}\n" for line in lines), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], "--edges" in sys.argv, "--batch" in sys.argv)
