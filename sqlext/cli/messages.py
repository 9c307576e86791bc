"""Print errors: in colour on a terminal, or as JSON for editors and CI."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterable
from typing import Any

import click

from sqlext.errors import SqlExtError

_COLOURS = {"error": "red", "warning": "yellow"}


def tell(error: SqlExtError) -> None:
    """Print an error on standard error; in colour where that is a terminal."""
    width = shutil.get_terminal_size().columns if sys.stderr.isatty() else None
    click.echo(coloured(error, width), err=True)


def coloured(error: SqlExtError, width: int | None = None) -> str:
    """Return what ``error.render(width)`` gives, in colour; ``click.echo`` takes that away where nobody sees it."""
    lines = error.render(width).splitlines()
    colour = _COLOURS[error.severity]
    return "\n".join(
        [click.style(lines[0], fg=colour, bold=True), *(_coloured_line(line, colour) for line in lines[1:])]
    )


def _coloured_line(line: str, colour: str) -> str:
    if line.strip() == "^":
        return click.style(line, fg=colour, bold=True)
    return click.style(line, fg="cyan") if line.startswith("hint: ") else line


def as_json(errors: Iterable[SqlExtError]) -> str:
    """Return errors for editors and CI: an array of objects; lines and columns begin with 1, an end is behind."""
    return json.dumps([_fields(error) for error in errors], indent=2, ensure_ascii=False)


def _fields(error: SqlExtError) -> dict[str, Any]:
    end = error.span.source.position(error.span.end) if error.span is not None else None
    return {
        "file": error.file,
        "line": error.line,
        "column": error.column,
        "endLine": end.line if end else None,
        "endColumn": end.column if end else None,
        "severity": error.severity,
        "code": error.code,
        "message": error.message,
        "hint": error.hint,
    }
