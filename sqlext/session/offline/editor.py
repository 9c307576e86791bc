"""What an editor asks a session about a text that somebody is writing. Starts no Spark and changes nothing."""

from __future__ import annotations

from collections.abc import Iterator

from sqlext.dialect.pieces import Piece, pieces
from sqlext.dialect.script import is_complete
from sqlext.session.offline.completion import Candidate, candidates
from sqlext.session.state import SessionState


class Editor:
    """A session's answers; they follow its catalog and its settings."""

    def __init__(self, state: SessionState) -> None:
        self._state = state

    def is_complete(self, text: str) -> bool:
        """Whether a text ends where a statement ends: with a semicolon, outside of strings, comments and sets."""
        return is_complete(text, self._state.settings.expressions)

    def pieces(self, text: str) -> Iterator[Piece]:
        """Yield a text in pieces to colour; together they are the text."""
        return pieces(text, self._state.settings.expressions)

    def candidates(self, text: str, at: int) -> list[Candidate]:
        """Return what can stand at offset ``at`` of a text, the likeliest first."""
        return candidates(text, at, self._state)
