"""Write ``sqlext/analysis/functions/spark_names.py`` anew, for another version of Spark.

python tools/list_spark_functions.py > sqlext/analysis/functions/spark_names.py
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: More arguments than a function with an end of them takes.
_MANY = 40
_REFUSED = re.compile(r"requires (.*?) parameters but the actual number")
#: What Spark says of a call before it counts the arguments.
_SAYS_NOTHING = "WINDOW_FUNCTION_WITHOUT_OVER_CLAUSE"


def main() -> None:
    """Print the module."""
    from pyspark import __version__
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    try:
        names = sorted({row[0] for row in spark.sql("SHOW SYSTEM FUNCTIONS").collect() if row[0][0].isalpha()})
        catalyst = spark._jvm.org.apache.spark.sql.catalyst  # type: ignore[union-attr] # noqa: SLF001
        registry = catalyst.analysis.FunctionRegistry.builtin()
        identifier = catalyst.FunctionIdentifier
        groups: dict[str, list[str]] = {"AGGREGATES": [], "OTHERS": []}
        for name in names:
            info = registry.lookupFunction(identifier(name))
            is_aggregate = info.isDefined() and info.get().getGroup() == "agg_funcs"
            groups["AGGREGATES" if is_aggregate else "OTHERS"].append(name)
        print(f'"""List the built-in functions of Spark {__version__}; made by tools/list_spark_functions.py."""\n')
        print("from __future__ import annotations")
        for group, members in groups.items():
            print(f"\n{group} = frozenset(\n    {_text(members)}.split()\n)")
        print_counts({name: [_told(spark, name, n) for n in (0, _MANY)] for name in names})
    finally:
        spark.stop()


def print_counts(told: Mapping[str, Iterable[str]]) -> None:
    """Print how many arguments functions take, by what Spark says of a call without and of one with many."""
    counts: dict[str, list[str]] = {}
    for name, (none, many) in told.items():
        count = _count(none, many)
        # Some messages of Spark name fewer numbers than it takes: PySpark's own function must agree.
        if count and _agrees(name, count):
            counts.setdefault(count, []).append(name)
    print("\n#: Numbers of arguments, the last with + if more are taken -> the functions that take so many.")
    print("COUNTS = {")
    for count, names in sorted(counts.items()):
        print(f'    "{count}": {_text(names)},')
    print("}")


def _count(none: str, many: str) -> str:
    """Return how many arguments a function takes (``1,2``, ``1+``); empty where Spark does not say."""
    if none.startswith("?") and _SAYS_NOTHING not in none:
        return ""
    if many == "ok" or many.startswith("?"):
        least = re.search(r"(>=?)? ?(\d+)$", none)
        return f"{int(least[2]) + (least[1] == '>')}+" if least else ""
    return many.strip("[]").replace(" ", "") if re.fullmatch(r"\d+|\[[\d, ]+\]", many) else ""


def _agrees(name: str, count: str) -> bool:
    """Whether PySpark has a function of a name, and it takes no other number of arguments."""
    from pyspark.sql import functions

    function = getattr(functions, name, None)
    if not inspect.isfunction(function):
        return False
    parameters = inspect.signature(function).parameters.values()
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return count.endswith("+")
    numbers = {int(n) for n in count.rstrip("+").split(",")}
    needed = sum(p.default is p.empty for p in parameters)
    taken = set(range(needed, len(parameters) + 1))
    return taken <= numbers or (count.endswith("+") and min(taken) >= min(numbers))


def _told(spark: SparkSession, name: str, arguments: int) -> str:
    try:
        spark.sql(f"SELECT `{name}`({', '.join(['NULL'] * arguments)})")
    except Exception as error:  # noqa: BLE001
        found = _REFUSED.search(str(error))
        return found[1].strip() if found else f"?{error}"
    return "ok"


def _text(names: Iterable[str]) -> str:
    return '"""\n    ' + "\n    ".join(textwrap.wrap(" ".join(names), 110)) + '\n    """'


if __name__ == "__main__":
    main()
