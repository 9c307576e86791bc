"""Print errors: in colour on a terminal, or as JSON for editors and CI."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import click

from sqlext.errors import SqlExtError

_COLOURS = {"error": "red", "warning": "yellow"}


def tell(error: SqlExtError) -> None:
    """Print an error on standard error; in colour where that is a terminal."""
    click.echo(coloured(error), err=True)


def coloured(error: SqlExtError) -> str:
    """Return what ``error.render()`` gives, with colours; ``click.echo`` takes them away where nobody sees them."""
    lines = error.render().splitlines()
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
