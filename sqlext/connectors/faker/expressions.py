"""Parse the expressions of Datafaker: texts with calls of providers in between."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

#: A call: its name, then arguments in quotes. Commas and brackets between them say nothing.
_CALL = re.compile(r"#\{\s*([A-Za-z_][\w.]*)((?:'[^']*'|[^'}])*)\}")
_ARGUMENT = re.compile(r"'([^']*)'")


@dataclass(frozen=True, slots=True)
class ProviderCall:
    """A call of a provider.

    Attributes:
        name: as it is written.
        arguments: without their quotes.
    """

    name: str
    arguments: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The name as all spellings of it have it: ``Name.fullName`` and ``name.full_name`` are one."""
        return folded(self.name)


Expression: TypeAlias = tuple["str | ProviderCall", ...]


def folded(name: str) -> str:
    """Return a name without what Datafaker does not look at."""
    return name.replace("_", "").lower()


def parse(text: str) -> Expression:
    """Return the parts of an expression, in order.

    Raises:
        ValueError: for a call that does not end.
    """
    parts: list[str | ProviderCall] = []
    place = 0
    for found in _CALL.finditer(text):
        parts.append(text[place : found.start()])
        parts.append(ProviderCall(found[1], tuple(_ARGUMENT.findall(found[2]))))
        place = found.end()
    parts.append(text[place:])
    broken = next((p for p in parts if isinstance(p, str) and "#{" in p), None)
    if broken is not None:
        raise ValueError(f"`{broken[broken.index('#{') :]}` is no call of the form #{{provider.name 'argument'}}")
    return tuple(p for p in parts if p != "")
