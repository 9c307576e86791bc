"""One runner for the pages in docs: their blocks are done one after the other, in the folder in which a test stands.

What is done with a block, by the first line of its fence:

``<any> file=PATH``  it is written to PATH
``sql``              ``sqlext shell`` runs it, over the catalog ``.sqlext``, with IN=data and OUT=out
``sql check``        ``sqlext check`` has nothing to say of it; it sees the catalog and such blocks before
``sql refused``      ``sqlext check`` refuses it
``sh``               run line by line, ``sqlext`` in this process; ``# exit code 1`` says what a line returns
``console``          the same for lines that begin with ``$``; the others are lines of what they print, in any order
``python``           run, with ``spark``; paths in ``"data/..."`` are made absolute: the JVM has a folder of its own
``java``             another system's, only shown
``text``             what the block before gives: of ``sql`` all rows in any order (some of them if a line is ``...``),
                     of others some of the lines
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from click.testing import CliRunner

from sqlext.cli.main import main

DOCS = Path(__file__).parents[1] / "docs"
_BLOCK = re.compile(r"^```(\w+)(?: (?:file=(\S+)|(\w+)))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_EXIT_CODE = re.compile(r"# exit code (\d)")
_VARIABLES = ("-d", "IN=data", "-d", "OUT=out")


class Block(NamedTuple):
    """A block of code; ``file`` is where it is to be written, ``how`` the word behind its kind."""

    kind: str
    file: str
    how: str
    text: str


def blocks(page: str) -> Iterator[Block]:
    """Yield the blocks of a page of docs."""
    return (Block(*found) for found in _BLOCK.findall((DOCS / page).read_text("utf-8")))


@dataclass
class Reader:
    """Does what a page says.

    Args:
        begin: options of ``sqlext shell`` for each block of SQL.
        names: what blocks of Python know.
        programs: where an environment has its programs; it runs the commands in place of this process.
    """

    begin: Sequence[str] = ()
    names: dict[str, Any] = field(default_factory=dict)
    programs: Path | None = None
    _output: str = field(default="", init=False)
    _rows: bool = field(default=False, init=False)
    _checked: str = field(default="", init=False)

    def read(self, page: str) -> list[Block]:
        """Do all blocks of a page and return them."""
        found = list(blocks(page))
        for block in found:
            self.do(block)
        return found

    def do(self, block: Block) -> None:
        """Do a block; those before it were done."""
        if block.file:
            Path(block.file).parent.mkdir(parents=True, exist_ok=True)
            Path(block.file).write_text(block.text, "utf-8")
        elif block.kind == "text":
            self._compare(block.text)
        elif block.kind == "python":
            self._rows, self._output = False, self._execute(block.text)
        elif block.kind == "console":
            self._rows, self._output = False, self._console(block.text)
        elif block.kind == "sh":
            self._rows, self._output = False, "\n".join(map(self._ran, block.text.splitlines()))
        elif block.how:
            self._rows, self._output = False, self._check(block)
        elif block.kind != "java":
            assert block.kind == "sql", block
            self._rows, self._output = True, self._run(block.text)

    def _console(self, text: str) -> str:
        lines = text.splitlines()
        output = "\n".join(self._ran(line[2:]) for line in lines if line.startswith("$ "))
        printed = [line.split() for line in output.splitlines()]
        told = [line for line in lines if line.strip() and not line.startswith("$ ")]
        assert told, text
        assert [line for line in told if line.split() not in printed] == [], output
        return output

    def _execute(self, text: str) -> str:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(text.replace('"data/', f'"{Path.cwd()}/data/'), self.names)
        return printed.getvalue()

    def _ran(self, line: str) -> str:
        return ran(line) if self.programs is None else ran_elsewhere(line, self.programs)

    def _run(self, text: str) -> str:
        words = ["shell", "-S", "--format", "markdown", *_VARIABLES, *self.begin, "-e", text]
        if self.programs is not None:
            return ran_elsewhere(shlex.join(["sqlext", *words]), self.programs)
        done = CliRunner().invoke(main, words)
        assert done.exit_code == 0, f"{text}\n{done.output}"
        return done.stdout

    def _check(self, block: Block) -> str:
        Path("before.sql").write_text(self._checked, "utf-8")
        Path("query.sql").write_text(block.text, "utf-8")
        done = CliRunner().invoke(main, ["check", "query.sql", "-i", "before.sql", *_VARIABLES])
        assert done.exit_code == {"check": 0, "refused": 1}[block.how], f"{block.text}\n{done.output}{done.exception!r}"
        if block.how == "check":
            self._checked += block.text
        return done.output

    def _compare(self, text: str) -> None:
        if not self._rows:
            missing = [line for line in text.splitlines() if line not in self._output]
            assert not missing, f"{missing} is not in\n{self._output}"
            return
        told, given = rows(text), rows(self._output)
        if ["..."] in told:
            assert [row for row in told if row not in (*given, ["..."])] == [], self._output
        else:
            assert sorted(told) == sorted(given), self._output


def rows(table: str) -> list[list[str]]:
    """Return the cells of a table whose columns stand between ``|``; lines inside of a cell are rows of their own."""
    lines = table.replace("<br>", "\n").splitlines()
    found = [[cell.strip() for cell in line.strip("| ").split("|")] for line in lines if line.strip()]
    return [cells for cells in found if set("".join(cells)) != {"-"}]


def ran(line: str) -> str:
    """Run a line of a shell block, ``sqlext`` in this process, and return what it prints."""
    before, pipe, after = line.partition(" | ")
    words = shlex.split(after if pipe else before, comments=True)
    if words[0] != "sqlext":
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        done = subprocess.run(["bash", "-ec", line], capture_output=True, text=True, env={**os.environ, "PATH": path})
        assert done.returncode == 0, done.stderr
        return done.stdout
    result = CliRunner().invoke(main, words[1:], input=shlex.split(before)[1] if pipe else "")
    code = _EXIT_CODE.search(line)
    assert result.exit_code == (int(code.group(1)) if code else 0), f"{line}\n{result.output}"
    return result.output


def ran_elsewhere(line: str, programs: Path) -> str:
    """Run a line by the programs of another environment, without this one's, and return what it prints."""
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "SPARK_HOME", "VIRTUAL_ENV")}
    env["PATH"] = f"{programs}:/usr/local/bin:/usr/bin:/bin"
    done = subprocess.run(["bash", "-ec", line], input="", capture_output=True, text=True, env=env)
    code = _EXIT_CODE.search(line)
    assert done.returncode == (int(code.group(1)) if code else 0), f"{line}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr
