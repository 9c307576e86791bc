"""Break a query into lines for people; only white space changes."""

from __future__ import annotations

from sqlext.dialect.tokens import Token, TokenKind, tokenize, words
from sqlext.source import SourceText

_WIDTH = 100
_INDENT = "  "
_QUERY = frozenset(words("SELECT WITH VALUES FROM"))
_CLAUSES = frozenset(words("FROM WHERE HAVING LIMIT OFFSET UNION INTERSECT EXCEPT"))
_BEFORE_BY = frozenset(words("GROUP ORDER"))
_BEFORE_JOIN = frozenset(words("INNER LEFT RIGHT FULL CROSS NATURAL SEMI ANTI OUTER"))
_BRANCHES = frozenset(words("WHEN ELSE"))
_SET = frozenset(words("UNION INTERSECT EXCEPT ALL"))


def layout(sql: str) -> str:
    """Return a query with each clause on a line of its own and sub-queries indented."""
    tokens = tokenize(SourceText.of(sql))
    if len(tokens) < 2:
        return sql
    return _Layout(sql, tokens).text()


class _Layout:
    def __init__(self, sql: str, tokens: list[Token]) -> None:
        self.sql = sql
        self.tokens = tokens
        self.closing = _closings(tokens)
        self.depth = 0
        self.parens: list[int | None] = []  # of each open parenthesis: its depth if it holds a query
        self.lists: list[bool] = [False]  # of each open query: whether its select list has a line per item

    def text(self) -> str:
        pieces: list[str] = []
        end = self.tokens[0].start
        # The last token is END, which has no text.
        for i, token in enumerate(self.tokens[:-1]):
            gap = self.sql[end : token.start]
            line_break = self._before(i)
            # A gap with more than white space holds a comment: a `--` comment needs the line end behind it.
            pieces += (gap if line_break is None or gap.strip() else line_break, token.text)
            end = token.end
        return "".join(pieces).lstrip("\n") + self.sql[end:].rstrip()

    def _before(self, i: int) -> str | None:
        """Return the white space that replaces what stands before a token, None to leave it."""
        token = self.tokens[i]
        opened = i > 0 and self._opens_query(i - 1)
        if opened:
            self.depth += 1
            self.lists.append(False)
        in_query = opened or not self.parens or self.parens[-1] is not None
        if token.text == "(" and token.kind is TokenKind.SYMBOL:
            self.parens.append(self.depth if self._opens_query(i) else None)
        elif token.text == ")" and token.kind is TokenKind.SYMBOL and self.parens:
            depth = self.parens.pop()
            if depth is not None:
                self.depth = depth
                self.lists.pop()
                return self._line()
        if in_query and token.upper == "SELECT":
            self.lists[-1] = self._is_long(i)
        if opened or (in_query and self._begins_clause(i)):
            self.lists[-1] &= token.upper == "SELECT"
            return self._line()
        if not in_query or not self.lists[-1]:
            return None
        if token.upper in _BRANCHES:
            return self._line() + _INDENT * 2
        return self._line() + _INDENT if self._begins_item(i) else None

    def _line(self) -> str:
        return "\n" + _INDENT * self.depth

    def _opens_query(self, i: int) -> bool:
        token = self.tokens[i]
        if token.kind is not TokenKind.SYMBOL or token.text != "(":
            return False
        # Of ((SELECT ...) UNION ...) the outer parenthesis holds a query too.
        while self.tokens[i].text == "(" and self.tokens[i].kind is TokenKind.SYMBOL:
            i += 1
        return self.tokens[i].upper in _QUERY

    def _begins_clause(self, i: int) -> bool:
        word, before, after = self.tokens[i].upper, self._word(i - 1), self._word(i + 1)
        if word in _CLAUSES:
            return before != "DISTINCT"  # IS DISTINCT FROM
        if word in _BEFORE_BY:
            return after == "BY"
        if word == "JOIN":
            return before not in _BEFORE_JOIN
        if word in _BEFORE_JOIN:
            return before not in _BEFORE_JOIN and "JOIN" in (after, self._word(i + 2), self._word(i + 3))
        return before in _SET and (word == "SELECT" or self.tokens[i].text == "(")

    def _begins_item(self, i: int) -> bool:
        if self._word(i - 1) in ("SELECT", "DISTINCT"):
            return self._list_end(i) > i
        return i > 0 and self.tokens[i - 1].text == ","

    def _is_long(self, i: int) -> bool:
        end = self._list_end(i)
        return self.tokens[end].start - self.tokens[i].start > _WIDTH

    def _list_end(self, i: int) -> int:
        """Return where the select list that contains token ``i`` ends."""
        while self.tokens[i].kind is not TokenKind.END and self.tokens[i].text != ")":
            i = self.closing.get(i, i) + 1
            if self.tokens[i].upper == "FROM" and self._word(i - 1) != "DISTINCT":
                break
        return i

    def _word(self, i: int) -> str:
        return self.tokens[i].upper if 0 <= i < len(self.tokens) else ""


def _closings(tokens: list[Token]) -> dict[int, int]:
    """Return the place of the parenthesis that closes each opening one."""
    found: dict[int, int] = {}
    open_: list[int] = []
    for i, token in enumerate(tokens):
        if token.kind is not TokenKind.SYMBOL:
            continue
        if token.text == "(":
            open_.append(i)
        elif token.text == ")" and open_:
            found[open_.pop()] = i
    return found
