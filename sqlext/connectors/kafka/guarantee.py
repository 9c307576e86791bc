"""Tell what a topic is promised of the rows that are written to it."""

from __future__ import annotations

from sqlext.connectors.base import written_columns
from sqlext.connectors.kafka.client import why_no_client
from sqlext.connectors.kafka.options import GUARANTEE, SEMANTIC
from sqlext.connectors.options import OptionError
from sqlext_catalog.model import Options, Table

#: Begins the transactional ids of a query's writers; Flink's name for it, which Flink needs.
_PREFIX = "sink.transactional-id-prefix"
_WRITERS = "sink.parallelism"


def exactly_once(options: Options) -> bool:
    """Return whether each row is written exactly once. By default it is at least once, as in Flink."""
    found = dict(options)
    return found.get(GUARANTEE, found.get(SEMANTIC, "")).strip().lower() == "exactly-once"


def writers(options: Options) -> int:
    """Return how many transactions a batch has."""
    return int(dict(options).get(_WRITERS, "1"))


def transactional_name(options: Options, query: str) -> str:
    """Return the beginning of the transactional ids and groups of a query.

    Args:
        query: a name for the query with its checkpoint, which no other one has.
    """
    return f"{dict(options).get(_PREFIX, 'sqlext')}-{query}"


def validate_sink(table: Table) -> None:
    """Refuse what is not written to Kafka.

    Raises:
        OptionError: OPT-005 for 'exactly-once' without our own client, OPT-007 for metadata other than headers.
    """
    why_not = why_no_client(table.options) if exactly_once(table.options) else ""
    if why_not:
        option = GUARANTEE if table.option(GUARANTEE) else SEMANTIC
        message = f"records go to Kafka exactly once by our own client alone: {why_not}"
        raise OptionError("OPT-005", message, option=option, hint=f"'{option}' = 'at-least-once' is left to Spark")
    for column in written_columns(table):
        if column.metadata_key not in (None, "headers"):
            message = f"Spark writes no metadata '{column.metadata_key}' to Kafka: declare `{column.name}` VIRTUAL"
            raise OptionError("OPT-007", message)
