"""Find a table's connector by name."""

from __future__ import annotations

from sqlext.connectors.base import Connector
from sqlext.connectors.blackhole.table import Blackhole
from sqlext.connectors.dataframe import RegisteredFrame
from sqlext.connectors.datagen.table import Datagen
from sqlext.connectors.delta.table import Delta
from sqlext.connectors.faker.table import Faker
from sqlext.connectors.filesystem.table import Filesystem
from sqlext.connectors.foreign import way_around
from sqlext.connectors.jdbc.table import Jdbc
from sqlext.connectors.kafka.table import Kafka
from sqlext.connectors.kafka.upsert import UpsertKafka
from sqlext.connectors.lake.kinds import KINDS
from sqlext.connectors.lake.table import Lake
from sqlext.connectors.options import OptionError, listed
from sqlext.connectors.print.table import Print
from sqlext.connectors.rate import Rate
from sqlext.connectors.search.table import SearchIndex
from sqlext.connectors.socket.table import Socket
from sqlext.connectors.spark_format.table import SparkFormat
from sqlext.errors import did_you_mean
from sqlext_catalog.model import Table

#: Those that a script may name.
CONNECTORS: dict[str, Connector] = {
    c.name: c
    for c in (
        Filesystem(),
        Delta(),
        Kafka(),
        UpsertKafka(),
        Jdbc(),
        SearchIndex("elasticsearch-7"),
        SearchIndex("opensearch"),
        Socket(),
        Rate(),
        Datagen(),
        Faker(),
        Print(),
        Blackhole(),
        SparkFormat(),
        *map(Lake, KINDS.values()),
    )
}
#: And those of tables that are made otherwise.
_HIDDEN: dict[str, Connector] = {RegisteredFrame.name: RegisteredFrame()}
#: The connector of materialized views.
#: It is read as a stream, takes updates by key, and a second process can read it while it is written.
OF_VIEWS = Delta.name


def register(connector: Connector) -> None:
    """Add a connector, which scripts can then name."""
    CONNECTORS[connector.name] = connector


def known(table: Table) -> Connector | None:
    """Return the connector of a table, None where ``connector_of`` refuses it."""
    name = table.option("connector") or ""
    return CONNECTORS.get(name) or _HIDDEN.get(name)


def makes_table(table: Table) -> bool:
    """Return whether CREATE TABLE makes what lies behind a table."""
    found = known(table)
    return found is not None and found.makes_table


def connector_named(name: str) -> Connector:
    """Return the connector of a sink's description (``WriteSpec.connector``)."""
    return CONNECTORS[name]


def connector_of(table: Table) -> Connector:
    """Return the connector of a table.

    Raises:
        OptionError: OPT-001 the table names none, OPT-002 there is none of that name.
    """
    name = table.option("connector")
    if name is None:
        message = f"table `{table.name.name}` has no 'connector' option: it can neither be read nor written"
        hint = f"add WITH ('connector' = '...'), one of {', '.join(CONNECTORS)}"
        raise OptionError("OPT-001", message, hint=hint)
    found = known(table)
    if found is None:
        near = way_around(name) or did_you_mean(name, CONNECTORS)
        hint = near or f"there are {listed(CONNECTORS)}; any Spark format by 'spark'"
        raise OptionError("OPT-002", f"there is no connector '{name}'", option="connector", hint=hint)
    return found
