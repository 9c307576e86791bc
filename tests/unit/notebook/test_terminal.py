"""IPython's prompt in a real terminal: cells of the magics have the colours of SQL."""

from __future__ import annotations

import sys
from pathlib import Path

from sqlext.notebook.terminal import coloured
from tests.cli.terminal import Terminal

CELL = "%%sqlext\nSELECT folder FROM events WHERE item = 'pen'"


def test_the_pieces_are_the_cell() -> None:
    for cell in (CELL, "\n%%sqlext -v A\nSELECT /* two\nlines */ 1, 'open", "%%sqlext", "%%sqlext\n\n"):
        assert "\n".join("".join(text for _, text in line) for line in coloured(cell)) == cell  # type: ignore[misc]


def test_a_cell_at_the_prompt(tmp_path: Path) -> None:
    env = {"IPYTHONDIR": str(tmp_path), "HOME": str(tmp_path)}
    command = [sys.executable, "-m", "IPython", "--no-banner", "--colors=linux"]
    with Terminal(command, env) as terminal:
        terminal.wait("In [1]:")
        # Without the extension the words of SQL are names of Python.
        terminal.type("%%sqlext")
        terminal.enter()
        terminal.type("SELECT one")
        terminal.wait("SELECT one")
        assert terminal.colours("SELECT") == terminal.colours("one")
        terminal.ctrl_c()
        terminal.enter()
        terminal.enter("%load_ext sqlext")
        terminal.wait("In [2]:")
        terminal.type(CELL.replace("\n", "\r"))
        terminal.wait("'pen'")
        colours = {word: terminal.colours(word) for word in ("folder", "WHERE", "'pen'")}
        assert colours["WHERE"] != colours["folder"]
        assert colours["'pen'"] not in (colours["WHERE"], colours["folder"])
        terminal.ctrl_c()
        terminal.enter("%unload_ext sqlext")
        terminal.enter("import IPython.terminal.interactiveshell as s; print('of', s.IPythonPTLexer.__module__)")
        terminal.wait("of IPython.terminal.ptutils")
