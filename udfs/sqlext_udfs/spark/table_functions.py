"""Register table functions of users with Spark: Python UDTFs, under the names that the rewritten text has for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from sqlext.rewrite.script.model import UserTableFunction
from sqlext.types import quote
from sqlext.user_functions import UserFunctions
from sqlext_udfs.spark.user_code import send_code_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def register_table_functions(
    spark: SparkSession, wanted: Iterable[UserTableFunction], registered: UserFunctions
) -> None:
    """Make the table functions of a query known to Spark; a function of the same name is replaced.

    Raises:
        SqlExtError: FUNC-004 for one that is registered no more.
    """
    from pyspark.sql.functions import udtf

    for function in wanted:
        found = registered.require("table", function.name, "FUNC-004")
        fields = found.returns.fields if found.returns is not None else ()
        send_code_of([found.cls])
        handler = row_or_nulls(found.cls, len(fields)) if function.outer else found.cls
        columns = ", ".join(f"{quote(f.name)} {f.type.spark()}" for f in fields)
        spark.udtf.register(function.view, udtf(handler, returnType=columns))  # type: ignore[arg-type]


def row_or_nulls(cls: Any, width: int) -> type:
    """Return the class for a LEFT JOIN: where the user's class yields no row, it yields one row of ``width`` NULLs."""

    class RowOrNulls:
        def __init__(self) -> None:
            self._made = cls()

        def eval(self, *arguments: Any) -> Iterator[Any]:
            # Spark's LEFT JOIN LATERAL would drop the row, so an empty result is noticed here.
            any_row = False
            for row in self._made.eval(*arguments) or ():
                any_row = True
                yield row
            if not any_row:
                yield (None,) * width

    return RowOrNulls
