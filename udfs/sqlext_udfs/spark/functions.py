"""Register the users' Python functions with Spark, under the names that the rewritten text has for them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from sqlext.rewrite.expressions.python_functions import RAISED, VALUE, plain_name, tried_name
from sqlext.user_functions import UserFunctions
from sqlext_udfs.functions import plain, tried
from sqlext_udfs.spark.user_code import send_code_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def register_functions(spark: SparkSession, wanted: Iterable[str], registered: UserFunctions) -> None:
    """Make the Python functions that a query calls known to Spark; a function of the same name is replaced.

    Raises:
        SqlExtError: FUNC-001 for one that is registered no more.
    """
    from pyspark.sql.functions import udf

    for name in wanted:
        found = registered.require("scalar", name, "FUNC-001")
        assert found.returns is not None
        send_code_of([found.cls])
        type_ = found.returns.spark()
        both = f"{VALUE} {type_}, {RAISED} STRING"
        # By Arrow, nested values of Python would need another form.
        spark.udf.register(plain_name(name), udf(plain(found.cls, found.returns), type_, useArrow=False))
        spark.udf.register(tried_name(name), udf(tried(found.cls, found.returns), both, useArrow=False))
