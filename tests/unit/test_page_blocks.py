"""Blocks of code on the pages are what their fences say."""

from __future__ import annotations

import ast
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from sqlext.dialect.script import parse_script
from sqlext.dialect.variables import substitute
from tests.markdown import PAGES, Block, blocks, shown

#: Blocks that are wrong on purpose.
WRONG = {"file=jobs/wrong.sql", "refused"}
VARIABLES = {"IN": "in", "OUT": "out"}


def python(text: str) -> None:
    ast.parse(text)


def sql(text: str) -> None:
    if "{{" not in text:  # a model of dbt
        list(parse_script(substitute(text, VARIABLES), "spark", unparsed=True))


def json_(text: str) -> None:
    try:
        json.loads(text)
    except json.JSONDecodeError:  # an object a line
        for line in text.splitlines():
            json.loads(line)


def shell(text: str) -> None:
    subprocess.run(["bash", "-n"], input=text, text=True, check=True, capture_output=True)


def console(text: str) -> None:
    """Lines that begin with ``$`` are commands, all others are what they print."""
    commands = [line[2:] for line in text.splitlines() if line.startswith("$ ")]
    assert commands, text
    shell("\n".join(commands))


CHECKS: dict[str, Callable[[str], None]] = {
    "python": python, "sql": sql, "json": json_, "sh": shell, "bash": shell, "console": console,
}  # fmt: skip
#: Languages of which only the name is checked.
SHOWN = {"", "text", "yaml", "toml", "java", "lua", "mermaid", "make"}


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_blocks_parse(page: Path) -> None:
    for block in blocks(page.read_text("utf-8")):
        check(block)


def check(block: Block) -> None:
    if block.language in CHECKS:
        if block.words not in WRONG:
            CHECKS[block.language](block.text)
    else:
        assert block.language in SHOWN, block.language
