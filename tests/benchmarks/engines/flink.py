"""Runs tasks by Flink's SQL, in a Python of its own that has apache-flink (see the Makefile's ``bench``)."""

from __future__ import annotations

import os
import re
import sys
import time

from tests.benchmarks.engines.tasks import Taken, Task, serve
from tests.examples.on_flink import statements

_CORES = 2
_COMMENT = re.compile(r"--[^\n]*")


def by_flink(task: Task) -> Taken:
    """Run a script as it is; SET statements become the table environment's options."""
    from pyflink.datastream import StreamExecutionEnvironment
    from pyflink.table import StreamTableEnvironment

    began, busy = time.perf_counter(), 0.0
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(_CORES)
    tables = StreamTableEnvironment.create(env)
    config = tables.get_config()
    config.set("table.local-time-zone", "UTC")
    config.set("pipeline.object-reuse", "true")
    for statement in statements(task["script"]):
        bare = _COMMENT.sub("", statement).strip()
        setting = re.fullmatch(r"SET\s+'([^']+)'\s*=\s*'([^']*)'", bare, re.IGNORECASE)
        if setting:
            config.set(*setting.groups())
            continue
        result = tables.execute_sql(statement)
        if re.match(r"INSERT\b", bare, re.IGNORECASE):
            job = result.get_job_client()
            busy += job.get_job_execution_result().result().get_net_runtime() / 1000
    return Taken(busy, time.perf_counter() - began)


def _in_short(task: Task) -> Taken:
    """Run a task; of what Java says when it fails, the last cause is the reason."""
    try:
        return by_flink(task)
    except Exception as error:
        causes = [line for line in str(error).splitlines() if line.startswith("Caused by: ")]
        raise RuntimeError(causes[-1] if causes else str(error)) from error


if __name__ == "__main__":
    # Jars for parquet files: PyFlink starts its JVM with this class path.
    if jars := sys.argv[1:]:
        os.environ["HADOOP_CLASSPATH"] = os.pathsep.join(jars)
    serve(_in_short)
