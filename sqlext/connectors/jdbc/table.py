"""Describe ``'connector' = 'jdbc'``: a table of PostgreSQL, MySQL or SQLite, by Flink's option names.

Read, it is what the table holds when the query starts, in parts if ``scan.partition.*`` says so. A lookup by processing
time reads it anew in each micro-batch, or when ``lookup.cache`` lets rows expire. Written, rows are appended; with a
PRIMARY KEY they replace each other, and rows that are gone are deleted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlext.connectors.base import Connector, Reach, Role, physical_fields
from sqlext.connectors.formats.columnar import stored_columns, stored_schema
from sqlext.connectors.jdbc.options import RULES, is_exactly_once, validate_partitions
from sqlext.connectors.jdbc.place import database_of
from sqlext.connectors.options import OptionError
from sqlext.connectors.spec import ReadSpec, WriteSpec
from sqlext_catalog.model import Options, Table

#: Our options and those of Spark's own reader, by which another program can read the table.
_SPARKS: dict[str, str] = {
    "url": "url",
    "table-name": "dbtable",
    "username": "user",
    "password": "password",
    "driver": "driver",
    "scan.partition.column": "partitionColumn",
    "scan.partition.num": "numPartitions",
    "scan.partition.lower-bound": "lowerBound",
    "scan.partition.upper-bound": "upperBound",
    "scan.fetch-size": "fetchsize",
}


class Jdbc(Connector):
    """A table of a database. Always bounded, as in Flink."""

    name = "jdbc"
    reader = "sqlext.connectors.jdbc.reader:READER"
    sink = "sqlext.connectors.jdbc.sink:JdbcSink"
    rules = RULES
    read_anew = True
    reads_itself = True
    passes_on = True

    def validate(self, table: Table, role: Role) -> None:
        """Refuse what cannot work; see Connector.validate."""
        super().validate(table, role)
        database, address = database_of(table.option("url") or "")
        database.settings(address)
        driver = table.option("driver")
        if driver is not None and driver not in database.drivers:
            message = f"option 'driver': {database.name} has {' or '.join(database.drivers)}, not {driver}"
            raise OptionError("OPT-005", message, option="driver", hint="leave it out: no Java driver is loaded")
        for key, refused in (("scan.mode", "streaming"), ("sqlext.source", "spark")):
            if table.option(key) == refused:
                message = f"option '{key}' of {self.owner} cannot be '{refused}'"
                hint = "a database gives what it holds, to our own reader"
                raise OptionError("OPT-005", message, option=key, hint=hint)
        for field in physical_fields(table):
            if database.column_type(field.type) is None:
                message = f"{database.name} cannot hold column `{field.name}` ({field.type})"
                raise OptionError("OPT-008", message, hint="CAST it, or take its parts")
        if table.partitioned_by:
            raise OptionError("OPT-008", f"{self.owner} has no PARTITIONED BY", hint="leave it out")
        validate_partitions(self.owner, table)

    def reaches(self, table: Table) -> Mapping[str, Reach]:
        """Return its database: a file, or a host, with the files that its URL names."""
        database, address = database_of(table.option("url") or "")
        settings = database.settings(address)
        if "host" not in settings:
            return {"url": Reach((settings["database"],), local=True)}
        hosts = zip(settings["host"].split(","), settings["port"].split(","), strict=False)
        files = tuple(settings[name] for name in database.files if name in settings)
        return {"url": Reach(tuple(f"{host}:{port}" for host, port in hosts), local=False, files=files)}

    def bounded(self, table: Table) -> bool:
        """Return that it is read once."""
        return True

    def merges(self, table: Table) -> bool:
        """Return whether it has a PRIMARY KEY."""
        return table.primary_key is not None

    def tells_refused(self, table: Table) -> bool:
        """Return whether batches are known to the database: then it also knows which of their rows it refused."""
        return is_exactly_once(table.options)

    def read_spec(self, table: Table, zone: str = "UTC") -> ReadSpec:
        """Return how the table is read; by Spark's own reader, for programs that are exported."""
        fields = physical_fields(table)
        options: Options = tuple((_SPARKS[key], value) for key, value in table.options if key in _SPARKS)
        return ReadSpec(
            format="jdbc",
            schema=stored_schema(fields),
            fixed_schema=True,
            columns=stored_columns(fields, zone),
            options=options,
        )

    def write_spec(self, table: Table) -> WriteSpec:
        """Return how the table is written."""
        return replace(super().write_spec(table), table=table.option("table-name"))
