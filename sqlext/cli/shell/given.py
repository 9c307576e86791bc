"""Run what is given without a prompt: statements, and between them commands of the shell."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sqlext.cli.shell.commands import command
from sqlext.dialect.script import split_script, statement_start

if TYPE_CHECKING:
    from sqlext.cli.shell.runner import Shell


def run_given(shell: Shell, text: str) -> bool:
    """Run a text up to the first that goes wrong; return whether all went well.

    A command stands where a statement could begin, up to the end of its line. Statements between two commands are
    sent together.

    Raises:
        Leave: at ``.quit``.
    """
    at = 0
    while at < len(text):
        begin, end, action = _next_command(text, at, shell.session.settings.expressions)
        # Empty lines stand for what has been run, so that messages name the lines of the whole text.
        before = "\n" * text.count("\n", 0, at)
        # A line that ends in .sql would be a file's name.
        well = not text[at:begin].strip() or shell.run(f"{before}{text[at:begin]}\n")
        if not well or (action is not None and not action(shell)):
            return False
        at = end
    return True


def _next_command(text: str, at: int, mode: str) -> tuple[int, int, Callable[[Shell], bool] | None]:
    """Return where the next command begins and ends, and what it does; the end of the text where none follows."""
    for start, end in split_script(text[at:], mode):
        begin = at + statement_start(text[at:], start, end, mode)
        # A bare word is a command if it is a whole statement; what has a dot in front ends with its line.
        stop = at + end
        if text[begin : begin + 1] in (".", "\\"):
            stop = found if (found := text.find("\n", begin)) >= 0 else len(text)
        action = command(text[begin:stop])
        if action is not None:
            return begin, stop, action
    return len(text), len(text), None
