"""Commands on the pages are taken by the command line as they stand; nothing runs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from IPython.core.magic_arguments import parse_argstring

from sqlext.cli.main import main
from sqlext.notebook.magics import SqlextMagics
from sqlext.session.offline.commands import check_file
from tests.markdown import PAGES, ROOT, blocks, indented, shown

_EXTRAS = re.compile(r"sqlext-spark\[([\w,]+)\]")
_EXTRA = re.compile(r"^(\w+) = \[", re.MULTILINE)


def commands(text: str) -> Iterator[list[str]]:
    """Yield the words behind ``sqlext`` of each command of a page."""
    fenced = (block.text for block in blocks(text) if block.language in ("sh", "bash", "console"))
    for line in "\n".join([*fenced, *indented(text)]).splitlines():
        # Of a pipe the last part; what a file gets is none of the command.
        command = line.removeprefix("$ ").rpartition(" | ")[2].partition(" > ")[0]
        if command.startswith("sqlext "):
            yield shlex.split(command, comments=True)[1:]


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_commands_are_taken(page: Path) -> None:
    for words in commands(page.read_text("utf-8")):
        context = click.Context(main, info_name="sqlext")
        name, command, arguments = main.resolve_command(context, list(words))
        assert command is not None
        command.make_context(name, arguments, parent=context)


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_extras_are_there(page: Path) -> None:
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    there = set(_EXTRA.findall(project.partition("[project.optional-dependencies]")[2].partition("\n[")[0]))
    named = {extra for found in _EXTRAS.findall(page.read_text("utf-8")) for extra in found.split(",")}
    assert named - there == set()


def test_pages_have_commands() -> None:
    counts = {shown(page): len(list(commands(page.read_text("utf-8")))) for page in PAGES}
    for page, least in {"README.md": 8, "docs/shell.md": 12, "docs/dbt.md": 1, "docs/notebook.md": 2}.items():
        assert counts[page] >= least, page


def test_cells_of_the_notebook_page() -> None:
    cells = [b for b in indented((ROOT / "docs" / "notebook.md").read_text("utf-8")) if b.lstrip().startswith("%")]
    assert [cell.split()[0] for cell in cells] == ["%load_ext", "%%sqlext", "%sqlext_plot"]
    line, _, sql = cells[1].lstrip().partition("\n")
    options = parse_argstring(SqlextMagics.sqlext, line.removeprefix("%%sqlext "))
    names = dict(define.split("=") for define in options.define)
    variables = {**names, **{variable.partition("=")[0]: "folder" for variable in options.variable}}
    assert [e for e in check_file(sql, variables) if e.severity == "error"] == []
