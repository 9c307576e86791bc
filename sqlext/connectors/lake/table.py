"""Describe tables in a catalog of Iceberg or Paimon, which Spark opens: ``'connector' = 'iceberg'``.

A table that was made in such a catalog has its catalog's options beside its own (``kinds.OF_CATALOG``). A table of
another catalog names them in WITH, as Flink's does. Reading ends where nothing says ``'streaming' = 'true'``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import urlsplit

from sqlext.connectors.base import Connector, Reach, Role, physical_fields
from sqlext.connectors.formats.base import ReadField
from sqlext.connectors.formats.columnar import stored_columns, stored_schema
from sqlext.connectors.lake.kinds import (
    CATALOG_DATABASE,
    CATALOG_NAME,
    CATALOG_TABLE,
    CONFIGURATION,
    OF_CATALOG,
    TAKEN,
    LakeKind,
)
from sqlext.connectors.options import OptionError, Rules, any_text, boolean, duration
from sqlext.connectors.spec import ReadColumn, ReadSpec, WriteSpec
from sqlext.quoting import identifier
from sqlext_catalog.model import Table

#: Options of a catalog that lead nowhere else than ``reaches`` says.
_PLAIN = (
    "type",
    "property-version",
    "catalog-type",
    "metastore",
    "default-database",
    "clients",
    "cache-enabled",
    "uri",
    "warehouse",
)


class Lake(Connector):
    """A table of one kind of lake."""

    sink = "sqlext.connectors.lake.sink:LakeSink"
    keeps_order = False
    makes_table = True

    def __init__(self, kind: LakeKind) -> None:
        self.kind = kind
        self.name = kind.name
        keys = (CATALOG_NAME, CATALOG_DATABASE, CATALOG_TABLE, *_PLAIN, *(OF_CATALOG + k for k in _PLAIN))
        own = dict.fromkeys((*keys, *kind.reading, *(TAKEN - {"scan.mode"})), any_text)
        self.rules = Rules(
            {**own, "streaming": boolean, "monitor-interval": duration},
            prefixes=("",),
            patterns=((f"(?:{kind.own.pattern}).*", any_text),),
        )

    def validate(self, table: Table, role: Role) -> None:
        """Refuse what cannot work; see Connector.validate."""
        super().validate(table, role)
        options, _ = self.kind.split(table.options)
        wrong = self.kind.wrong(dict(options))
        if wrong is not None:
            code, option, hint = wrong
            value = f" cannot be '{dict(options)[option]}'" if option else ": 'warehouse' is missing"
            message = f"the catalog of {self.owner}{value}" if option is None else f"option '{option}'{value}"
            raise OptionError(code, message, option=option, hint=hint)
        if role == "source" and self.kind.endless and table.primary_key is not None and not self.bounded(table):
            hint = "say 'scan.mode' = 'snapshot': the rows as they are when the query starts"
            message = f"{self.owner} does not say what its stream takes back, and `{table.name.name}` has a PRIMARY KEY"
            raise OptionError("OPT-013", message, hint=hint)

    def bounded(self, table: Table) -> bool:
        """Return whether it is read as it is when the query starts."""
        asked = (table.option("streaming") or "").strip().lower()
        mode = table.option("scan.mode")
        if mode is not None or asked:
            return mode != "streaming" and asked != "true"
        return not self.kind.endless

    def is_static(self, table: Table) -> bool:
        """Return whether it is bounded: a snapshot is read in one piece, whatever commits have made it."""
        return self.bounded(table)

    def reaches(self, table: Table) -> Mapping[str, Reach]:
        """Return the warehouse, the server that keeps the names of tables, and folders of settings."""
        found = {}
        for key, value in table.options:
            plain = key.removeprefix(OF_CATALOG)
            if plain == "uri":
                hosts = tuple(urlsplit(one.strip()).netloc.rpartition("@")[2] or one for one in value.split(","))
                found[key] = Reach(hosts, local=False)
            # The server of a catalog may have names for warehouses.
            elif (plain == "warehouse" and re.search(r"[/:]", value)) or plain in CONFIGURATION or plain == "path":
                found[key] = Reach((value,), local=True)
        return found

    def merges(self, table: Table) -> bool:
        """Return whether it has a PRIMARY KEY."""
        return table.primary_key is not None

    def read_spec(self, table: Table, zone: str = "UTC") -> ReadSpec:
        """Return the table by its name in its catalog."""
        fields = physical_fields(table)
        _, own = self.kind.split(table.options)
        catalog = self.kind.catalog_of_table(table.options)
        return ReadSpec(
            format=self.kind.name,
            schema=tuple((name, self.stored(type_)) for name, type_ in stored_schema(fields)),
            fixed_schema=True,
            columns=tuple(map(self._narrowed, fields, stored_columns(fields, zone))),
            options=tuple((self.kind.reading[k], v) for k, v in own if k in self.kind.reading),
            table=name_of(table, catalog.name),
            bounded=self.bounded(table),
            catalog=catalog,
        )

    def write_spec(self, table: Table) -> WriteSpec:
        """Return the table by its name in its catalog, with the properties that it is made with."""
        _, own = self.kind.split(table.options)
        catalog = self.kind.catalog_of_table(table.options)
        kept = tuple((k, v) for k, v in own if k not in TAKEN and k not in self.kind.reading)
        place = name_of(table, catalog.name)
        return replace(
            super().write_spec(table), format=self.kind.name, path=None, table=place, options=kept, catalog=catalog
        )

    def name_in_spark(self, table: Table) -> str | None:
        """Return its name, where the catalog is open under its own."""
        return name_of(table, self.kind.catalog_of_table(table.options).name)

    def stored(self, type_: str) -> str:
        """Return how a lake holds a type of Spark's: without lengths of texts, and without narrow numbers."""
        text = re.sub(r"\b(?:VAR)?CHAR\(\d+\)", "STRING", type_)
        for narrow, wide in self.kind.narrow.items():
            text = re.sub(rf"\b{narrow}\b", wide, text)
        return text

    def _narrowed(self, field: ReadField, column: ReadColumn) -> ReadColumn:
        own = column.type
        if self.stored(own) == own or field.instant:
            return column
        return replace(column, expression=f"CAST({column.expression} AS {own})")


def name_of(table: Table, catalog: str) -> str:
    """Return how SQL of Spark's names a table."""
    database = table.option(CATALOG_DATABASE) or table.name.database
    name = table.option(CATALOG_TABLE) or table.name.name
    return ".".join(identifier(part) for part in (catalog, *database.split("."), name))
