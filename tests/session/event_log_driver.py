"""Run jobs with planted secrets in a Spark that writes an event log. Arguments: a folder, the secret."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import sqlext
from sqlext.errors import SqlExtError
from sqlext.spark.local import local_spark

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
KINDS = {
    "password": "{}",
    "sasl.jaas.config": 'LoginModule required username="me" password="{}";',
    "api-key": "{}",
    "service_key": "{}",
    "http.headers": "X-Key: {}",
    "connection-string": "Endpoint=sb://h/;SharedAccessKey={}=",
    "note": "https://h/f.csv?sv=1&sig={}&se=2",
    "remark": "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----",
}
OPTIONS = ", ".join(f"'{name}' = '{text.format(secret)}'" for name, text in KINDS.items())
SETTINGS = "\n".join(f"SET 'my.{name}' = '{text.format(secret)}';" for name, text in KINDS.items())


def tried(text: str) -> None:
    """Run a text; what fails is in the log too."""
    try:
        for result in session.run(text):
            print(result.statement, result.rows)
    except SqlExtError as error:
        print(error.render())


FILES = f"'connector' = 'filesystem', 'format' = 'csv', 'path' = '{folder}/in'"
tried(SETTINGS)
tried(
    f"CREATE TABLE s (k STRING, v INT) WITH ('connector' = 'spark', 'format' = 'csv', 'path' = '{folder}/in', "
    f"{OPTIONS});"
)
tried(f"CREATE TABLE f (k STRING, v INT) WITH ({FILES});")
tried(f"CREATE TABLE o (k STRING, n BIGINT) WITH ('connector' = 'delta', 'path' = '{folder}/out');")
tried("SET 'pipeline.name' = 'a'; INSERT INTO o SELECT k, COUNT(*) FROM s GROUP BY k;")
tried("SET 'execution.runtime-mode' = 'batch'; SELECT k, SUM(v) FROM s GROUP BY k;")
tried("SET 'execution.runtime-mode' = 'streaming';")
tried(
    "CREATE TABLE j (k STRING, n BIGINT) WITH ('connector' = 'jdbc', 'table-name' = 't', 'username' = 'me', "
    f"'url' = 'jdbc:sqlite:{folder}/shop.db', 'password' = '{secret}');"
)
tried("SET 'pipeline.name' = 'b'; INSERT INTO j SELECT k, v FROM f;")
tried(f"CREATE TABLE x USING jdbc OPTIONS (url 'jdbc:nosuch://h?password={secret}', dbtable 't', password '{secret}');")
spark.stop()
