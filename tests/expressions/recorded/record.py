"""Asks a real Flink 2.3 (pip install apache-flink==2.3.0) for types and values: the source of the .jsonl beside it.

    python record.py expressions.txt answers.jsonl [--batch]

One expression per line, over the table below; ``~`` before it asks for its type alone. Answers carry ``type`` or
``refused`` (plan time), ``rows`` (one value if all rows agree) or ``fails`` (run time). Aggregates need ``--batch``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyflink.table import EnvironmentSettings, TableEnvironment

TABLE = """CREATE TABLE strs (
  id INT, s STRING, n INT, x DOUBLE, b BOOLEAN, ts TIMESTAMP(3), j STRING, u STRING,
  l AS CAST(n AS BIGINT), f AS CAST(x AS FLOAT), ti AS CAST(id AS TINYINT), si AS CAST(id AS SMALLINT),
  d AS CAST(ts AS DATE), tm AS CAST(ts AS TIME), de AS CAST(x AS DECIMAL(10, 2)),
  lz AS TO_TIMESTAMP_LTZ(id * 1000000000, 3), ai AS ARRAY[id, n], ast AS ARRAY[s, 'z'], mp AS MAP['a', n],
  bs AS CAST(s AS BYTES), ro AS CAST(ROW(id, s) AS ROW<p INT, q STRING>), vc AS CAST(s AS VARCHAR(20)),
  ch AS CAST('ab' AS CHAR(2)), ts6 AS CAST(ts AS TIMESTAMP(6))
) WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'json')"""


def plain(value):
    """Return a value as JSON can hold it."""
    if isinstance(value, (list, tuple)):
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


def main(source, target, batch):
    """Ask for every expression of the file."""
    settings = EnvironmentSettings.in_batch_mode() if batch else EnvironmentSettings.in_streaming_mode()
    env = TableEnvironment.create(settings)
    env.get_config().set("parallelism.default", "1")
    env.get_config().set("table.local-time-zone", "UTC")
    env.execute_sql(TABLE.format(path=Path(__file__).parent / "strs.json"))
    with Path(target).open("w") as out:
        for line in filter(str.strip, Path(source).read_text().splitlines()):
            expression = line.removeprefix("~")
            answer = {"expression": expression}
            query = f"SELECT {expression} AS r FROM strs"
            try:
                schema = env.sql_query(query)._j_table.getResolvedSchema()
                answer["type"] = schema.getColumns().get(0).getDataType().toString()
            except Exception as error:  # noqa: BLE001
                answer["refused"] = cause(error)
            if "type" in answer and not line.startswith("~"):
                try:
                    with env.execute_sql(query).collect() as rows:
                        values = [plain(row[0]) for row in rows]
                    answer["rows"] = values[:1] if all(v == values[0] for v in values) else values
                except Exception as error:  # noqa: BLE001
                    answer["fails"] = cause(error)
            out.write(json.dumps(answer, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], "--batch" in sys.argv)
