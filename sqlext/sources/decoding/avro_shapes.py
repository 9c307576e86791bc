"""Compare two Avro schemas: how their values lie in bytes, and what these mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_NAMED = ("record", "enum", "fixed")


@dataclass(frozen=True, slots=True)
class Shape:
    """A schema without what values do not show: the names of its types, defaults, documentation.

    Attributes:
        kind: its type; ``union``; the full name of a type that is within itself.
        parts: fields of a record, branches of a union, what is in an array or a map, each with its name.
        meaning: logical type, precision, scale; size of a fixed, symbols of an enum.
    """

    kind: str
    parts: tuple[tuple[str, Shape], ...] = ()
    meaning: tuple[Any, ...] = ()

    @property
    def known(self) -> Shape:
        """The type beside NULL, where there is one."""
        others = [part for _, part in self.parts if part.kind != "null"]
        return others[0] if self.kind == "union" and len(others) == 1 else self


@dataclass(slots=True)
class Shapes:
    """Finds shapes of one schema's parts.

    Attributes:
        named: the types that have names, by their full names.
    """

    named: dict[str, Shape]

    def of(self, schema: Any, space: str = "") -> Shape:
        """Return the shape of a schema, given the namespace around it."""
        if isinstance(schema, list):
            return Shape("union", tuple((str(n), self.of(branch, space)) for n, branch in enumerate(schema)))
        if isinstance(schema, str):
            return self.named.get(_full(schema, space)) or self.named.get(schema) or Shape(schema)
        kind = schema["type"]
        if kind in ("array", "map"):
            return Shape(kind, (("", self.of(schema["items" if kind == "array" else "values"], space)),))
        if kind in _NAMED:
            return self._named(schema, _full(schema["name"], schema.get("namespace", space)))
        if isinstance(kind, str) and "logicalType" in schema:
            return Shape(kind, meaning=_meaning(schema))
        return self.of(kind, space)

    def _named(self, schema: Mapping[str, Any], name: str) -> Shape:
        self.named[name] = Shape(name)
        space = name.rpartition(".")[0]
        fields = tuple((f["name"], self.of(f["type"], space)) for f in schema.get("fields", ()))
        symbols = tuple(schema.get("symbols", ()))
        found = Shape(schema["type"], fields, (*_meaning(schema), schema.get("size"), symbols))
        self.named[name] = found
        return found


def clash(written: Shape, wanted: Shape, path: str = "") -> str:
    """Return why values of one would mean something else by the other, empty if they would not.

    Avro's rules of resolution look at types alone: a time in microseconds would be read as one in milliseconds.
    """
    written, wanted = written.known, wanted.known
    if written.kind != wanted.kind:
        return ""
    if written.kind not in ("record", "array", "map"):
        differ = _scale(written) is not None and _scale(wanted) is not None and _scale(written) != _scale(wanted)
        return f"`{path}` is written as {_told(written)} and read as {_told(wanted)}" if differ else ""
    parts = dict(wanted.parts)
    found = (
        clash(part, parts[name], f"{path}.{name}" if path and name else path or name)
        for name, part in written.parts
        if name in parts
    )
    return next((why for why in found if why), "")


def _full(name: str, space: str) -> str:
    return name if "." in name or not space else f"{space}.{name}"


def _meaning(schema: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(schema.get(key) for key in ("logicalType", "precision", "scale"))


def _scale(shape: Shape) -> object:
    """Return what a value's number is multiplied by: the unit of a time, the scale of a decimal; None without one."""
    logical, _, scale = (*shape.meaning, None, None, None)[:3]
    if logical == "decimal":
        return scale or 0
    return logical.rpartition("-")[2] if isinstance(logical, str) and "-" in logical else None


def _told(shape: Shape) -> str:
    logical, precision, scale = shape.meaning[:3]
    return f"decimal({precision}, {scale or 0})" if logical == "decimal" else str(logical)
