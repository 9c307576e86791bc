"""Run tests for ``sqlext test``, and print how each went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from sqlext.testing.runner import Outcome, find_cases, run_cases

_COLOURS = {"ok": "green", "updated": "yellow", "differs": "red", "failed": "red"}


def run_tests(paths: Sequence[Path], variables: Mapping[str, str], settings: Mapping[str, str], *, update: bool) -> int:
    """Run tests, print how each went, and return the exit code.

    Raises:
        SqlExtError: TEST-003 if there are none.
    """
    outcomes = []
    for outcome in run_cases(find_cases(paths), variables, settings, update=update):
        outcomes.append(outcome)
        _print(outcome)
    wrong = sum(not outcome.well for outcome in outcomes)
    click.echo(f"{len(outcomes)} tests, {wrong} failed" if wrong else f"{len(outcomes)} tests, all well")
    return 1 if wrong else 0


def _print(outcome: Outcome) -> None:
    status = click.style(f"{outcome.status:<8}", fg=_COLOURS[outcome.status])
    click.echo(f"{status} {outcome.case.script} ({outcome.seconds:.1f} s)")
    for line in outcome.details.splitlines():
        click.echo(f"    {_coloured(line) if outcome.status == 'differs' else line}")


def _coloured(line: str) -> str:
    colour = {"+": "green", "-": "red"}.get(line[:1])
    return click.style(line, fg=colour) if colour else line
