"""Turn a policy into JSON and back.

The JSON is an argument of the operator: it goes to workers and into a query's fingerprint. Each object names its class,
so classes of ``policy`` and ``triggers.tree`` keep their names.
"""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from typing import Any, cast

from sqlext_udfs.windows import policy as policy_module
from sqlext_udfs.windows.policy import Policy
from sqlext_udfs.windows.triggers import tree
from sqlext_udfs.windows.triggers.tree import Trigger

# Of the JSON: another version is refused. Raise it when a field changes its meaning.
VERSION = 1
# The field of a JSON object that names its class.
_KIND = "is"
_CLASSES: dict[str, type[Any]] = {
    name: value
    for module in (tree, policy_module)
    for name, value in vars(module).items()
    if isinstance(value, type) and is_dataclass(value)
}


def policy_to_json(policy: Policy) -> str:
    """Return a policy as JSON text: the same text for equal policies."""
    return json.dumps({"version": VERSION, "policy": _plain(policy)}, sort_keys=True, separators=(",", ":"))


def trigger_to_json(trigger: Trigger) -> str:
    """Return a trigger as JSON text: the same text for equal ones."""
    return json.dumps(_plain(trigger), sort_keys=True, separators=(",", ":"))


def trigger_from_json(text: str) -> Trigger:
    """Return the trigger that ``trigger_to_json`` wrote."""
    return cast("Trigger", _value(json.loads(text)))


def policy_from_json(text: str) -> Policy:
    """Return the policy that ``policy_to_json`` wrote.

    Raises:
        ValueError: if a version that this code does not know wrote it.
    """
    data = json.loads(text)
    if data.get("version") != VERSION:
        raise ValueError(f"a policy of version {data.get('version')} cannot be read, this is version {VERSION}")
    return cast("Policy", _value(data["policy"]))


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return {_KIND: type(value).__name__} | {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value


def _value(data: object) -> object:
    if isinstance(data, dict):
        of = _CLASSES[data[_KIND]]
        return of(**{name: _value(item) for name, item in data.items() if name != _KIND})
    if isinstance(data, list):
        return tuple(_value(item) for item in data)
    return data
