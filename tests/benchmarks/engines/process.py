"""The processes of engines."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from sqlext.local.vector_units import vector_environment
from tests import kafka_broker
from tests.benchmarks.engines.spark import BY_HAND
from tests.benchmarks.engines.tasks import Taken, Task

_ROOT = Path(__file__).parents[3]
_FLINK_PARQUET = ("org.apache.flink", "flink-sql-parquet", "2.3.0")
_FLINK_KAFKA = ("org.apache.flink", "flink-sql-connector-kafka", "5.0.0-2.2")


class Engine:
    """A running process, and the sides that it answers for.

    Attributes:
        side: the name under which it is asked.
    """

    def __init__(self, side: str, command: Sequence[str], log: IO[str], shared: Engine | None = None) -> None:
        """Keep what is to be started; ``shared`` is one whose process this one uses."""
        self.side, self._command, self._log, self._shared = side, command, log, shared
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Engine:
        """Start the process."""
        if self._shared is None:
            pipe: Any = subprocess.PIPE
            # As the command `sqlext` does for itself.
            env = {**vector_environment(), **os.environ}
            self._process = subprocess.Popen(
                self._command, stdin=pipe, stdout=pipe, stderr=self._log, text=True, cwd=_ROOT, env=env
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it."""
        if self._process is not None:
            self._process.communicate()

    def knows(self, question: str) -> bool:
        """Return whether it can be asked that."""
        return self.side != "spark" or question in BY_HAND

    def ask(self, task: Task) -> Taken | str:
        """Return what a task took, or why it was not run."""
        process = (self._shared or self)._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(task) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        if not line:
            raise RuntimeError(f"the process of {self.side} has died at {task['name']}; --log keeps what it said")
        answer = json.loads(line)
        return str(answer["error"]) if "error" in answer else Taken(**answer)


def engines(flink: Path | None, log: IO[str], *, kafka: bool) -> Iterator[Engine]:
    """Yield the engines: sqlext, Structured Streaming in the same process, and Flink if its Python is given.

    Args:
        flink: a Python with apache-flink.
        log: where they write what they have to say.
        kafka: whether they are to read topics.
    """
    connector = [str(jar) for jar in kafka_broker.fetch_spark_connector()] if kafka else []
    ours = Engine("sqlext", [sys.executable, "-m", "tests.benchmarks.engines.spark", *connector], log)
    yield ours
    yield Engine("spark", [], log, ours)
    if flink is not None:
        formats = (_FLINK_PARQUET, _FLINK_KAFKA) if kafka else (_FLINK_PARQUET,)
        folders = (kafka_broker.fetched("-".join(jar[1:]), (jar,), transitive=False) for jar in formats)
        jars = [str(jar) for jar in (*(jar for f in folders for jar in f.glob("*.jar")), *_hadoop())]
        yield Engine("flink", [str(flink), "-m", "tests.benchmarks.engines.flink", *jars], log)


def _hadoop() -> Iterator[Path]:
    """Return the jars of Hadoop that pyspark brings along: Flink's parquet format needs its classes."""
    import pyspark

    return (Path(pyspark.__file__).parent / "jars").glob("hadoop-client-*.jar")
