"""Hold a statement of Spark's against the forms that it may have, and find the tables that it names.

A form is a line such as ``DELETE FROM table [alias] [WHERE expr]``:

============  ==================================================
``WORD``      that word
``( ) , = *`` that symbol
``part``      a part of ``_PARTS``: a name, a string, an expression, ...
``[a | b]``   one of these, or none
``<a | b>``   one of these
``{a | b}``   any number of these, in any order
============  ==================================================
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache

from sqlext.dialect.ast.queries import Query, TableRef
from sqlext.dialect.ast.statements import Name, NamedTable
from sqlext.dialect.cursor import Cursor
from sqlext.dialect.expressions.operations import parse_expression
from sqlext.dialect.expressions.types import parse_type
from sqlext.dialect.queries.relations import parse_alias, parse_from, parse_name
from sqlext.dialect.queries.whole import parse_query
from sqlext.dialect.tokens import TokenKind
from sqlext.errors import SqlExtError

_ITEM = re.compile(r"\w+|[^\w\s]")
#: Up to which length a form is a hint, and what is one in place of a longer form.
_SHORT, _LONG = 160, "Spark has no such clause here: look at this word and at the one before it"
#: The end of a form, in messages too, and symbols that something must follow.
_END, _OPEN = "the end of the statement", (",", "=", ".", "+", "-")
_GROUPS = {"[": ("]", 0, 1), "<": (">", 1, 1), "{": ("}", 0, 1_000_000)}


@dataclass(frozen=True, slots=True)
class _One:
    """A word, a symbol, or a part by its name in lower case."""

    text: str


@dataclass(frozen=True, slots=True)
class _Group:
    """Some of several forms, at least and at most so many times."""

    forms: tuple[Form, ...]
    least: int
    most: int


Form = tuple["_One | _Group", ...]


@dataclass
class Named:
    """What a statement names.

    Attributes:
        tables: relations that must be there.
        made: relations and functions that it may make.
    """

    tables: list[NamedTable] = field(default_factory=list)
    made: list[Name] = field(default_factory=list)


class _MismatchError(Exception):
    """The tokens do not have this form; why is in ``_Reading``."""


class _Reading:
    """Reads a statement by forms. What failed farthest is what the user is told."""

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.named = Named()
        self._farthest = cursor.index
        self._form, self.closest = "", ""
        self._expected: list[str] = []
        self._error: SqlExtError | None = None

    def whole(self, form: str) -> bool:
        """Read the statement by a form to its end; whether it has that form."""
        self._form = form
        return self._any_of(((*compiled(form), _One(_END)),))

    def _any_of(self, forms: tuple[Form, ...]) -> bool:
        """Read the first form that fits; whether there is one."""
        index, tables, made = self.cursor.index, len(self.named.tables), len(self.named.made)
        for form in forms:
            try:
                self._read(form)
                return True
            except _MismatchError:
                self.cursor.index = index
                del self.named.tables[tables:], self.named.made[made:]
        return False

    def refusal(self, verb: str, known: tuple[str, ...]) -> SqlExtError:
        """Return PARSE-002 where the reading came farthest."""
        if self._error is not None:
            return self._error
        self.cursor.index = self._farthest
        word = self.cursor.token.upper
        meant = {*self._expected, *known}
        close = difflib.get_close_matches(word, meant, n=1, cutoff=0.7) if word not in meant else []
        hint = f"did you mean {close[0]}?" if close else ""
        if not hint:
            shown = re.sub(r"\b[a-z]+\b", lambda m: _SHOWN.get(m.group(), m.group()), self.closest)
            hint = f"its form is {verb} {shown}" if len(shown) < _SHORT else _LONG
        return self.cursor.unexpected(" or ".join(self._expected[:8]), hint=hint)

    def _read(self, form: Form) -> None:
        for item in form:
            if isinstance(item, _One):
                self._one(item.text)
                continue
            count = 0
            while count < item.most and not self.cursor.at_statement_end and self._any_of(item.forms):
                count += 1
            if count < item.least:
                # What each of them wanted is noted, unless nothing is left to compare.
                for one in item.forms if self.cursor.at_statement_end else ():
                    self._note(_shown(one[0]))
                raise _MismatchError

    def _one(self, text: str) -> None:
        cursor = self.cursor
        if text == _END:
            if not cursor.at_statement_end:
                raise self._missing(_END)
        elif text.isupper():
            if not cursor.accept_words(text):
                raise self._missing(text)
        elif text in _PARTS:
            self._part(text)
        elif not cursor.accept_symbol(text):
            raise self._missing(text)

    def _part(self, name: str) -> None:
        index = self.cursor.index
        try:
            _PARTS[name](self.cursor, self.named)
        except SqlExtError as error:
            at = self.cursor.index
            if at > max(index, self._farthest - 1):
                self._farthest, self._expected, self._error, self.closest = at, [], error, self._form
            elif at == index:
                self._note(_shown(_One(name)))
            raise _MismatchError from None

    def _missing(self, what: str) -> _MismatchError:
        self._note(what)
        return _MismatchError()

    def _note(self, what: str) -> None:
        index = self.cursor.index
        if index > self._farthest or not self.closest:
            self._farthest, self._expected, self._error, self.closest = index, [], None, self._form
        if index == self._farthest and self._error is None and what not in self._expected:
            self._expected.append(what)


def read_form(cursor: Cursor, verb: str, forms: tuple[str, ...], known: tuple[str, ...] = ()) -> Named:
    """Read a statement that has one of some forms, up to its end.

    Args:
        verb: its first word, which the cursor has passed.
        forms: what may follow it.
        known: words that may have been meant where none of the forms fits.

    Raises:
        SqlExtError: PARSE-002 at the word from which on it has none of them; what an expression or a query raises.
    """
    reading = _Reading(cursor)
    if not any(reading.whole(form) for form in forms):
        raise reading.refusal(verb, known)
    return reading.named


@cache
def compiled(text: str) -> Form:
    """Return a form that was written as a line."""
    (form,) = _alternatives(iter(_ITEM.findall(text)), "")
    return form


def _alternatives(items: Iterator[str], closing: str) -> tuple[Form, ...]:
    found: list[Form] = []
    form: list[_One | _Group] = []
    for item in items:
        if item == closing:
            break
        if item == "|":
            found.append(tuple(form))
            form = []
        elif item in _GROUPS:
            end, least, most = _GROUPS[item]
            form.append(_Group(_alternatives(items, end), least, most))
        else:
            form.append(_One(item))
    return (*found, tuple(form))


def _shown(item: _One | _Group) -> str:
    while isinstance(item, _Group):
        item = item.forms[0][0]
    return item.text if item.text.isupper() or item.text not in _PARTS else _SAID.get(item.text, f"a {item.text}")


# Parts


def _table(cursor: Cursor, named: Named) -> None:
    # IDENTIFIER('name') says at run time which table it is.
    if cursor.at_words("IDENTIFIER") and cursor.peek().text == "(":
        cursor.advance()
        _parens(cursor, named)
        return
    name, span = parse_name(cursor)
    named.tables.append(NamedTable(span, name))


def _stored(cursor: Cursor, named: Named) -> None:
    """A table that may be named by its path."""
    before = len(named.tables)
    _table(cursor, named)
    named.tables[before:] = [replace(t, by_path=True) for t in named.tables[before:]]


def _target(cursor: Cursor, named: Named) -> None:
    """The same, and perhaps the name that the statement has for it."""
    before = len(named.tables)
    _stored(cursor, named)
    if parse_alias(cursor) is None:
        named.tables[before:] = [replace(t, takes_alias=True) for t in named.tables[before:]]


def _name(cursor: Cursor, named: Named) -> None:
    parse_name(cursor, "a name")


def _new(cursor: Cursor, named: Named) -> None:
    named.made.append(parse_name(cursor, "a name")[0])


def _id(cursor: Cursor, named: Named) -> None:
    cursor.expect_identifier()


def _alias(cursor: Cursor, named: Named) -> None:
    if parse_alias(cursor) is None:
        raise cursor.unexpected("an alias")


def _key(cursor: Cursor, named: Named) -> None:
    """A key of Spark's: words with dots, hyphens and colons between them, and no white space."""
    end = cursor.expect_identifier("a key").end
    while cursor.token.start == end and cursor.token.text != "=" and not cursor.at_statement_end:
        end = cursor.advance().end


def _type(cursor: Cursor, named: Named) -> None:
    parse_type(cursor)


def _string(cursor: Cursor, named: Named) -> None:
    cursor.expect_string()


def _integer(cursor: Cursor, named: Named) -> None:
    if cursor.token.kind is not TokenKind.NUMBER:
        raise cursor.unexpected("a number")
    cursor.advance()


def _expr(cursor: Cursor, named: Named) -> None:
    _note_tables(parse_expression(cursor).walk(), named)


def _query(cursor: Cursor, named: Named) -> None:
    index = cursor.index
    try:
        _note_tables(parse_query(cursor).walk(), named)
    except SqlExtError as error:
        # Syntax of Spark's that this dialect knows by name and does not read: Spark reads it.
        if error.code != "PARSE-004":
            raise
        cursor.index = index
        _rest(cursor, named)


def _relations(cursor: Cursor, named: Named) -> None:
    _note_tables(parse_from(cursor).walk(), named)


def _note_tables(nodes: Iterator[object], named: Named) -> None:
    found = list(nodes)
    # By name alone, wherever a CTE stands: a wrong guess leaves the table to Spark.
    ctes = {cte.name.lower() for node in found if isinstance(node, Query) for cte in node.ctes}
    for node in found:
        if isinstance(node, TableRef) and (len(node.parts) > 1 or node.parts[0].lower() not in ctes):
            named.tables.append(NamedTable(node.name_span, node.parts))


def _pipe(cursor: Cursor, named: Named) -> None:
    """``|>``, which hands rows to the next operator."""
    cursor.expect_symbol("|")
    cursor.expect_symbol(">")


def _parens(cursor: Cursor, named: Named) -> None:
    """What stands in parentheses, which Spark alone reads."""
    cursor.expect_symbol("(")
    depth = 1
    while depth:
        if cursor.at_statement_end:
            raise cursor.unexpected(")")
        depth += cursor.at_symbol("(") - cursor.at_symbol(")")
        cursor.advance()


def _rest(cursor: Cursor, named: Named) -> None:
    """All that is left, which Spark alone reads; at least a word, and no half list."""
    while not cursor.at_statement_end:
        if cursor.at_symbol("("):
            _parens(cursor, named)
        else:
            cursor.advance()
        if cursor.at_statement_end and cursor.tokens[cursor.index - 1].text not in _OPEN:
            return
    raise cursor.unexpected("more")


_PARTS: dict[str, Callable[[Cursor, Named], None]] = {
    "table": _table,
    "stored": _stored,
    "target": _target,
    "name": _name,
    "new": _new,
    "id": _id,
    "alias": _alias,
    "key": _key,
    "type": _type,
    "string": _string,
    "integer": _integer,
    "expr": _expr,
    "query": _query,
    "relations": _relations,
    "pipe": _pipe,
    "parens": _parens,
    "rest": _rest,
}
_SAID = {
    "table": "a table's name",
    "stored": "a table's name",
    "target": "a table's name",
    "new": "a name",
    "id": "a name",
    "alias": "an alias",
    "integer": "a number",
    "expr": "an expression",
    "relations": "a table",
    "pipe": "|>",
    "parens": "(",
    "rest": "more",
}
#: How a form is shown to users.
_SHOWN = {
    "stored": "table",
    "target": "table",
    "new": "name",
    "id": "name",
    "key": "name",
    "parens": "(...)",
    "rest": "...",
}
