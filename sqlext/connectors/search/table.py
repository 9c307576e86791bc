"""Describe ``'connector' = 'opensearch'`` and ``'elasticsearch-7'``: an index as a sink, by Flink's option names.

A row is a document. With a PRIMARY KEY its values are the document's id: a row replaces the one before, and a row that
is gone deletes it. Without one the server makes ids. So a row that changes is one more document, and a batch that is
run again adds its rows again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlext.connectors.base import Connector, Reach, Role, declared_type
from sqlext.connectors.options import OptionError
from sqlext.connectors.search.options import RULES, validate_index
from sqlext.connectors.spec import WriteSpec
from sqlext_catalog.model import Table

_NO_IDS = ("ARRAY", "MAP", "MULTISET", "ROW", "BINARY", "VARBINARY")


class SearchIndex(Connector):
    """An index of a server."""

    roles = ("sink",)
    sink = "sqlext.connectors.search.sink:SearchSink"
    rules = RULES
    passes_on = True

    def __init__(self, name: str) -> None:
        self.name = name

    def validate(self, table: Table, role: Role) -> None:
        """Refuse what cannot work; see Connector.validate."""
        super().validate(table, role)
        validate_index(self.owner, table)
        if (table.option("username") is None) != (table.option("password") is None):
            raise OptionError("OPT-004", f"{self.owner} takes 'username' and 'password' together", option="username")
        keys = table.primary_key.columns if table.primary_key is not None else ()
        for column in table.columns:
            if column.name in keys and declared_type(column).root in _NO_IDS:
                message = f"`{column.name}` ({declared_type(column)}) cannot be part of a document's id"
                raise OptionError("OPT-008", message, hint="take other columns for the PRIMARY KEY")

    def reaches(self, table: Table) -> Mapping[str, Reach]:
        """Return its servers."""
        return {"hosts": Reach(tuple(h.strip() for h in (table.option("hosts") or "").split(";")), local=False)}

    def merges(self, table: Table) -> bool:
        """Return whether it has a PRIMARY KEY."""
        return table.primary_key is not None

    def adds_updates(self, table: Table) -> bool:
        """Return whether it has no PRIMARY KEY: the server makes an id for each, as Flink's connector has it."""
        return table.primary_key is None

    def tells_refused(self, table: Table) -> bool:
        """Return whether a document that is refused ends the query, where nothing else is said."""
        return (table.option("failure-handler") or "fail").lower() == "fail"

    def write_spec(self, table: Table) -> WriteSpec:
        """Return how documents are written."""
        return replace(super().write_spec(table), format="json")
