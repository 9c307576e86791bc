"""Define the one error that users see, with the place in their text."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal

from sqlext.secrets import in_short, redact_message

if TYPE_CHECKING:
    from sqlext.source import Span

#: What to do about a refusal that says nothing of its own, by its code.
_HINTS: Mapping[str, str] = {
    "DDL-001": "give one of them another name",
    "DDL-006": "compute it in a view",
    "DDL-020": "read another table or view",
    "DDL-030": "DESCRIBE says what the table has",
    "DDL-040": "EXPLAIN PLAN FOR SELECT ...; the query of a view can be explained as it stands",
    "EMIT-001": "begin with a trigger, such as AFTER WATERMARK or EVERY 10 SECONDS",
    "EMIT-002": "look at this word and at the one before it; docs/emit.md has the clause",
    "EMIT-005": "write a whole number from 1",
    "EMIT-114": "CREATE it before; its columns are columns of the row by name",
    "FUNC-001": "session.register_function(...) registers one; look at its spelling",
    "FUNC-004": "session.register_table_function(...) registers one before the query",
    "MATCH-015": "write a comparison, such as A.price > 10",
    "NAME-002": "look at its spelling: SHOW TABLES lists the tables, and one with an alias goes by that alone",
    "NAME-003": "look at its spelling: DESCRIBE lists the columns of a table; FROM may be missing",
    "NAME-005": "DESCRIBE says which fields a ROW has; elements of maps and arrays are m['k'] and a[1]",
    "NAME-007": "make the numbers equal",
    "NAME-011": "compute the inner one in a sub-query of FROM",
    "NAME-090": "catalog.database.table is the most; a name with dots in it needs backticks",
    "ORDER-002": "write the number itself, such as LIMIT 10",
    "OVER-103": "OVER takes an aggregate, LAG, LEAD or a rank",
    "OVER-113": "write ROWS BETWEEN 10 PRECEDING AND CURRENT ROW",
    "PARSE-006": "write a number of that range",
    "PARSE-007": "names of types are those of Flink and Spark: INT, BIGINT, STRING, DECIMAL(10, 2), TIMESTAMP(3), ...",
    "TIME-012": "keep one of them",
    "TIME-014": "WATERMARK FOR ts AS ts - INTERVAL '5' SECOND",
    "TYPE-002": "CAST them to one type",
    "TYPE-005": "CAST it to STRING or to a number first, if that is what you mean",
    "TYPE-021": "CAST the column in one of the branches",
    "UNNEST-001": "make an array of it first: UNNEST(split(s, ','))",
}


#: How long a cause may be that is searched for secrets, in characters; of a longer one the beginning is shown.
_SEARCHED = 200_000


class SqlExtError(Exception):
    """A refusal or a failure, with its position in the user's text.

    Attributes:
        code: family and number, for instance ``TIME-002``; ``RUN-...`` is a failure at run time, ``WARN-...`` what
            ``check`` has found in a statement that runs all the same: such a one is never raised.
        message: what is wrong, one sentence, in the user's terms.
        hint: what to do about it, or None; some codes have one of their own where the place that raises has none.
        file: the file's name (``<sql>`` for text given as a string), or None if no text is at fault.
        line, column: 1-based position in that file as the user wrote it, or None.
        source_line: the line of text at that position, its secrets masked, or None.
    """

    def __init__(self, code: str, message: str, *, span: Span | None = None, hint: str | None = None) -> None:
        self.code = code
        self.message = message = _shown(message, span)
        hint = _HINTS.get(code) if hint is None else hint
        self.hint = None if hint is None else _shown(hint, span)
        self.span = span
        position = span.position if span is not None else None
        self.file = position.file if position else None
        self.line = position.line if position else None
        self.column = position.column if position else None
        self.source_line = position.source_line if position else None
        super().__init__(message)

    @property
    def severity(self) -> Literal["error", "warning"]:
        """Whether the statement runs all the same."""
        return "warning" if self.code.startswith("WARN-") else "error"

    def __str__(self) -> str:
        """Return ``file:line:col: CODE: message``, without position if there is none."""
        where = f"{self.file}:{self.line}:{self.column}: " if self.file else ""
        return f"{where}{self.code}: {self.message}"

    def render(self, width: int | None = None) -> str:
        """Return the message, the source line with a caret below the column, and the hint.

        Args:
            width: of the screen, in characters: a longer line is cut on both sides, or its caret would stand below
                another one.
        """
        lines = [str(self)]
        if self.source_line is not None and self.column is not None:
            line, column = _around(self.source_line, self.column, width)
            # Tabs stay tabs, so the caret is below its column whatever their width.
            lead = "".join("\t" if c == "\t" else " " for c in line[: column - 1])
            lines += [f"  {line}", f"  {lead}^"]
        if self.hint:
            lines.append(f"hint: {self.hint}")
        return "\n".join(lines)

    def _render_traceback_(self) -> list[str]:
        """Return what IPython shows of it: a mistake in SQL has no stack of Python."""
        return self.render().splitlines()

    def at(self, span: Span) -> SqlExtError:
        """Return this error with a position, if it has none yet."""
        if self.span is not None:
            return self
        return SqlExtError(self.code, self.message, span=span, hint=self.hint)


def _around(line: str, column: int, width: int | None) -> tuple[str, int]:
    """Return a line, or the part of it around a column that fits a screen, and the column in it."""
    room = max(10, (width or 0) - 3)  # behind two blanks; a terminal may wrap at its last column
    if width is None or len(line) <= room:
        return line, column
    begin = max(0, min(column - 1 - room // 2, len(line) - room))
    part = line[begin : begin + room].replace("\t", " ")
    if begin:
        part = f"\u2026{part[1:]}"
    if begin + room < len(line):
        part = f"{part[:-1]}\u2026"
    return part, column - begin


def _shown(text: str, span: Span | None) -> str:
    """Return a text without the secrets that it quotes: those of the user's text, and what has the form of one.

    Of one that quotes many megabytes, such as a row, the beginning is shown.
    """
    return in_short(text, lambda part: redact_message(part if span is None else span.source.without_secrets(part)))


def shown_cause(error: BaseException | None) -> BaseException | None:
    """Return the cause of an error as a traceback may show it: without secrets, and as it is where it has none."""
    told, seen = [], error
    while seen is not None and seen not in told:
        told.append(seen)
        seen = seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)
    texts = [text for cause in told for text in (str(cause), repr(cause))]
    if error is None or all(len(text) < _SEARCHED and redact_message(text) == text for text in texts):
        return error
    base = OSError if isinstance(error, OSError) else Exception
    made: BaseException = type(type(error).__name__, (base,), {"__module__": type(error).__module__})(
        in_short(str(error), redact_message)
    )
    return made.with_traceback(error.__traceback__)


def did_you_mean(name: str, candidates: Iterable[str]) -> str | None:
    """Return a hint naming up to three candidates close to ``name``, or None."""
    folded = {c.lower(): c for c in candidates}
    close = [folded[c] for c in difflib.get_close_matches(name.lower(), list(folded), n=3)]
    return f"did you mean {' or '.join(f'`{c}`' for c in close)}?" if close else None


def meant_or_listed(name: str, candidates: Iterable[str], kind: str) -> str:
    """Return a hint naming up to three candidates close to ``name``, or the statement that lists all of a kind.

    Args:
        name: what is not there.
        candidates: what is there.
        kind: what SHOW lists: ``TABLES``, ``DATABASES``.
    """
    return did_you_mean(name, candidates) or f"CREATE it before; SHOW {kind} lists what is there"


def counted(n: int, what: str) -> str:
    """Return a number of things in words: ``1 row``, ``2 rows``."""
    return f"{n} {what}{'' if n == 1 else 's'}"
