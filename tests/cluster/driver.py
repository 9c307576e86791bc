"""A driver on a cluster, in a process of its own: does what its input names, each a line of JSON.

    python driver.py MASTER FOLDER

A process that has a local Spark cannot have another one, so this cannot be the one that runs the tests. Its Spark's
Python is that of the cluster.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path

# The JVM and what it starts must not see the tests' own path.
os.environ.pop("PYTHONPATH", None)

from pyspark.sql import SparkSession

import sqlext
from sqlext.errors import SqlExtError
from sqlext.spark.local import configuration
from sqlext.spark.worker_processes import spark_home

ROWS = "a,1,2024-01-01 00:00:01\na,2,2024-01-01 00:00:03\nb,4,2024-01-01 00:00:12\n"
EVENTS = """
CREATE TABLE IF NOT EXISTS {name} (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv', 'sqlext.source' = '{reader}')
"""
WINDOWS = "TABLE(TUMBLE(TABLE {name}, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end"
EARLY = f"SELECT k, COUNT(*) AS n FROM {WINDOWS} EMIT AFTER WATERMARK EARLY EVERY 2 ROWS"
PER_WINDOW = f"SELECT k, COUNT(*) AS n FROM {WINDOWS}"


class Twice:
    """A table function."""

    returns = "word STRING"

    def eval(self, k):
        yield (k,)
        yield (k + k,)


def main(master: str, folder: Path) -> None:
    """Answer until the input ends; a name is that of a function here."""
    os.environ |= {"SPARK_HOME": str(spark_home()), "SPARK_LOCAL_IP": "127.0.0.1"}
    conf = configuration(2, folder / "spark", ()).setMaster(master).set("spark.executor.memory", "512m")
    spark = SparkSession.builder.config(conf=conf).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    (folder / "in").mkdir()
    (folder / "in" / "a.csv").write_text(ROWS)
    for line in sys.stdin:
        _tell(partial(PARTS[line.strip()], spark, folder))
    spark.stop()


def executors(spark, folder):
    """Wait for both executors; return how many there are."""
    for _ in range(1_000):
        if spark.sparkContext.defaultParallelism > 1:
            break
        spark.range(1).collect()
    return spark.sparkContext.defaultParallelism


def early(spark, folder):
    """Run an operator of ours with state."""
    return _rows(_session(spark, folder).sql(EARLY.format(name="events")))


def arrow(spark, folder):
    """Read files by our reader."""
    return _rows(_session(spark, folder).sql(PER_WINDOW.format(name="fast")))


def table_function(spark, folder):
    """Call a table function of Python's."""
    session = _session(spark, folder)
    session.register_table_function("twice", Twice)
    return _rows(session.sql("SELECT k, word FROM events, LATERAL TABLE(twice(k)) AS t (word)"))


def native(spark, folder):
    """Run a window of Spark's own."""
    return _rows(_session(spark, folder).sql(PER_WINDOW.format(name="events")))


def batch(spark, folder):
    """Run a query without a place, and without Python."""
    session = _session(spark, folder)
    session.sql("SET 'execution.runtime-mode' = 'batch'")
    return _rows(session.sql("SELECT k, SUM(v) AS total FROM events GROUP BY k"))


def hidden(spark, folder):
    """Write where workers see another folder; return the refusal, or what has come out."""
    session = _session(spark, folder)
    sink = f"'connector' = 'delta', 'path' = '{folder}/hidden/out'"
    session.sql(f"CREATE TABLE hidden_out (k STRING, n BIGINT) WITH ({sink})")
    session.sql(f"INSERT INTO hidden_out {PER_WINDOW.format(name='events')}").query.await_termination()
    session.sql("SET 'execution.runtime-mode' = 'batch'")
    return _rows(session.sql("SELECT k, n FROM hidden_out"))


def killed(spark, folder):
    """Kill an executor in the middle of an endless query; return what has come out, with files before and behind."""
    rows = folder / "killed_in"
    rows.mkdir()
    (rows / "1.csv").write_text(ROWS)
    session = _session(spark, folder)
    source = EVENTS.format(name="killed", path=rows, reader="spark")
    session.sql(source.replace("'csv'", "'csv', 'source.monitor-interval' = '1 s'"))
    sink = f"'connector' = 'delta', 'path' = '{folder}/killed_out'"
    columns = "k STRING, w TIMESTAMP(3), n BIGINT, PRIMARY KEY (k, w) NOT ENFORCED"
    session.sql(f"CREATE TABLE killed_out ({columns}) WITH ({sink})")
    insert = EARLY.format(name="killed").replace("SELECT k,", "INSERT INTO killed_out SELECT k, window_start,")
    query = session.sql(insert).query
    query.process_available()
    os.kill(_an_executor(), signal.SIGKILL)
    (rows / "2.csv").write_text("b,5,2024-01-01 00:00:13\na,7,2024-01-01 00:00:33\n")
    query.process_available()
    query.stop()
    session.sql("SET 'execution.runtime-mode' = 'batch'")
    return _rows(session.sql("SELECT k, n FROM killed_out"))


def _an_executor() -> int:
    """Return the process of an executor of this driver, by the address at which it reports."""
    port = SparkSession.active().sparkContext.getConf().get("spark.driver.port")
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                command = (process / "cmdline").read_bytes()
            except OSError:  # it has ended
                continue
            if b"CoarseGrainedExecutorBackend" in command and f"@127.0.0.1:{port}".encode() in command:
                return int(process.name)
    raise AssertionError("there is no executor")


def _session(spark, folder):
    session = sqlext.connect(spark, catalog=folder / "catalog")
    for name, reader in (("events", "spark"), ("fast", "arrow")):
        session.sql(EVENTS.format(name=name, path=folder / "in", reader=reader))
    return session


def _rows(result):
    return sorted(map(list, result.rows))


def _tell(part: Callable[[], object]) -> None:
    try:
        found = part()
    except SqlExtError as error:
        print(error.render(), file=sys.stderr)
        found = {"code": error.code, "message": error.message, "hint": error.hint}
    except Exception as error:  # noqa: BLE001 - the test says which part it was
        traceback.print_exc()
        found = f"{type(error).__name__}: {error}"
    print(f"answer {json.dumps(found)}", flush=True)


PARTS = {p.__name__: p for p in (executors, early, arrow, table_function, native, batch, hidden, killed)}

if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
