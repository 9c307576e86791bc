"""Run our statements in ``spark.sql`` too.

A query gives a DataFrame that nothing has run yet; of a stream, a streaming one. SHOW and EXPLAIN give their rows, a
definition an empty DataFrame. An INSERT runs as the session runs it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlext.dialect.statements.choice import is_sparks_alone
from sqlext.dialect.tokens import tokenize
from sqlext.errors import SqlExtError
from sqlext.quoting import identifier
from sqlext.session.api import Session
from sqlext.source import SourceText

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from sqlext.jobs.result import Result


class InstalledSql:
    """Stands in a Spark session in place of its method ``sql``.

    Attributes:
        session: runs what is ours.
    """

    def __init__(self, spark: SparkSession, session: Session) -> None:
        self.session = session
        self._spark = spark
        self._plain: Callable[..., DataFrame] = spark.sql
        # For each thread: that one is inside of the session does not concern the others.
        self._thread = threading.local()

    def __call__(self, sqlQuery: str, args: Any = None, **kwargs: Any) -> DataFrame:  # noqa: N803 - Spark's name
        """Run a statement: the session's if it is ours, else Spark's with all that came with it.

        Raises:
            SqlExtError: what is wrong with a statement of ours; PARSE-022 for parameters in one.
        """
        if getattr(self._thread, "inside", False):  # the session's own calls of Spark
            return self._plain(sqlQuery, args, **kwargs)
        self._thread.inside = True
        try:
            unread = self._unread(sqlQuery)
        finally:
            self._thread.inside = False
        if unread is None:
            return self._ours(sqlQuery, parameters=bool(args) or bool(kwargs))
        try:
            return self._plain(sqlQuery, args, **kwargs)
        except Exception as error:
            # Neither can read it. Ours is the error to show: the text may be one of our statements with a mistake.
            if isinstance(unread, SqlExtError) and type(error).__name__ == "ParseException":
                raise unread from error
            raise

    def _unread(self, text: str) -> SqlExtError | bool | None:
        """Return None for a statement of ours; for any other why it cannot be read here, or False."""
        try:
            return None if self.session.owns(text) else False
        except SqlExtError as error:
            # A statement that is Spark's alone gets Spark's own error.
            return False if error.code == "PARSE-002" and _is_sparks_alone(text) else error

    def _ours(self, text: str, *, parameters: bool) -> DataFrame:
        if parameters:
            message = "a statement of sqlext takes no parameters of spark.sql"
            raise SqlExtError("PARSE-022", message, hint="put the values into its text")
        self._thread.inside = True
        try:
            if self.session.is_query(text):
                return self.session.query(text)
            return _frame(self._spark, self.session.sql(text))
        finally:
            self._thread.inside = False


def install(
    spark: SparkSession,
    catalog: str | os.PathLike[str] | None = None,
    *,
    allow_python_functions: bool = False,
) -> Session:
    """Put an ``InstalledSql`` into a Spark session; see ``sqlext.install``."""
    found = installed(spark)
    if found is not None:
        return found
    # Not isolated: what runs in ``spark.sql`` must see the user's own views and settings.
    session = Session(spark, catalog, allow_python_functions=allow_python_functions, isolated=False)
    vars(spark)["sql"] = InstalledSql(spark, session)  # of this object alone: other Spark sessions keep their method
    return session


def uninstall(spark: SparkSession) -> None:
    """Take it away; do nothing where there is none."""
    if installed(spark) is not None:
        del vars(spark)["sql"]


def installed(spark: object) -> Session | None:
    """Return the session that runs our statements in ``spark.sql``, None if nothing is installed there."""
    found = vars(spark).get("sql")
    return found.session if isinstance(found, InstalledSql) else None


def _is_sparks_alone(text: str) -> bool:
    return is_sparks_alone(tokenize(SourceText.of(text))[0])


def _frame(spark: SparkSession, result: Result) -> DataFrame:
    if result.df is not None:
        return result.df
    schema = ", ".join(f"{identifier(name)} {_type(result, i)}" for i, name in enumerate(result.columns))
    # Without columns, as Spark's own commands give; ``createDataFrame`` itself wants one.
    return spark.createDataFrame(result.rows, schema) if schema else spark.createDataFrame([], "result STRING").select()


def _type(result: Result, index: int) -> str:
    """Return the Spark type of a column of SHOW and its like: texts, counts, flags and wall clocks."""
    values = [row[index] for row in result.rows if row[index] is not None]
    if values and all(isinstance(v, bool) for v in values):
        return "BOOLEAN"
    if values and all(isinstance(v, datetime) for v in values):
        return "TIMESTAMP_NTZ"
    return "BIGINT" if values and all(isinstance(v, int) for v in values) else "STRING"
