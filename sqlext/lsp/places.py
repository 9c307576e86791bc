"""Translate between a project's documents and an editor's: names and URIs, offsets and positions."""

from __future__ import annotations

from pathlib import Path

from lsprotocol import types
from pygls.uris import from_fs_path, to_fs_path
from pygls.workspace import TextDocument, Workspace

from sqlext.session.editing.project import DocumentRange


def name_of(uri: str) -> str:
    """Return the name of a document: its path, or the URI of one that lies in no file."""
    path = to_fs_path(uri) if uri.startswith("file:") else None
    return str(Path(path).resolve()) if path else uri


class Places:
    """The open documents of an editor, by the names that the project has for them."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._uris: dict[str, str] = {}

    def opened(self, uri: str) -> str:
        """Remember under which URI a document is open, and return its name."""
        name = name_of(uri)
        self._uris[name] = uri
        return name

    def uri_of(self, name: str) -> str:
        """Return the URI of a document, as the editor knows it."""
        return self._uris.get(name) or from_fs_path(name) or name

    def document(self, name: str) -> TextDocument:
        """Return the text of a document, that of its file if it is not open."""
        return self._workspace.get_text_document(self.uri_of(name))

    def offset(self, name: str, position: types.Position) -> int:
        """Return the offset of a position; one behind its line is the line's end."""
        document = self.document(name)
        lines = document.source.split("\n")
        if position.line >= len(lines):
            return len(document.source)
        line, codec = lines[position.line], document.position_codec
        inside = types.Position(0, min(position.character, codec.client_num_units(line)))
        before = sum(len(earlier) + 1 for earlier in lines[: position.line])
        return before + codec.position_from_client_units([line], inside).character

    def range(self, name: str, start: int, end: int) -> types.Range:
        """Return the positions of a range of characters."""
        document = self.document(name)
        return types.Range(_position(document, start), _position(document, end))

    def location(self, found: DocumentRange) -> types.Location:
        """Return a range with its document."""
        return types.Location(self.uri_of(found.document), self.range(found.document, found.start, found.end))


def _position(document: TextDocument, offset: int) -> types.Position:
    text = document.source
    line = text.count("\n", 0, offset)
    before = text[text.rfind("\n", 0, offset) + 1 : offset]
    return types.Position(line, document.position_codec.client_num_units(before))
