"""Ask a session's policy about a table: its connector, and each of its options."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlext.connectors.base import Connector
from sqlext.connectors.options import COMMON, OptionError
from sqlext.connectors.registry import known
from sqlext.policy import Denial, Policy
from sqlext.secrets import is_reference, is_secret
from sqlext_catalog.model import Table


def admit(table: Table, policy: Policy) -> None:
    """Refuse a table that the session may not use.

    Raises:
        OptionError: RESTRICT-001 to RESTRICT-004, of the option; OPT-... for a table without a connector.
    """
    connector = known(table)
    # Without one it can neither be read nor written.
    if not policy.restricted or connector is None:
        return
    for key, refusal in _refusals(table, connector, policy):
        if refusal is not None:
            raise OptionError(refusal.code, refusal.message, option=key, hint=refusal.hint)


def _refusals(table: Table, connector: Connector, policy: Policy) -> Iterator[tuple[str, Denial | None]]:
    yield "connector", policy.connector(connector.name)
    reached = connector.reaches(table)
    for key, value in table.options:
        if key in reached:
            ask = policy.place if reached[key].local else policy.host
            yield from ((key, ask(place)) for place in reached[key].places)
            yield from ((key, policy.place(file)) for file in reached[key].files)
        elif is_secret(key) and is_reference(value):
            yield key, policy.reference(value)
        elif not _is_listed(key, table, connector):
            yield key, policy.option(key)


def _is_listed(key: str, table: Table, connector: Connector) -> bool:
    """Return whether a connector or the table's format names an option by itself, and it leads nowhere else."""
    if key in connector.leads(table):
        return False
    every = [connector.rules_for(table, role).merged(COMMON) for role in connector.roles]
    return any(key in rules.keys or any(re.fullmatch(p, key) for p, _ in rules.patterns) for rules in every)
