"""A client of a Spark Connect server, in a process of its own: does what its input names, each a line of JSON.

    python client.py URL FOLDER SECONDS

A process that has a classic Spark session cannot be a client too, so this cannot be the one that runs the tests.
"""

from __future__ import annotations

import contextlib
import faulthandler
import io
import json
import sys
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path

from pyspark.sql import SparkSession

import sqlext
from sqlext.errors import SqlExtError
from sqlext.testing.runner import ScriptTest, output_of

EXAMPLES = Path(__file__).parents[2] / "sql_examples"
EVENTS = """
CREATE TABLE {name} (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv')
"""
PER_WINDOW = """
SELECT k, SUM(v) AS total FROM TABLE(TUMBLE(TABLE {name}, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY k, window_start, window_end
"""


def main(url: str, folder: Path, patience: int) -> None:
    """Answer until the input ends; a name is that of an example, or of a function here.

    Where all threads are goes to the standard error if an answer takes ``patience`` seconds.
    """
    spark = SparkSession.builder.remote(url).getOrCreate()
    (folder / "in").mkdir(exist_ok=True)
    (folder / "in" / "a.csv").write_text("a,1,2024-01-01 00:00:01\na,2,2024-01-01 00:00:03\nb,4,2024-01-01 00:00:12\n")
    for line in sys.stdin:
        name = line.strip()
        part = PARTS.get(name) or partial(_example, name=name)
        faulthandler.dump_traceback_later(patience)
        _tell(partial(part, spark, folder))
        faulthandler.cancel_dump_traceback_later()
    spark.stop()


def same_script(spark, folder):
    """Run the script that the test has laid out; return how many queries it had."""
    here = folder / "one_script"
    variables = {"IN": str(here / "in"), "OUT": str(here / "panes")}
    results = sqlext.connect(spark, here / "catalog").run(here / "script.sql", variables)
    return sum(result.query is not None for result in results)


def registered(spark, folder):
    """Register DataFrames of the client's own session, streaming and static, and join them."""
    session = sqlext.connect(spark, folder / "registered")
    stream = spark.readStream.schema("k STRING, v INT, ts TIMESTAMP").csv(str(folder / "in"))
    session.register(stream, "events", rowtime="ts", watermark="2 seconds", bounded=True)
    session.register(spark.createDataFrame([("a", "Ada"), ("b", "Bo")], "k STRING, name STRING"), "names")
    joined = session.sql("SELECT name, v FROM events JOIN names ON events.k = names.k")
    windows = session.sql(PER_WINDOW.format(name="events"))
    left = [t.name for t in spark.catalog.listTables("global_temp") if t.namespace == ["global_temp"]]
    return sorted(map(list, joined.rows)), sorted(map(list, windows.rows)), windows.query.progress["rows_out"], left


def handed_on(spark, folder):
    """Hand a result on as a DataFrame of the client's own session, and let Spark write it."""
    session = sqlext.connect(spark, folder / "handed_on", isolated=False)
    session.sql(EVENTS.format(name="events", path=folder / "in"))
    sums = session.query(PER_WINDOW.format(name="events"))
    session.sql("CREATE TEMPORARY VIEW later AS SELECT 1 AS k")  # other views of the same session change nothing
    out = str(folder / "sums")
    writer = sums.writeStream.format("parquet").option("checkpointLocation", f"{out}.checkpoint")
    writer.trigger(availableNow=True).start(out).awaitTermination()
    return sums.sparkSession is spark, sorted(map(list, spark.read.parquet(out).collect()))


def installed(spark, folder):
    """Run our statements by spark.sql."""
    sqlext.install(spark, folder / "installed")
    try:
        spark.sql(EVENTS.format(name="events", path=folder / "in"))
        streaming = spark.sql(PER_WINDOW.format(name="events")).isStreaming
        described = [r[1] for r in spark.sql("DESCRIBE events").collect()]
        plain = spark.sql("SELECT {x} AS x", x=1).collect()[0][0]
    finally:
        sqlext.uninstall(spark)
    return streaming, described, plain, "sql" in vars(spark)


def printed(spark, folder):
    """Print by a query without end; return the lines, which are there when it has worked off what there is."""
    session = sqlext.connect(spark, folder / "printed")
    source = EVENTS.format(name="events", path=folder / "in")
    session.sql(source.replace("'csv'", "'csv', 'source.monitor-interval' = '1 s'"))
    session.sql("CREATE TABLE lines (k STRING) WITH ('connector' = 'print')")
    with contextlib.redirect_stdout(io.StringIO()) as said:
        query = session.sql("INSERT INTO lines SELECT k FROM events").query
        query.process_available()
    query.stop()
    return sorted(said.getvalue().split())


def endless(spark, folder):
    """Begin a query without end, or go on with it; return what its table has when it has worked off what there is."""
    session = sqlext.connect(spark, folder / "endless")
    source = EVENTS.format(name="IF NOT EXISTS events", path=folder / "endless_in")
    sums = "CREATE TABLE IF NOT EXISTS sums (k STRING, total BIGINT) WITH ('connector' = 'delta', 'path' = '{}')"
    session.sql(source.replace("'csv'", "'csv', 'source.monitor-interval' = '1 s'"))
    session.sql(sums.format(folder / "sums_of_endless"))
    session.sql(f"INSERT INTO sums {PER_WINDOW.format(name='events')}").query.process_available()
    session.sql("SET 'execution.runtime-mode' = 'batch'")
    return sorted(map(list, session.sql("SELECT * FROM sums").rows))


def bare(spark, folder):
    """Work with a server whose Python has no sqlext: as one batch, and then as a stream, which it writes itself."""
    session = sqlext.connect(spark, folder / "bare")
    session.sql(EVENTS.format(name="events", path=folder / "in"))
    query = """
        SELECT * FROM events MATCH_RECOGNIZE (
          PARTITION BY k ORDER BY ts MEASURES LAST(x.v) AS v PATTERN (x) DEFINE x AS x.v > 1)
    """
    session.sql("SET 'execution.runtime-mode' = 'batch'")
    at_once = sorted(map(list, session.sql(query).rows))
    session.sql("SET 'execution.runtime-mode' = 'streaming'")
    try:
        session.sql(query).rows  # noqa: B018 - they are awaited
    except SqlExtError as error:
        return at_once, error.code, error.message, error.hint
    return at_once, "no refusal"


def _example(spark, folder, name):
    own = folder / name
    own.mkdir()
    return output_of(ScriptTest(EXAMPLES / f"{name}.sql"), own, {}, {}, spark)


def _tell(part: Callable[[], object]) -> None:
    try:
        found = part()
    except SqlExtError as error:
        print(error.render(), file=sys.stderr)
        found = {"code": error.code, "message": error.message, "hint": error.hint}
    except Exception as error:  # noqa: BLE001 - the test says which part it was
        traceback.print_exc()
        found = f"{type(error).__name__}: {error}"
    print(json.dumps(found), flush=True)


PARTS = {part.__name__: part for part in (same_script, registered, handed_on, installed, printed, endless, bare)}

if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
