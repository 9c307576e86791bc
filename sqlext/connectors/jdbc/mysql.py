"""Know MySQL and MariaDB, by PyMySQL (the extra ``jdbc``)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any
from urllib.parse import parse_qsl, unquote

from sqlext.connectors.jdbc.database import Connection, Conversion, Driver, Row, Settings, quoted, said
from sqlext.connectors.options import OptionError
from sqlext.errors import did_you_mean
from sqlext.extras import package
from sqlext.types import UNBOUNDED, LogicalType

_PORT = "3306"
#: CHECK of MySQL and of MariaDB, no default, no partition, a condition of a view, SIGNAL of a trigger, ranges, JSON.
_OF_ROWS = tuple((number,) for number in (3819, 4025, 1364, 1526, 1369, 1644, 1690, 3140))
#: Parameters of Java's drivers that say nothing about what is read or written: texts are UTF-8, the session is in UTC.
_JAVAS_OWN = frozenset(
    "useUnicode characterEncoding characterSetResults connectionCollation autoReconnect failOverReadOnly maxReconnects "
    "rewriteBatchedStatements useServerPrepStmts cachePrepStmts prepStmtCacheSize prepStmtCacheSqlLimit useCursorFetch "
    "defaultFetchSize allowPublicKeyRetrieval serverTimezone connectionTimeZone useLegacyDatetimeCode useTimezone "
    "useJDBCCompliantTimezoneShift forceConnectionTimeZoneToSession preserveInstants tinyInt1isBit socketTimeout "
    "tcpKeepAlive nullCatalogMeansCurrent nullNamePatternMatchesAll allowMultiQueries noAccessToProcedureBodies "
    "useInformationSchema cacheServerConfiguration useLocalSessionState elideSetAutoCommits maintainTimeStats "
    "useOldAliasMetadataBehavior zeroDateTimeBehavior autoReconnectForPools useCompression charset "
    "noDatetimeStringSync useAffectedRows databaseTerm holdResultsOpenOverStatementClose dontTrackOpenResources "
    "enableQueryTimeouts tcpNoDelay tcpRcvBuf tcpSndBuf usePipelineAuth useBatchMultiSend permitMysqlScheme "
    "useReadAheadInput".split()
)
#: Option 'sslMode' -> what PyMySQL is told; the server's certificate is checked in the last two alone.
_SSL: Mapping[str, Mapping[str, str]] = {
    "DISABLED": {},
    "DISABLE": {},
    "PREFERRED": {},
    "REQUIRED": {"tls": "any"},
    "TRUST": {"tls": "any"},
    "VERIFY_CA": {"tls": "verify"},
    "VERIFY-CA": {"tls": "verify"},
    "VERIFY_IDENTITY": {"tls": "identity"},
    "VERIFY-FULL": {"tls": "identity"},
}
#: What PyMySQL is told of TLS, the strictest last.
_STRICTNESS = ("", "any", "verify", "identity")
#: Older parameters of Java's drivers that ask for TLS when they are 'true'.
_ASKS_FOR_TLS = {"useSSL": "any", "useSsl": "any", "requireSSL": "any", "verifyServerCertificate": "verify"}
_TAKEN = ("user", "connectTimeout", "sslMode", "serverSslCert")
_BYTES = ("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob")
#: Declared type -> the types of columns whose values it holds.
_FITTING: Mapping[str, tuple[str, ...]] = {
    "BOOLEAN": ("tinyint(1)", "bit(1)", "tinyint"),
    "TINYINT": ("tinyint", "tinyint(1)"),
    "SMALLINT": ("smallint", "tinyint", "tinyint(1)", "tinyint unsigned", "year"),
    "FLOAT": ("float",),
    "DOUBLE": ("double", "float"),
    "DATE": ("date",),
    "TIME": ("time",),
    "TIMESTAMP": ("datetime",),
    "TIMESTAMP_LTZ": ("timestamp",),
    "BINARY": _BYTES,
    "VARBINARY": _BYTES,
}
_INTS = (*_FITTING["SMALLINT"], "int", "mediumint", "smallint unsigned", "mediumint unsigned")
_BIGINTS = (*_INTS, "bigint", "int unsigned")
_WHOLE: Mapping[str, tuple[str, ...]] = {
    "INT": _INTS,
    "BIGINT": _BIGINTS,
    "DECIMAL": (*_BIGINTS, "decimal", "decimal unsigned", "bigint unsigned"),
}
#: Texts of lower and upper case are not the same key, as they are not in a query.
_TEXT = "CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
#: The longest text of a column that is no LOB, and of one that an index takes.
_LONGEST, _LONGEST_KEY = 16_383, 255
_SESSION = (
    "SET time_zone = '+00:00', sql_mode = CONCAT_WS(',', NULLIF(@@sql_mode, ''), 'ANSI_QUOTES', 'STRICT_ALL_TABLES')"
)


class MySql(Driver):
    """MySQL 5.7 and later, MariaDB 10.3 and later; tables of InnoDB, whose transactions are whole."""

    parameter = "%s"
    begin = "START TRANSACTION"
    files = ("ca",)
    # Its DDL commits by itself, and waits for that of others.
    define = ("START TRANSACTION",)
    short_text = f"varchar(200) {_TEXT}"

    def __init__(self, name: str) -> None:
        self.name = name
        self.drivers = ("com.mysql.cj.jdbc.Driver", "com.mysql.jdbc.Driver", "org.mariadb.jdbc.Driver")

    def settings(self, address: str) -> dict[str, str]:
        """Return PyMySQL's arguments; see ``Driver.settings``. ``//host:port/database?user=u``."""
        place, _, query = address.partition("?")
        host, _, database = place.removeprefix("//").partition("/")
        if not place.startswith("//") or not host or "," in host:
            hint = f"jdbc:{self.name}://host:{_PORT}/database"
            raise OptionError("OPT-005", f"`{place}` does not name one host", option="url", hint=hint)
        name, _, port = host.rpartition(":") if _has_port(host) else (host, ":", _PORT)
        found = {"host": name.strip("[]"), "port": port, "database": unquote(database.strip("/"))}
        for key, value in parse_qsl(query, keep_blank_values=True):
            one = _setting(key, value)
            # Of several parameters that ask for TLS the strictest counts, wherever it stands.
            tls = max(found.get("tls", ""), one.get("tls", ""), key=_STRICTNESS.index)
            found |= {**one, "tls": tls}
        return {key: value for key, value in found.items() if value}

    def connect(self, settings: Settings) -> Connection:
        """Return a connection; see ``Driver.connect``."""
        pymysql = self._package()
        tls = settings.get("tls")
        more: dict[str, Any] = {}
        if tls is not None:
            more["ssl"] = {"check_hostname": tls == "identity", "verify_mode": "none" if tls == "any" else "required"}
            more["ssl"] |= {"ca": settings["ca"]} if "ca" in settings else {}
        known = {key: settings[key] for key in ("host", "user", "password", "database") if key in settings}
        timeout = int(settings.get("connect_timeout", "60"))
        connection = pymysql.connect(
            **known,
            **more,
            port=int(settings["port"]),
            connect_timeout=timeout,
            charset="utf8mb4",
            autocommit=True,
            init_command=_SESSION,
        )
        return _Connection(connection, pymysql.cursors.SSCursor)

    def failures(self) -> tuple[type[Exception], ...]:
        """Return what PyMySQL raises."""
        return (self._package().MySQLError,)

    def refusal(self, error: Exception) -> str | None:
        """Return why a row is refused; PyMySQL has no class of its own for some of these errors."""
        pymysql = self._package()
        of_row = isinstance(error, (pymysql.err.IntegrityError, pymysql.err.DataError))
        return said(error) if of_row or error.args[:1] in _OF_ROWS else None

    def place(self, connection: Connection, table: str) -> str | None:
        """Return a table's quoted name."""
        schema, name = _parts(table)
        there = "SELECT 1 FROM information_schema.tables WHERE table_schema = COALESCE(%s, DATABASE()) "
        found = connection.execute(f"{there} AND table_name = %s", (schema, name)).fetchone()
        return ".".join(quoted(part) for part in (schema, name) if part is not None) if found is not None else None

    def columns(self, connection: Connection, place: str) -> dict[str, str]:
        """Return the columns of a table; numbers without their width, but for ``tinyint(1)`` and ``bit(1)``."""
        statement = (
            "SELECT column_name, column_type FROM information_schema.columns "
            "WHERE table_schema = COALESCE(%s, DATABASE()) AND table_name = %s ORDER BY ordinal_position"
        )
        return {name: _kind(kind) for name, kind in connection.execute(statement, _parts(place)).fetchall()}

    def column_type(self, declared: LogicalType) -> str | None:
        """Return the type of a new column."""
        length = declared.precision
        if declared.is_text:
            bounded = length is not None and length <= _LONGEST
            return f"{f'varchar({length})' if bounded else 'longtext'} {_TEXT}"
        if declared.root in ("BINARY", "VARBINARY"):
            return f"varbinary({length})" if length is not None and length <= _LONGEST else "longblob"
        if declared.root == "DECIMAL":
            return f"decimal({length or 10}, {declared.scale or 0})"
        if declared.root in ("TIME", "TIMESTAMP", "TIMESTAMP_LTZ"):
            # MySQL keeps microseconds at most. Without NULL the first TIMESTAMP would get a default of its own.
            null = " NULL" if declared.root == "TIMESTAMP_LTZ" and declared.nullable else ""
            return f"{_FITTING[declared.root][0]}({min(length or 0, 6)}){null}"
        if declared.root in ("INT", "BIGINT"):
            return declared.root.lower()
        fitting = _FITTING.get(declared.root)
        return fitting[0] if fitting is not None else None

    def key_type(self, declared: LogicalType) -> str | None:
        """Return the type of a new column of a key: an index takes no text without an end."""
        unbounded = declared.precision in (None, UNBOUNDED)
        if declared.is_text and unbounded:
            return f"varchar({_LONGEST_KEY}) {_TEXT}"
        return "varbinary(255)" if declared.root == "VARBINARY" and unbounded else self.column_type(declared)

    def fits(self, declared: LogicalType, found: str) -> bool:
        """Return whether a column can be declared so: any type can be read as text, and written as its text."""
        return declared.is_text or found in (_WHOLE.get(declared.root) or _FITTING.get(declared.root, ()))

    def selected(self, column: str, declared: LogicalType) -> str:
        """Return the expression that reads a column."""
        if declared.is_text or declared.root == "TIME":
            return f"CAST({column} AS CHAR)"
        if declared.root in ("FLOAT", "DOUBLE"):
            return f"({column} + 0e0)"  # a FLOAT alone comes with six digits
        if declared.root == "DECIMAL":
            return f"CAST({column} AS DECIMAL({declared.precision or 10}, {declared.scale or 0}))"
        return column

    def read(self, declared: LogicalType) -> Conversion | None:
        """Return what makes a value for Arrow: truth values are numbers there, and instants have no zone."""
        if declared.root == "BOOLEAN":
            return lambda value: value not in (0, b"\x00")
        return _with_zone if declared.root == "TIMESTAMP_LTZ" else None

    def written(self, declared: LogicalType) -> Conversion | None:
        """Return what makes a parameter: an instant as the wall clock of the session, which is in UTC."""
        return _without_zone if declared.root == "TIMESTAMP_LTZ" else None

    def on_conflict(self, keys: Sequence[str], rest: Sequence[str]) -> str:
        """Return the end of an INSERT that replaces the row of its key."""
        return f"ON DUPLICATE KEY UPDATE {', '.join(f'{c} = VALUES({c})' for c in rest or keys)}"

    def on_later(self, table: str, key: str, column: str) -> str:
        """Return the end of an INSERT that counts rows where the column grows: one that stays is not counted."""
        return f"ON DUPLICATE KEY UPDATE {column} = GREATEST({column}, VALUES({column}))"

    def why_no_key(
        self, connection: Connection, place: str, keys: Sequence[str], insert: str, width: int
    ) -> str | None:
        """Return whether no unique index has the columns of the key: the statement itself works without one."""
        statement = (
            "SELECT index_name, column_name FROM information_schema.statistics WHERE non_unique = 0 "
            "AND table_schema = COALESCE(%s, DATABASE()) AND table_name = %s"
        )
        indexes: dict[str, set[str]] = {}
        for index, column in connection.execute(statement, _parts(place)).fetchall():
            indexes.setdefault(index, set()).add(quoted(column))
        return None if set(keys) in indexes.values() else f"there is no unique index of {', '.join(keys)}"

    def fetch(self, connection: Connection, statement: str, size: int) -> Iterator[Sequence[Row]]:
        """Yield rows as they come, so that the client never has all of them."""
        with connection.streamed() as cursor:
            cursor.execute(statement)
            while rows := cursor.fetchmany(size):
                yield rows

    def _package(self) -> Any:
        return package("pymysql", "jdbc", "connector 'jdbc' at MySQL and MariaDB")


class _Connection:
    """A connection of PyMySQL, as the other drivers have it."""

    def __init__(self, connection: Any, streaming: type[Any]) -> None:
        self._connection, self._streaming = connection, streaming

    def execute(self, statement: str, parameters: Sequence[Any] | None = None) -> Any:
        """Run a statement, and return its cursor."""
        cursor = self._connection.cursor()
        cursor.execute(statement, parameters)
        return cursor

    def cursor(self) -> Any:
        """Return a cursor."""
        return self._connection.cursor()

    def streamed(self) -> Any:
        """Return a cursor that holds no rows."""
        return self._connection.cursor(self._streaming)

    def close(self) -> None:
        """Close it."""
        self._connection.close()


def _parts(table: str) -> tuple[str | None, str]:
    """Return the database, perhaps, and the name of a table; each may stand in quotes."""
    *schema, name = (part.strip().strip('`"') for part in table.split("."))
    return (schema[-1] if schema else None), name


def _kind(found: str | bytes) -> str:
    """Return a column's type as ``_FITTING`` has it: ``int(11) unsigned zerofill`` is ``int unsigned``."""
    text = found.decode() if isinstance(found, bytes) else found
    kind = text.lower().removesuffix(" zerofill")
    return kind if kind in ("tinyint(1)", "bit(1)") else re.sub(r"\(.*\)", "", kind)


def _setting(name: str, value: str) -> Mapping[str, str]:
    if name == "user":
        return {"user": value}
    if name == "connectTimeout":  # in milliseconds; 0 is none
        return {"connect_timeout": str(max(int(value) // 1000, 1))} if value.isdigit() and int(value) else {}
    if name == "sslMode" and value.upper() in _SSL:
        return _SSL[value.upper()]
    if name == "serverSslCert":
        return {"ca": value}
    if name in _ASKS_FOR_TLS and value.lower() in ("true", "false"):
        return {"tls": _ASKS_FOR_TLS[name]} if value.lower() == "true" else {}
    if name in _JAVAS_OWN:
        return {}
    if name == "password":
        hint = "add 'password' = 'env:NAME'"
        raise OptionError("OPT-005", "a password in the URL would be shown with it", option="url", hint=hint)
    hint = did_you_mean(name, (*_TAKEN, *_ASKS_FOR_TLS, *_JAVAS_OWN)) or f"it takes {', '.join(_TAKEN)}"
    raise OptionError("OPT-005", f"the URL has a parameter '{name}' that is not known here", option="url", hint=hint)


def _has_port(host: str) -> bool:
    # [::1]:3306 has one, [::1] has none.
    return ":" in host.rpartition("]")[2]


def _with_zone(value: Any) -> datetime:
    if not isinstance(value, datetime):
        raise ValueError(f"{value!r} is no instant")
    return value.replace(tzinfo=timezone.utc)


def _without_zone(value: datetime) -> datetime:
    return value.astimezone(timezone.utc).replace(tzinfo=None) if value.tzinfo is not None else value


MYSQL, MARIADB = MySql("mysql"), MySql("mariadb")
