"""Ask a session's policy about a table: its connector, and each of its options."""

from __future__ import annotations

from collections.abc import Iterator

from sqlext.connectors.base import Connector
from sqlext.connectors.options import COMMON, OptionError
from sqlext.connectors.registry import known
from sqlext.policy import Policy, Refusal
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


def _refusals(table: Table, connector: Connector, policy: Policy) -> Iterator[tuple[str, Refusal | None]]:
    yield "connector", policy.connector(connector.name)
    listed = _listed(table, connector)
    reached = connector.reaches(table)
    for key, value in table.options:
        if key in reached:
            ask = policy.place if reached[key].local else policy.host
            yield from ((key, ask(place)) for place in reached[key].places)
        elif is_secret(key) and is_reference(value):
            yield key, policy.reference(value)
        elif key not in listed:
            yield key, policy.option(key)


def _listed(table: Table, connector: Connector) -> set[str]:
    """Return the options that a connector and the table's format name one by one, and that lead nowhere else."""
    every = {key for role in connector.roles for key in connector.rules_for(table, role).merged(COMMON).keys}
    return every - set(connector.leads_out)
