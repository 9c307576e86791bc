"""List the options that a table can have, and their values, for editors."""

from __future__ import annotations

from collections.abc import Mapping

from sqlext.connectors.filesystem.table import FORMATS
from sqlext.connectors.formats.changelog import JSON_CHANGELOG_FORMATS
from sqlext.connectors.options import COMMON, OneOf, OptionError, Rules, boolean
from sqlext.connectors.registry import CONNECTORS
from sqlext_catalog.model import ObjectName, Table


def option_keys(options: Mapping[str, str]) -> list[str]:
    """Return the keys that a table with these options can have as well."""
    return sorted(key for key in _rules(options).keys if key not in options)


def option_values(key: str, options: Mapping[str, str]) -> list[str]:
    """Return the values that an option takes; none if it takes any text."""
    if key == "connector":
        return list(CONNECTORS)
    rule = _rules(options).keys.get(key)
    if isinstance(rule, OneOf):
        return list(rule.choices)
    if key == "format":
        return [*FORMATS, *JSON_CHANGELOG_FORMATS]
    return ["true", "false"] if rule is boolean else []


def _rules(options: Mapping[str, str]) -> Rules:
    connector = CONNECTORS.get(options.get("connector", ""))
    # Its name is still being typed, or missing.
    if connector is None:
        return COMMON
    table = Table(ObjectName("", "", ""), (), options=tuple(options.items()))
    found = []
    for role in connector.roles:
        try:
            found.append(connector.rules_for(table, role))
        except OptionError:  # a format that is still being written
            found.append(connector.rules)
    return COMMON.merged(*found)
