"""Ask the workers of a Spark whether they can run our code."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from sqlext.session.doctor.findings import Finding

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_AREA = "workers"
#: What operators and readers of ours import there, with the package that brings it.
_MODULES = {
    "sqlext": "sqlext-spark",
    "sqlext_udfs": "sqlext-spark",
    "pandas": "pandas",
    "pyarrow": "pyarrow",
    "google.protobuf": "protobuf",
}
#: Enough tasks to reach several executors; each costs a call of Python.
_TASKS = 8


def workers(spark: SparkSession) -> Iterator[Finding]:
    """Yield a line for each host with what its Python lacks; one line for all hosts that lack nothing.

    Hosts without a free core at that moment are not asked.
    """
    try:
        told = sorted({row[0] for row in _asked(spark)})
    except Exception as failed:  # noqa: BLE001 - whatever keeps Python from running there
        first = next(iter(str(failed).strip().splitlines()), type(failed).__name__)
        advice = "the same minor version of Python on the driver and all workers: spark.pyspark.python"
        yield Finding(_AREA, "Python", "refused", f"no Python runs on the workers: {first}", advice, needed=True)
        return
    hosts = [json.loads(text) for text in told]
    good = [host for host in hosts if not host["missing"] and _same(host)]
    if good:
        names = ", ".join(dict.fromkeys(host["host"] for host in good))
        yield Finding(_AREA, "our code", "ok", f"runs on {names}, by Python {good[0]['python']}")
    yield from (_lacking(host) for host in hosts if host not in good)


def _lacking(host: dict[str, Any]) -> Finding:
    if host["missing"]:
        brought = dict.fromkeys(_MODULES[module] for module in host["missing"])
        found = f"Python {host['python']} of {host['host']} does not find {', '.join(host['missing'])}"
        advice = f"pip install {' '.join(brought)} for the Python of the workers"
    else:
        found = f"{host['host']} has Python {host['python']}, and the driver has {platform.python_version()}"
        advice = "the same minor version of Python on the driver and all workers: spark.pyspark.python"
    return Finding(_AREA, "our code", "refused", found, advice)


def _same(host: dict[str, Any]) -> bool:
    return bool(host["python"].split(".")[:2] == platform.python_version().split(".")[:2])


def _asked(spark: SparkSession) -> list[Any]:
    from pyspark.sql.functions import col, udf

    # Not by Arrow, which may be what is missing.
    ask = udf(_question(tuple(_MODULES)), "string", useArrow=False)
    return spark.range(0, _TASKS, 1, _TASKS).select(ask(col("id"))).collect()


def _question(modules: tuple[str, ...]) -> Callable[[int], str]:
    """Return what runs on a worker: a function within a function travels whole, also where sqlext is missing."""

    def answer(_: int) -> str:
        import json
        import platform
        from importlib.util import find_spec

        def lacks(module: str) -> bool:
            try:
                return find_spec(module) is None
            except ImportError:
                return True

        missing = [module for module in modules if lacks(module)]
        return json.dumps({"host": platform.node(), "python": platform.python_version(), "missing": missing})

    return answer
