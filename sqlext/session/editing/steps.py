"""Check one statement of a document, and tell how what it leaves behind differs from before."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from sqlext.dialect.ast.expressions import ColumnRef
from sqlext.dialect.pieces import ColouredPiece, pieces
from sqlext.plan.scope import Found, listening
from sqlext.session.offline.checking import Checked, Checker
from sqlext.session.state import SessionState
from sqlext.source import SourceText
from sqlext_catalog.model import INFORMATION_SCHEMA
from sqlext_catalog.snapshot import Change, Delete, Put, key_of

_WORD = re.compile(r"\w+")
_Seen = tuple[SessionState, frozenset[str]]
#: Surroundings that are made of others are made at the latest after so many versions.
_DEEPEST = 16


class Surroundings:
    """What a statement sees; it is made when it is asked for: most statements of a new version are as they were.

    Args:
        made: returns the state, and the names that are not there by mistake.
        depth: of how many others it is made.
    """

    def __init__(self, made: Callable[[], _Seen], depth: int = 0) -> None:
        self._made = made
        self.depth = depth

    @classmethod
    def of(cls, state: SessionState, undefined: frozenset[str] = frozenset()) -> Surroundings:
        """Return surroundings that are there."""
        return cls(lambda: (state, undefined))

    @cached_property
    def _seen(self) -> _Seen:
        return self._made()

    @property
    def state(self) -> SessionState:
        """The state, which nobody changes."""
        return self._seen[0]

    @property
    def undefined(self) -> frozenset[str]:
        """The names, in lower case, that wrong statements would have defined."""
        return self._seen[1]


# Compared by identity: a step that is kept is the same one.
@dataclass(frozen=True, eq=False)
class ScriptStep:
    """A statement of a document, and what was found in it.

    Attributes:
        source: its text; positions are those of the document when it was checked.
        mode: whose meaning its expressions have.
        before, after: what it sees, and what it leaves.
        checked: one entry for the statement; none for comments alone.
        meanings: the columns that its references mean, by their ranges; as far as it could be bound.
    """

    source: SourceText
    mode: str
    before: Surroundings
    after: Surroundings
    checked: tuple[Checked, ...]
    meanings: Mapping[tuple[int, int], Found] = field(default_factory=dict)

    @cached_property
    def words(self) -> frozenset[str]:
        """Its words, in lower case."""
        # Those in strings too: an option may name a table.
        return frozenset(_WORD.findall(self.source.text.lower()))

    @cached_property
    def pieces(self) -> tuple[ColouredPiece, ...]:
        """Its text in pieces."""
        return tuple(pieces(self.source.text, self.mode))

    @cached_property
    def names_places(self) -> bool:
        """Whether a message holds a position, which is another one when the statement moves."""
        texts = (text for c in self.checked for e in c.found for text in (e.message, e.hint or ""))
        return any(f"{self.source.name}:" in text for text in texts)


def step_of(source: SourceText, before: Surroundings) -> ScriptStep:
    """Check a statement."""
    state = before.state.fork()
    checker = Checker(state, undefined=before.undefined)
    meanings: dict[tuple[int, int], Found] = {}

    def hear(ref: ColumnRef, found: Found) -> None:
        # Not those of a view's text. The first meaning is that of the text; later ones are of what was made of it.
        if ref.span.source is source:
            meanings.setdefault((ref.span.start, ref.span.end), found)

    with listening(hear):
        checked = tuple(checker.check(source))
    mode = before.state.settings.expressions
    return ScriptStep(source, mode, before, Surroundings.of(state, checker.undefined), checked, meanings)


@dataclass(frozen=True)
class Patch:
    """How two surroundings differ: what must be done to one to get the other.

    Attributes:
        changes: to the catalog.
        names: of what differs, in lower case: a statement without these words means the same in both.
    """

    changes: tuple[Change, ...] = ()
    names: frozenset[str] = frozenset()
    created: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())
    sparks: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())
    undefined: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())
    places: tuple[tuple[Any, Any], ...] = ()

    def applied(self, old: Surroundings) -> Surroundings:
        """Return surroundings with the differences."""
        found = Surroundings(lambda: self._made(old), old.depth + 1)
        if found.depth > _DEEPEST:
            return Surroundings.of(found.state, found.undefined)
        return found

    def _made(self, old: Surroundings) -> _Seen:
        state = old.state.fork()
        state.catalog.apply(self.changes, "edit")
        state.created = set(_patched(state.created, self.created))
        state.sparks = set(_patched(state.sparks, self.sparks))
        state.option_places.update(self.places)
        return state, _patched(old.undefined, self.undefined)


def patch_between(old: Surroundings, new: Surroundings) -> Patch | None:
    """Return what leads from old surroundings to new ones; None where more differs than definitions."""
    if old is new or old.state is new.state:
        return Patch()
    if _rest(old.state) != _rest(new.state):
        return None
    was, now = ({key_of(o): o for o in s.state.catalog.snapshot().objects()} for s in (old, new))
    changes: list[Change] = [Put(o) for key, o in now.items() if was.get(key) is not o and was.get(key) != o]
    changes += [Delete(key) for key in was if key not in now]
    kept = old.state.option_places
    places = tuple((k, span) for k, span in new.state.option_places.items() if kept.get(k) != span)
    sets = [
        (frozenset(b - a), frozenset(a - b))
        for a, b in (
            (old.state.created, new.state.created),
            (old.state.sparks, new.state.sparks),
            (old.undefined, new.undefined),
        )
    ]
    plain = (name for added, removed in sets for name in added | removed)
    full = (*(c.key.plain for c in changes), *(key[0].plain for key, _ in places), *plain)
    names = frozenset(part for name in full for part in _WORD.findall(name.lower()))
    # What shows the whole catalog shows each difference.
    names |= {INFORMATION_SCHEMA} if names else set()
    return Patch(tuple(changes), names, sets[0], sets[1], sets[2], places)


def _patched(old: set[str] | frozenset[str], patch: tuple[frozenset[str], frozenset[str]]) -> frozenset[str]:
    added, removed = patch
    return frozenset(old) - removed | added


def _rest(state: SessionState) -> object:
    """Return what every statement depends on."""
    catalog = state.catalog
    return state.settings, catalog.current_catalog, catalog.current_database, tuple(state.functions.names())
