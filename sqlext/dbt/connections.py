"""Open dbt-spark's session connection on a Spark with Delta, with a Session for streams beside it.

dbt's own statements go to Spark as they are. Spark does not know stream sources and stream views, so the Session
answers queries of them in batch mode. So ``dbt test`` and ``dbt show`` work on them too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dbt.adapters.contracts.connection import Connection, ConnectionState
from dbt.adapters.spark import session as dbt_session
from dbt.adapters.spark.connections import SparkConnectionManager, SparkConnectionMethod, SparkCredentials
from dbt_common.exceptions import DbtRuntimeError

from sqlext.errors import SqlExtError
from sqlext.locations import catalog_place
from sqlext.session.api import Session
from sqlext.spark.quiet import quiet

_UNKNOWN_TO_SPARK = "TABLE_OR_VIEW_NOT_FOUND"


@dataclass
class SqlextCredentials(SparkCredentials):
    """A profile of ``type: sqlext``; paths are relative to the dbt project.

    Attributes:
        catalog: the folder of sqlext's catalog, which has the queries' checkpoints too; or its URL.
        spark_folder: where a local Spark keeps its warehouse, metastore and log.
        spark_settings: further settings of a local Spark.
        packages: further Maven coordinates for a local Spark, such as its Kafka connector.
    """

    host: str | None = "session"
    method: SparkConnectionMethod = SparkConnectionMethod.SESSION
    catalog: str = ".sqlext"
    spark_folder: str = ".spark"
    spark_settings: dict[str, str] = field(default_factory=dict)
    packages: list[str] = field(default_factory=list)

    @property
    def type(self) -> str:
        """The adapter's name in profiles."""
        return "sqlext"

    def _connection_keys(self) -> tuple[str, ...]:
        return "schema", "catalog", "spark_folder"

    def session(self) -> Session:
        """Return a Session of its own for one script: no setting of a model reaches another one.

        Raises:
            SqlExtError: ENV-... if Spark cannot be started; CAT-038, RUN-014 for folders at URLs; as ``Session``.
        """
        from sqlext.spark.local import persistent_spark

        catalog_place(self.catalog)  # before Spark starts
        spark = persistent_spark(self.spark_folder, packages=self.packages, settings=self.spark_settings)
        return Session(spark, self.catalog)


class StreamCursor(dbt_session.Cursor):
    """dbt-spark's cursor, which asks a Session where Spark does not know a table."""

    def __init__(self, credentials: SqlextCredentials) -> None:
        super().__init__(server_side_parameters=credentials.server_side_parameters)
        self._credentials = credentials

    def execute(self, sql: str, *parameters: Any) -> None:
        """Execute a statement; raises DbtRuntimeError."""
        try:
            with quiet():
                super().execute(sql, *parameters)
        except DbtRuntimeError as error:
            if _UNKNOWN_TO_SPARK not in str(error):
                raise
            self._ask_session(sql % parameters if parameters else sql, error)

    def _ask_session(self, sql: str, unknown: DbtRuntimeError) -> None:
        session = self._credentials.session()
        session.sql("SET 'execution.runtime-mode' = 'batch'")
        try:
            result = session.sql(sql)
        except SqlExtError as error:
            # Neither knows the table: Spark's error is the one that users of dbt expect.
            raise (unknown if error.code == "NAME-002" else DbtRuntimeError(error.render())) from error
        rows: list[Any] = result.rows
        self._df, self._rows = result.df, rows


class StreamHandle(dbt_session.Connection):
    """dbt-spark's connection with such cursors."""

    def __init__(self, credentials: SqlextCredentials) -> None:
        super().__init__(server_side_parameters=credentials.server_side_parameters)
        self.credentials = credentials

    def cursor(self) -> StreamCursor:
        """Return a new cursor."""
        return StreamCursor(self.credentials)


class SqlextConnectionManager(SparkConnectionManager):
    """Opens session connections."""

    TYPE = "sqlext"

    @classmethod
    def open(cls, connection: Connection) -> Connection:
        """Start Spark if none runs in this process, and give the connection a handle."""
        if connection.state == ConnectionState.OPEN:
            return connection
        credentials = connection.credentials
        assert isinstance(credentials, SqlextCredentials)
        try:
            credentials.session()  # only to start Spark: each cursor makes a Session of its own
        except SqlExtError as error:
            raise DbtRuntimeError(error.render()) from error
        connection.handle = dbt_session.SessionConnectionWrapper(StreamHandle(credentials))
        connection.state = ConnectionState.OPEN
        return connection
