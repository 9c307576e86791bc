"""Ask workers, by a small job, which Python and which packages they have."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: More rows than a cluster has cores, as a rule: each task gets some, and answers once.
_ROWS = 1_000


@dataclass(frozen=True, order=True)
class WorkerReport:
    """What a worker says of itself.

    Attributes:
        host: its name.
        python: the version of its Python; of the driver's minor version, since Spark runs no other.
        packages: the packages that it was asked for and has, with versions; empty for one that does not say.
        sees: whether it sees the file that it was asked for; True if it was asked for none.
    """

    host: str
    python: str
    packages: tuple[tuple[str, str], ...]
    sees: bool

    def version(self, package: str) -> str | None:
        """Return the version of a package, None where there is none."""
        return dict(self.packages).get(package)


def reports(spark: SparkSession, packages: Sequence[tuple[str, str]], file: Path | None = None) -> list[WorkerReport]:
    """Return what workers say, each host once for each answer that it gives.

    A worker that gets no task says nothing: one that comes later, for instance.

    Args:
        packages: of each the name that it is imported by, and the name that it is installed by.
        file: what they are to see.
    """
    from pyspark.sql.functions import udf

    # Rows by pickle: this must also run where Arrow is missing.
    answer = udf(_looker(list(packages), str(file) if file is not None else None), "string", useArrow=False)
    found = {row[0] for row in spark.range(_ROWS).select(answer("id")).collect()} - {None}
    return sorted(_report(json.loads(text)) for text in found)


def hosts(spark: SparkSession) -> list[str]:
    """Return the hosts that run tasks, asked without Python: workers whose Python does not start have names too.

    Raises what Spark raises where it does not let SQL ask Java, as Databricks does on shared compute.
    """
    own = "reflect('java.lang.System', 'getenv', 'SPARK_LOCAL_HOSTNAME')"
    # Java says "name/address".
    known = "substring_index(reflect('java.net.InetAddress', 'getLocalHost'), '/', 1)"
    return sorted(row[0] for row in spark.range(_ROWS).selectExpr(f"coalesce({own}, {known})").distinct().collect())


def _report(said: Any) -> WorkerReport:
    return WorkerReport(said["host"], said["python"], tuple(map(tuple, said["packages"])), said["sees"])


def _looker(packages: list[tuple[str, str]], file: str | None) -> Callable[[int], str | None]:
    """Return the function that runs on workers. Its code travels, since ours may be missing: it imports none of it."""
    asked: list[int] = []

    def look(row: int) -> str | None:
        if asked:  # once for each task
            return None
        asked.append(row)
        import os
        import platform
        import socket
        from importlib.metadata import PackageNotFoundError, version
        from importlib.util import find_spec

        found = []
        for module, package in packages:
            try:
                if find_spec(module) is None:
                    continue
            except ModuleNotFoundError:  # not even what it lies in
                continue
            try:
                found.append((package, version(package)))
            except PackageNotFoundError:  # in an archive, for instance
                found.append((package, ""))
        # What Spark itself calls this host, if it has been told.
        host = os.environ.get("SPARK_LOCAL_HOSTNAME") or socket.gethostname()
        sees = file is None or os.path.exists(file)  # noqa: PTH110
        return json.dumps({"host": host, "python": platform.python_version(), "packages": found, "sees": sees})

    return look
