"""Know PostgreSQL, by psycopg (the extra ``jdbc``)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, unquote

from sqlext.connectors.jdbc.database import Connection, Conversion, Driver, Row, Settings, name_parts, quoted, said
from sqlext.connectors.options import OptionError
from sqlext.errors import did_you_mean
from sqlext.extras import package
from sqlext.types import UNBOUNDED, LogicalType

#: Parameters of Java's driver and the settings of libpq that say the same.
_PARAMETERS: Mapping[str, str] = {
    "user": "user",
    "sslmode": "sslmode",
    "sslrootcert": "sslrootcert",
    "sslcert": "sslcert",
    "sslkey": "sslkey",
    "sslpassword": "sslpassword",
    "channelBinding": "channel_binding",
    "gssEncMode": "gssencmode",
    "connectTimeout": "connect_timeout",
    "ApplicationName": "application_name",
    "options": "options",
}
#: Parameters of Java's driver that say nothing about what is read or written.
_JAVAS_OWN = frozenset(
    "reWriteBatchedInserts prepareThreshold preparedStatementCacheQueries preparedStatementCacheSizeMiB stringtype "
    "defaultRowFetchSize socketTimeout tcpKeepAlive loggerLevel loggerFile loginTimeout binaryTransfer "
    "assumeMinServerVersion autosave".split()
)
_PORT = "5432"
#: Classes of SQLSTATE, and one of a class: data, constraints, the condition of a view, RAISE of a trigger.
_OF_ROWS = ("22", "23", "44", "P0001")
#: Declared type -> the types of columns, by PostgreSQL's own names, whose values it holds.
_FITTING: Mapping[str, tuple[str, ...]] = {
    "BOOLEAN": ("bool",),
    "TINYINT": ("int2",),
    "SMALLINT": ("int2",),
    "INT": ("int4", "int2"),
    "BIGINT": ("int8", "int4", "int2"),
    "FLOAT": ("float4",),
    "DOUBLE": ("float8", "float4"),
    "DECIMAL": ("numeric", "int8", "int4", "int2"),
    "DATE": ("date",),
    "TIME": ("time",),
    "TIMESTAMP": ("timestamp",),
    "TIMESTAMP_LTZ": ("timestamptz",),
    "BINARY": ("bytea",),
    "VARBINARY": ("bytea",),
}


class PostgreSql(Driver):
    """PostgreSQL 9.5 and later: the first with ON CONFLICT."""

    name = "postgresql"
    drivers = ("org.postgresql.Driver",)
    parameter = "%s"
    begin = "BEGIN"
    files = ("sslrootcert", "sslcert", "sslkey")
    # CREATE TABLE IF NOT EXISTS fails where two do it at once. The number is any one that both take.
    define = ("BEGIN", "SELECT pg_advisory_xact_lock(7369874)")

    def settings(self, address: str) -> dict[str, str]:
        """Return libpq's settings; see ``Driver.settings``. ``//host:port,host:port/database?user=u`` or a name."""
        place, _, query = address.partition("?")
        hosts, _, database = place.removeprefix("//").partition("/") if place.startswith("//") else ("", "", place)
        found = {"dbname": unquote(database.strip("/"))}
        if hosts:
            each = [host.rpartition(":") if _has_port(host) else (host, ":", _PORT) for host in hosts.split(",")]
            found["host"] = ",".join(host.strip("[]") for host, _, _ in each)
            found["port"] = ",".join(port for _, _, port in each)
        else:
            found |= {"host": "localhost", "port": _PORT}
        for name, value in parse_qsl(query, keep_blank_values=True):
            found |= _setting(name, value)
        return {name: value for name, value in found.items() if value}

    def connect(self, settings: Settings) -> Connection:
        """Return a connection; see ``Driver.connect``."""
        psycopg = package("psycopg", "jdbc", "connector 'jdbc' at PostgreSQL")
        connection = psycopg.connect(**settings, autocommit=True)
        connection.execute("SET TIME ZONE 'UTC'")
        return connection

    def failures(self) -> tuple[type[Exception], ...]:
        """Return what psycopg raises."""
        return (package("psycopg", "jdbc", "connector 'jdbc' at PostgreSQL").Error,)

    def refusal(self, error: Exception) -> str | None:
        """Return why a row is refused: by its class of SQLSTATE, or by psycopg before it is sent."""
        state = getattr(error, "sqlstate", None)
        if state is not None:
            return said(error) if state.startswith(_OF_ROWS) else None
        psycopg = package("psycopg", "jdbc", "connector 'jdbc' at PostgreSQL")
        return said(error) if isinstance(error, psycopg.DataError) else None

    def place(self, connection: Connection, table: str) -> str | None:
        """Return a table's quoted name; one that is not there as it is written is looked for in lower case."""
        # As PostgreSQL itself reads a name without quotes, which Flink sends.
        for parts in (name_parts(table), name_parts(table.lower())):
            name = ".".join(quoted(part) for part in parts)
            if connection.execute("SELECT to_regclass(%s)", (name,)).fetchone()[0] is not None:
                return name
        return None

    def columns(self, connection: Connection, place: str) -> dict[str, str]:
        """Return the columns of a table; of a domain the type that it is of. A type of arrays begins with ``_``."""
        statement = (
            "SELECT a.attname, COALESCE(b.typname, t.typname) FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid "
            "LEFT JOIN pg_type b ON b.oid = t.typbasetype "
            "WHERE a.attrelid = CAST(%s AS regclass) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum"
        )
        return dict(connection.execute(statement, (place,)).fetchall())

    def column_type(self, declared: LogicalType) -> str | None:
        """Return the type of a new column, by Flink's table of types."""
        if declared.root == "ARRAY":
            element = declared.children[0]
            return None if element.root in ("ARRAY", "TIME") else _array(self.column_type(element))
        if declared.is_text:
            bounded = declared.precision not in (None, UNBOUNDED)
            return f"{declared.root.lower()}({declared.precision})" if bounded else "text"
        if declared.root == "DECIMAL":
            return f"numeric({declared.precision or 10}, {declared.scale or 0})"
        if declared.root in ("TIME", "TIMESTAMP", "TIMESTAMP_LTZ"):
            # PostgreSQL keeps microseconds at most.
            return f"{_FITTING[declared.root][0]}({min(declared.precision or 0, 6)})"
        fitting = _FITTING.get(declared.root)
        return fitting[0] if fitting is not None else None

    def fits(self, declared: LogicalType, found: str) -> bool:
        """Return whether a column can be declared so: any type can be read as text, and written as its text."""
        if declared.root == "ARRAY":
            return found.startswith("_") and self.fits(declared.children[0], found[1:])
        return declared.is_text or found in _FITTING.get(declared.root, ())

    def selected(self, column: str, declared: LogicalType) -> str:
        """Return the expression that reads a column."""
        read = _read_as(declared)
        return column if read is None else f"CAST({column} AS {read})"

    def read(self, declared: LogicalType) -> Conversion | None:
        """Return None: psycopg gives what Arrow takes."""
        return None

    def written(self, declared: LogicalType) -> Conversion | None:
        """Return None: psycopg takes what Arrow gives."""
        return None

    def fetch(self, connection: Connection, statement: str, size: int) -> Iterator[Sequence[Row]]:
        """Yield rows through a cursor of the server's, so that the client never has all of them."""
        connection.execute("BEGIN READ ONLY")
        with connection.cursor(name="sqlext") as cursor:
            cursor.execute(statement)
            while rows := cursor.fetchmany(size):
                yield rows
        connection.execute("COMMIT")


def _setting(name: str, value: str) -> dict[str, str]:
    if name in _PARAMETERS:
        return {_PARAMETERS[name]: value}
    if name == "currentSchema":
        return {"options": f"-c search_path={value}"}
    if name == "ssl":  # Java's driver takes it for the strictest mode
        return {"sslmode": "verify-full"} if value.lower() != "false" else {}
    if name in _JAVAS_OWN:
        return {}
    if name == "password":
        hint = "add 'password' = 'env:NAME'"
        raise OptionError("OPT-005", "a password in the URL would be shown with it", option="url", hint=hint)
    hint = did_you_mean(name, _PARAMETERS) or f"it takes {', '.join(_PARAMETERS)}, currentSchema, ssl"
    raise OptionError("OPT-005", f"the URL has a parameter '{name}' that is not known here", option="url", hint=hint)


def _has_port(host: str) -> bool:
    # [::1]:5432 has one, [::1] has none.
    return ":" in host.rpartition("]")[2]


def _array(element: str | None) -> str | None:
    return f"{element}[]" if element is not None else None


def _read_as(declared: LogicalType) -> Any:
    if declared.root == "ARRAY":
        return _array(_read_as(declared.children[0]))
    if declared.is_text or declared.root == "TIME":
        return "text"
    if declared.root == "DECIMAL":
        return f"numeric({declared.precision or 10}, {declared.scale or 0})"
    return None


POSTGRESQL = PostgreSql()
