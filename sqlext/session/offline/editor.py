"""Answer an editor: completions, pieces to colour, complete statements. Starts no Spark and changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlext import settings
from sqlext.analysis.functions import all_names
from sqlext.analysis.windows.table_functions import WINDOW_FUNCTIONS
from sqlext.connectors.completion import option_keys, option_values
from sqlext.dialect.keywords import KEYWORDS
from sqlext.dialect.pieces import ColouredPiece, pieces
from sqlext.dialect.script import is_complete
from sqlext.dialect.statements.choice import FIRST_WORDS
from sqlext.dialect.tokens import words
from sqlext.errors import SqlExtError
from sqlext.plan.columns import WINDOW_COLUMNS
from sqlext.session.state import SessionState
from sqlext_catalog.information_schema import NAMES as SYSTEM_VIEWS
from sqlext_catalog.information_schema import system_view_columns
from sqlext_catalog.model import INFORMATION_SCHEMA, Relation, Table

_BEFORE_A_TABLE = frozenset(words("FROM JOIN INTO TABLE VIEW DESCRIBE DESC EXTENDED OVERWRITE"))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text that can take the place of what stands from ``start`` to the cursor.

    ``kind`` is keyword, table, database, column, function, option, value or job.
    """

    text: str
    start: int
    kind: str


class Editor:
    """A session's answers; they follow its catalog and its settings."""

    def __init__(self, state: SessionState) -> None:
        self._state = state

    def is_complete(self, text: str) -> bool:
        """Whether a text ends where a statement ends: with a semicolon, outside of strings, comments and sets."""
        return is_complete(text, self._state.settings.expressions)

    def pieces(self, text: str) -> Iterator[ColouredPiece]:
        """Yield a text in pieces to colour; together they are the text."""
        return pieces(text, self._state.settings.expressions)

    def candidates(self, text: str, at: int) -> list[Candidate]:
        """Return what can stand at offset ``at`` of a text, the likeliest first."""
        return candidates(text, at, self._state)


def candidates(text: str, at: int, state: SessionState) -> list[Candidate]:
    """Return what can stand at offset ``at`` of a text, the likeliest first.

    Args:
        text: statements, the last of them unfinished or not.
        state: a session's: its catalog is looked at as it is now.
    """
    mode = state.settings.expressions
    before = _last_statement(pieces(text[:at], mode))
    # An open string takes its values alone, and an open comment nothing.
    if before and before[-1].open:
        return _within_quotes(before, state) if before[-1].kind == "string" else []
    spoken = [p for p in before if p.kind not in ("space", "comment")]
    # Only a word that touches the cursor is being typed.
    word = spoken.pop() if spoken and spoken[-1].end == at and spoken[-1].kind != "symbol" else None
    written = word.text if word is not None else ""
    # The whole text: the FROM that names the tables stands behind the columns that are typed.
    every = [p for p in pieces(text, mode) if p.kind not in ("space", "comment")]
    fitting = _fitting(_offered(spoken, every, state), written)
    start = at - len(written)
    return [Candidate(name, start, kind) for name, kind in fitting]


_Offer = tuple[str, str]


def _last_statement(found: Iterable[ColouredPiece]) -> list[ColouredPiece]:
    last: list[ColouredPiece] = []
    for piece in found:
        last = [] if piece.text == ";" and piece.kind == "symbol" else [*last, piece]
    return last


def _fitting(offers: Iterable[_Offer], written: str) -> Iterator[_Offer]:
    """Yield the offers that begin as written, each once; keywords in the user's case."""
    beginning, in_lower = written.lower(), written.islower()
    for name, kind in dict.fromkeys(offers):
        if name.lower().startswith(beginning):
            lower = in_lower and kind in ("keyword", "function")
            yield (name.lower() if lower else name), kind


def _offered(spoken: Sequence[ColouredPiece], every: Sequence[ColouredPiece], state: SessionState) -> Iterator[_Offer]:
    if not spoken:
        yield from ((word, "keyword") for word in FIRST_WORDS)
    elif spoken[-1].text == ".":
        yield from _parts_of(_name_before(spoken), every, state)
    elif spoken[-1].upper in _BEFORE_A_TABLE:
        yield from _relations(state)
        yield from (("TABLE", "keyword"), (f"{INFORMATION_SCHEMA}", "database"))
    elif spoken[-1].upper == "USE":
        yield from _databases(state)
        yield "CATALOG", "keyword"
    else:
        yield from _columns(every, state)
        yield from ((word, "keyword") for word in sorted(KEYWORDS))
        yield from ((name, "function") for name in all_names())
        yield from _relations(state)


# Names of the catalog


def _relations(state: SessionState) -> Iterator[_Offer]:
    yield from ((name, "table") for name in state.catalog.candidates())


def _databases(state: SessionState) -> Iterator[_Offer]:
    found = state.catalog.snapshot().databases(state.catalog.current_catalog)
    yield from ((d.name.database, "database") for d in found)


def _name_before(spoken: Sequence[ColouredPiece]) -> tuple[str, ...]:
    """Return the parts of the name before the dot at the end."""
    parts: list[str] = []
    at = len(spoken) - 1
    while at > 0 and spoken[at].text == "." and spoken[at - 1].kind in ("name", "keyword", "quoted"):
        parts.insert(0, spoken[at - 1].text.strip("`"))
        at -= 2
    return tuple(parts)


def _parts_of(name: tuple[str, ...], every: Sequence[ColouredPiece], state: SessionState) -> Iterator[_Offer]:
    if name == (INFORMATION_SCHEMA,):
        yield from ((view, "table") for view in SYSTEM_VIEWS)
        return
    if not name:
        return
    # An alias hides the table that has its name.
    relation = _aliases(every, state).get(name[-1].lower()) or _found(name, state)
    if relation is not None:
        yield from ((column, "column") for column in _column_names(relation))
    qualified = (*name, "")[:2] if len(name) > 1 else (state.catalog.current_catalog, *name)
    relations = state.catalog.snapshot().relations(*qualified)
    yield from ((r.name.name, "table") for r in relations)


def _found(name: tuple[str, ...], state: SessionState) -> Relation | None:
    try:
        return state.catalog.lookup(name)
    except SqlExtError:
        return None


def _aliases(every: Sequence[ColouredPiece], state: SessionState) -> Mapping[str, Relation]:
    """Return the tables and views that the text names, by name and by alias, in lower case."""
    found: dict[str, Relation] = {}
    for index, piece in enumerate(every):
        if piece.kind not in ("name", "quoted", "function"):
            continue
        name = piece.text.strip("`")
        relation = _found((name,), state)
        if relation is not None:
            found[name.lower()] = relation
            # Two pieces: AS may stand between a table and its alias.
            following = every[index + 1 : index + 3]
            alias = [p for p in following if p.upper != "AS"][:1]
            if alias and alias[0].kind == "name":
                found[alias[0].text.lower()] = relation
    return found


def _columns(every: Sequence[ColouredPiece], state: SessionState) -> Iterator[_Offer]:
    named = _aliases(every, state).values() or state.catalog.snapshot().relations()  # all, as long as FROM is not there
    for relation in dict.fromkeys(named):
        yield from ((column, "column") for column in _column_names(relation))
    if not WINDOW_FUNCTIONS.isdisjoint(p.upper for p in every):
        yield from ((column, "column") for column in WINDOW_COLUMNS)
    for piece in every:
        if piece.text.lower() in SYSTEM_VIEWS:
            yield from ((name, "column") for name, _ in system_view_columns(piece.text.lower()) or ())


def _column_names(relation: Relation) -> tuple[str, ...]:
    return tuple(c.name for c in relation.columns) if isinstance(relation, Table) else relation.columns


# Strings: options, settings, jobs


def _within_quotes(before: Sequence[ColouredPiece], state: SessionState) -> list[Candidate]:
    opened, spoken = before[-1], [p for p in before[:-1] if p.kind not in ("space", "comment")]
    written, quote = opened.text[1:], opened.text[0]
    offers = _strings(spoken, state)
    return [Candidate(name + quote, opened.start + 1, kind) for name, kind in _fitting(offers, written)]


def _strings(spoken: Sequence[ColouredPiece], state: SessionState) -> Iterator[_Offer]:
    first, last = (spoken[0].upper, spoken[-1].upper) if spoken else ("", "")
    options = _options(spoken)
    if first in ("SET", "RESET"):
        values: Callable[[str], Iterable[str]] = settings.choices_of
        keys: Iterable[str] = settings.known_keys()
    elif (first, last) == ("STOP", "JOB"):
        yield from ((q.name, "job") for q in state.catalog.snapshot().queries())
        return
    elif any(p.upper in ("WITH", "OPTIONS", "SET") for p in spoken):
        values, keys = (lambda key: option_values(key, options)), option_keys(options)
    else:
        return
    if last == "=":
        yield from ((value, "value") for value in values(_unquoted(spoken[-2])))
    else:
        yield from ((key, "option") for key in keys)


def _options(spoken: Sequence[ColouredPiece]) -> dict[str, str]:
    """Return the options written so far: ``'key' = 'value'``."""
    triples = zip(spoken, spoken[1:], spoken[2:], strict=False)
    return {_unquoted(k): _unquoted(v) for k, e, v in triples if (k.kind, e.text, v.kind) == ("string", "=", "string")}


def _unquoted(piece: ColouredPiece) -> str:
    return piece.text[1:-1]
