"""Write ``sqlext/analysis/functions/spark_names.py`` anew, for another version of Spark.

python tools/list_spark_functions.py > sqlext/analysis/functions/spark_names.py
"""

from __future__ import annotations

import textwrap


def main() -> None:
    """Print the module."""
    from pyspark import __version__
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    try:
        names = sorted({row[0] for row in spark.sql("SHOW SYSTEM FUNCTIONS").collect()})
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
            lines = textwrap.wrap(" ".join(n for n in members if n[0].isalpha()), 110)
            print(f'\n{group} = frozenset(\n    """\n    ' + "\n    ".join(lines) + '\n    """.split()\n)')
    finally:
        spark.stop()


if __name__ == "__main__":
    main()
