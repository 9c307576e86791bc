"""Keep source texts, and turn an offset into a line and a column."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from sqlext.remembered import SHORTEST
from sqlext.secrets import HIDDEN, is_secret, masked, secret_ranges


class Position(NamedTuple):
    """A 1-based place in a file, and the text of its line, secrets masked."""

    file: str
    line: int
    column: int
    source_line: str


class Substitution(NamedTuple):
    """A ``${NAME}`` replaced before parsing: its place before and after, in characters; no name for any other text."""

    original_start: int
    original_end: int
    start: int
    end: int
    name: str = ""


# Compared by identity: spans compare their sources, and a source may be long.
@dataclass(frozen=True, eq=False)
class SourceText:
    """A script, or the text of a stored view.

    ``text`` is what is parsed, after ``${NAME}`` substitution; ``original`` is what the user wrote.
    Offsets are of ``text``, in characters; positions are of ``original``.
    """

    name: str
    text: str
    original: str
    substitutions: tuple[Substitution, ...] = ()

    @classmethod
    def of(cls, text: str, name: str = "<sql>") -> SourceText:
        """Return a source without substitutions."""
        return cls(name, text, text)

    def span(self, start: int, end: int) -> Span:
        """Return the half-open range [start, end) of ``text``."""
        return Span(self, start, end)

    def position(self, offset: int) -> Position:
        """Return where the character at ``offset`` of ``text`` stands in the user's file."""
        original = self.original_offset(offset)
        line = bisect_right(self._line_starts, original) - 1
        start = self._line_starts[line]
        end = self._shown.find("\n", start)
        # Lines are cut at line feeds alone, so a file of Windows leaves its carriage return here.
        source_line = self._shown[start : end if end >= 0 else len(self._shown)]
        return Position(self.name, line + 1, original - start + 1, source_line.rstrip("\r"))

    def reworded(self, span: Span, text: str) -> Span:
        """Return a text that stands for what the user wrote at a span: positions in it are that place."""
        start, end = self.original_offset(span.start), self.original_offset(span.end)
        source = SourceText(self.name, text, self.original, (Substitution(start, end, 0, len(text)),))
        return source.span(0, len(text))

    def part(self, start: int, end: int) -> SourceText:
        """Return the range [start, end) of ``text`` as a source of its own, whose positions are those of this one."""
        begin, stop = self.original_offset(start), self.original_offset(end)
        line = bisect_right(self._line_starts, begin) - 1
        # Empty lines and blanks in place of what stands before: the rest of a long text is not kept with each part.
        lead = "\n" * line + " " * (begin - self._line_starts[line])
        shift, moved = len(lead) - begin, []
        for s in self.substitutions:
            if start <= s.start and s.end <= end:
                places = (s.original_start + shift, s.original_end + shift, s.start - start, s.end - start)
                moved.append(Substitution(*places, s.name))
        before = Substitution(0, len(lead), 0, 0)
        return SourceText(self.name, self.text[start:end], lead + self.original[begin:stop], (before, *moved))

    def original_offset(self, offset: int) -> int:
        """Return where the character at ``offset`` of ``text`` stands in ``original``."""
        before = bisect_right(self._ends, offset)
        if before < len(self.substitutions) and self.substitutions[before].start <= offset:
            # Within a value the place is the ${NAME} that the user wrote.
            return self.substitutions[before].original_start
        last = self.substitutions[before - 1] if before else None
        shift = last.original_end - last.end if last is not None else 0
        return min(offset + shift, len(self.original))

    def without_secrets(self, message: str) -> str:
        """Return a message with the secrets of this text hidden, where it quotes them."""
        return self._secrets.sub(HIDDEN, message) if self._secrets is not None else message

    def offset_of(self, original: int) -> int:
        """Return where the character at an offset of ``original`` stands in ``text``; the inverse of the above."""
        shift = 0
        for s in self.substitutions:
            if original < s.original_start:
                break
            if original < s.original_end:
                return s.start
            shift = s.end - s.original_end
        return max(0, min(original + shift, len(self.text)))

    @cached_property
    def _shown(self) -> str:
        """The user's text with its secrets masked: carets stay at their places."""
        return masked(self.original)

    @cached_property
    def _secrets(self) -> re.Pattern[str] | None:
        """The secrets of the text, None if there are none; a name such as `password` says nothing in a message."""
        found = {self.text[start:end] for start, end in secret_ranges(self.text)}
        telling = sorted((re.escape(s) for s in found if len(s) >= SHORTEST and not is_secret(s)), reverse=True)
        # A password that is also the name of a host or a user is a word that everybody reads: it hides nothing there.
        readable = masked(self.text)
        telling = [s for s in telling if re.search(rf"(?<!\w){s}(?!\w)", readable) is None]
        return re.compile(rf"(?<!\w)(?:{'|'.join(telling)})(?!\w)") if telling else None

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.original))]

    @cached_property
    def _ends(self) -> list[int]:
        """Where values of variables end, in order."""
        return [s.end for s in self.substitutions]


@dataclass(frozen=True, slots=True)
class Span:
    """The half-open range [start, end) of a source's text."""

    source: SourceText
    start: int
    end: int

    @property
    def text(self) -> str:
        """The user's text, verbatim."""
        return self.source.text[self.start : self.end]

    @property
    def one_line(self) -> str:
        """The user's text with its white space as single blanks, to be shown in a line."""
        return " ".join(self.text.split())

    @property
    def position(self) -> Position:
        """Where the range begins, for messages."""
        return self.source.position(self.start)

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the ``${NAME}`` that have a value in this range, in order, each once."""
        inside = (s for s in self.source.substitutions if s.start < self.end and self.start < s.end)
        return tuple(dict.fromkeys(s.name for s in inside if s.name))

    def to(self, other: Span) -> Span:
        """Return the range from the start of this one to the end of ``other``."""
        return Span(self.source, self.start, other.end)
