"""Colour cells of the magics at IPython's prompt, where no front end does."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sqlext.dialect.pieces import PieceKind, pieces

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell
    from prompt_toolkit.document import Document
    from prompt_toolkit.formatted_text import StyleAndTextTuples

#: Names of Pygments, whose style IPython uses.
_STYLES: dict[PieceKind, str] = {
    "keyword": "keyword",
    "function": "name.function",
    "name": "name",
    "quoted": "name",
    "string": "literal.string",
    "number": "literal.number",
    "symbol": "operator",
    "comment": "comment",
    "space": "text",
}
_MAGIC = "class:pygments.name.decorator"


class CellLexer:
    """Gives the pieces of a cell their colours; its first line is the magic."""

    def lex_document(self, document: Document) -> Callable[[int], StyleAndTextTuples]:
        """Return the coloured pieces of each line."""
        lines = coloured(document.text)
        return lambda number: lines[number] if number < len(lines) else []


def coloured(cell: str) -> list[StyleAndTextTuples]:
    """Return the lines of a cell as pieces with their styles."""
    blank = len(cell) - len(cell.lstrip())
    end = cell.find("\n", blank)
    head, sql = (cell, "") if end < 0 else (cell[:end], cell[end:])
    lines: list[StyleAndTextTuples] = [[(_MAGIC, line)] for line in head.split("\n")]
    for piece in pieces(sql):
        first, *others = piece.text.split("\n")
        style = f"class:pygments.{_STYLES[piece.kind]}"
        lines[-1].append((style, first))
        lines += [[(style, other)] for other in others]
    return lines


def colour(shell: InteractiveShell) -> None:
    """Colour cells of ours at the prompt of a terminal; other front ends have no prompt here."""
    if getattr(shell, "pt_app", None) is None:
        return
    # IPython makes a lexer for each prompt, which knows a few magics of its own alone.
    module = _of_prompts()
    if not hasattr(module.IPythonPTLexer, "without_sqlext"):
        module.IPythonPTLexer = _with_cells(module.IPythonPTLexer)


def uncolour() -> None:
    """Give IPython its own lexer back."""
    module = _of_prompts()
    module.IPythonPTLexer = getattr(module.IPythonPTLexer, "without_sqlext", module.IPythonPTLexer)


def _of_prompts() -> Any:
    from IPython.terminal import interactiveshell

    return interactiveshell


def _with_cells(usual: type) -> type:
    class Lexer(usual):  # type: ignore[misc]
        without_sqlext = usual

        def __init__(self) -> None:
            super().__init__()
            self.magic_lexers["sqlext"] = CellLexer()

    return Lexer
