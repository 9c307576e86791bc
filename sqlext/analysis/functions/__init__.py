"""Look up functions: every one of Flink 2.3, and the names of Spark's.

One file per family; an entry says what a function takes, gives, and how Spark says it (see ``model.Function``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from sqlext.analysis.functions import spark_names
from sqlext.analysis.functions.aggregates import AGGREGATES
from sqlext.analysis.functions.arithmetic import MATH
from sqlext.analysis.functions.conditional import CONDITIONAL
from sqlext.analysis.functions.containers import COLLECTIONS
from sqlext.analysis.functions.documents import JSON
from sqlext.analysis.functions.hashing import HASHING
from sqlext.analysis.functions.markers import AUXILIARY as AUXILIARY
from sqlext.analysis.functions.markers import GROUP_WINDOWS as GROUP_WINDOWS
from sqlext.analysis.functions.markers import MARKERS
from sqlext.analysis.functions.model import Function, SparkCount
from sqlext.analysis.functions.panes import PANES
from sqlext.analysis.functions.patterns import PATTERNS
from sqlext.analysis.functions.strings import STRINGS
from sqlext.analysis.functions.temporal import TEMPORAL
from sqlext.dialect.ast.expressions import Call

_FAMILIES = (STRINGS, PATTERNS, MATH, TEMPORAL, CONDITIONAL, COLLECTIONS, JSON, HASHING, AGGREGATES, MARKERS, PANES)


def _table() -> dict[str, Function]:
    table: dict[str, Function] = {}
    for family in _FAMILIES:
        for function in family:
            for name in (function.name, *function.aliases):
                if name in table:
                    raise ValueError(f"function {name} is listed twice")
                table[name] = function
    return table


_TABLE = _table()


def find(name: str) -> Function | None:
    """Return the entry of a function by its upper-case name, or None."""
    return _TABLE.get(name)


def is_spark_function(name: str) -> bool:
    """Whether Spark has a built-in function of this name."""
    folded = name.lower()
    return folded in spark_names.OTHERS or folded in spark_names.AGGREGATES


def is_built_in(name: str) -> bool:
    """Whether Flink or Spark has a function of this name."""
    return find(name.upper()) is not None or is_spark_function(name)


def is_spark_aggregate(name: str) -> bool:
    """Whether Spark has a built-in aggregate of this name."""
    return name.lower() in spark_names.AGGREGATES


def is_spark_call(function: Function, call: Call) -> bool:
    """Whether Spark can take a call as it is written."""
    if not is_known_to_spark(call.name):
        return False
    return function.extends is None or not function.extends(call)


@cache
def _spark_counts() -> Mapping[str, str]:
    return {name: count for count, names in spark_names.COUNTS.items() for name in names.split()}


def spark_count(name: str) -> SparkCount | None:
    """Return how many arguments Spark's function of a name takes; None where that is not known."""
    count = _spark_counts().get(name.lower())
    return None if count is None else SparkCount.of(count)


#: Spark's functions that give several rows or columns for one row.
_GENERATORS = frozenset(
    "explode explode_outer inline inline_outer json_tuple posexplode posexplode_outer stack variant_explode "
    "variant_explode_outer".split()
)


def gives_rows(name: str) -> bool:
    """Whether a function gives rows, and no value: Flink's that stand in FROM, Spark's generators."""
    found = find(name.upper())
    return found.kind == "table" if found is not None else name.lower() in _GENERATORS


#: Functions of Spark's grammar that it does not list.
_SPARK_WORDS = frozenset({"TIMESTAMPADD", "TIMESTAMPDIFF"})


def is_known_to_spark(name: str) -> bool:
    """Whether Spark can call a function of this name: a built-in one, or one of its grammar."""
    return is_spark_function(name) or name.upper() in _SPARK_WORDS


@cache
def all_names() -> Sequence[str]:
    """Return every function name, for suggestions."""
    return sorted({*_TABLE, *(n.upper() for n in spark_names.OTHERS | spark_names.AGGREGATES)})


def entries() -> Mapping[str, Function]:
    """Return the whole table, by name."""
    return _TABLE
