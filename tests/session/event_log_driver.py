"""Run jobs with planted secrets in a Spark that writes an event log. Arguments: a folder, the secret."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import sqlext
from sqlext.errors import SqlExtError
from sqlext.spark.local import local_spark

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.unit.session.test_planted_secrets import PLANTED

folder, secret = Path(sys.argv[1]), sys.argv[2]
warnings.simplefilter("ignore")
(folder / "events").mkdir()
(folder / "in").mkdir()
(folder / "in" / "a.csv").write_text("a,1\nb,2\n", "utf-8")
spark = local_spark(
    cores=1,
    folder=folder / "spark",
    settings={
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": (folder / "events").as_uri(),
        "spark.eventLog.compress": "false",
    },
)
session = sqlext.connect(spark, catalog=folder / "catalog")
#: Options with secrets of all forms, each with its number.
OPTIONS = [option.format(f"{secret}{number:02}") for number, option in enumerate(PLANTED)]


def tried(text: str) -> None:
    """Run a text; what fails is in the log too."""
    try:
        for result in session.run(text):
            print(result.statement, result.rows)
    except SqlExtError as error:
        print(error.render())


FILES = f"'connector' = 'filesystem', 'format' = 'csv', 'path' = '{folder}/in'"
for number, option in enumerate(OPTIONS):
    tried(f"SET {option.replace('properties.', 'my.', 1)};")
    tried(
        f"CREATE TABLE s{number} (k STRING, v INT) WITH ('connector' = 'spark', 'format' = 'csv', "
        f"'path' = '{folder}/in', {option});"
    )
tried(f"CREATE TABLE f (k STRING, v INT) WITH ({FILES});")
tried(f"CREATE TABLE o (k STRING, n BIGINT) WITH ('connector' = 'delta', 'path' = '{folder}/out');")
tried("SET 'pipeline.name' = 'a'; INSERT INTO o SELECT k, COUNT(*) FROM s0 GROUP BY k;")
tried("SET 'execution.runtime-mode' = 'batch';")
for number in range(len(OPTIONS)):
    tried(f"SELECT k, SUM(v) FROM s{number} GROUP BY k;")
tried("SET 'execution.runtime-mode' = 'streaming';")
tried(
    "CREATE TABLE j (k STRING, n BIGINT) WITH ('connector' = 'jdbc', 'table-name' = 't', 'username' = 'me', "
    f"'url' = 'jdbc:sqlite:{folder}/shop.db', 'password' = '{secret}');"
)
tried("SET 'pipeline.name' = 'b'; INSERT INTO j SELECT k, v FROM f;")
tried(f"CREATE TABLE x USING jdbc OPTIONS (url 'jdbc:nosuch://h?password={secret}', dbtable 't', password '{secret}');")
spark.stop()
