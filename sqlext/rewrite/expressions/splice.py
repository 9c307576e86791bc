"""Replacing parts of a text by offset, the rest copied verbatim."""

from __future__ import annotations

from collections.abc import Iterable

from sqlext.source import Span


def splice(span: Span, edits: Iterable[tuple[Span, str]]) -> str:
    """Return the text of ``span`` with the given inner spans replaced.

    Args:
        span: what to copy.
        edits: spans inside it that do not overlap, in any order, and their new texts.
    """
    text = span.source.text
    pieces: list[str] = []
    position = span.start
    for inner, new in sorted(edits, key=lambda edit: edit[0].start):
        pieces += (text[position : inner.start], new)
        position = inner.end
    pieces.append(text[position : span.end])
    return "".join(pieces)
