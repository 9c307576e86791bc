"""Run queries that never end step by step: add rows, move a clock of their own, read the changes.

A file of steps has a JSON object a line. ``"clock"`` moves processing time to that time (UTC). Any other key is a
folder below ``${IN}``, which gets a file with the rows: objects are JSON lines, texts are lines as they are.

    {"clock": "2024-01-01 00:00:00", "orders": [{"item": "pen", "ts": "2024-01-01 00:00:05"}]}
    {"clock": "2024-01-01 00:00:30"}

The clock moves first, then rows come, folder by folder. Each is worked off before the next begins, so the outcome does
not depend on the speed of the machine.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlext.errors import SqlExtError
from sqlext.session.offline.compilation import read_text
from sqlext.testing.render import result_title, section
from sqlext.testing.scripts import shown_result, whole_output

if TYPE_CHECKING:
    from sqlext.jobs.result import Result
    from sqlext.session.api import Session
    from sqlext.sinks.live_rows import LiveRows

_CLOCK = "clock"


@dataclass(frozen=True)
class InputStep:
    """Inputs between two looks at the results: ``clock`` in ms since 1970 UTC, lines by folder."""

    clock: int | None
    lines: Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class StepFolders:
    """The folders of a run: ``inputs`` is ``${IN}``, ``clock`` the session's clock (``sqlext.clock``)."""

    inputs: Path
    clock: Path

    def prepare(self, steps: Iterable[InputStep]) -> None:
        """Make the folders, and let the clock begin: where the first step says, or in 1970."""
        steps = list(steps)
        for name in {name for step in steps for name in step.lines}:
            (self.inputs / name).mkdir(parents=True, exist_ok=True)
        self.clock.mkdir(parents=True, exist_ok=True)
        first = steps[0].clock if steps else None
        self.put(self.clock, [str(first or 0)])

    def put(self, folder: Path, lines: Sequence[str]) -> None:
        """Write a file, in place in one step."""
        draft = self.clock.with_name("draft")  # beside the folders, where no query reads
        draft.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        draft.replace(folder / f"step-{len(list(folder.iterdir())):05}")


def read_steps(file: Path) -> list[InputStep]:
    """Return the steps of a file.

    Raises:
        SqlExtError: TEST-002 for a line that is none; RUN-011.
    """
    numbered = enumerate(read_text(file).splitlines(), 1)
    return [_step(line, f"{file}:{number}") for number, line in numbered if line.strip()]


def stepped_output(
    session: Session, script: Path, variables: Mapping[str, str], steps: Sequence[InputStep], stage: StepFolders
) -> str:
    """Run a script, take the steps, and return what each of them gave; the stage must be prepared.

    Raises:
        SqlExtError: as ``Session.run``; why a query failed.
    """

    def shown() -> list[str]:
        results = session.run(script, variables=variables)
        try:
            return _taken(results, steps, stage)
        finally:
            session.stop()

    return whole_output(session, script, shown)


def _taken(results: Sequence[Result], steps: Sequence[InputStep], stage: StepFolders) -> list[str]:
    numbered = list(enumerate((r for r in results if r.columns), 1))
    sections = [shown_result(n, r) for n, r in numbered if r.query is None or r.query.bounded]
    followed = [(n, r, live) for n, r in numbered if _is_endless(r) and (live := r.live()) is not None]
    running = [r for r in results if _is_endless(r)]
    _settle(running)  # the first step must not meet queries that are still starting
    for number, step in enumerate(steps, 1):
        if step.clock is not None and number > 1:  # ``prepare`` has set the clock to the first step's
            stage.put(stage.clock, [str(step.clock)])
            _settle(running)
        for folder, lines in step.lines.items():
            stage.put(stage.inputs / folder, lines)
            _settle(running)
        sections += [_changes(number, n, r, live) for n, r, live in followed]
    return sections


def _changes(step: int, number: int, result: Result, live: LiveRows) -> str:
    rows = [(operation, *row) for operation, row in live.take()]
    return section(f"step {step}: {result_title(number, result.statement)}", ("op", *result.columns), rows)


def _is_endless(result: Result) -> bool:
    return result.query is not None and not result.query.bounded


def _settle(running: Iterable[Result]) -> None:
    for result in running:
        assert result.query is not None
        result.query.process_available()


def _step(line: str, place: str) -> InputStep:
    try:
        fields: Any = json.loads(line)
        lines = {name: [_line(row) for row in rows] for name, rows in fields.items() if name != _CLOCK}
        return InputStep(_millis(fields.get(_CLOCK)), lines)
    except (ValueError, AttributeError, TypeError) as error:
        hint = '{"clock": "2024-01-01 00:00:00", "orders": [{"item": "pen"}]}'
        raise SqlExtError(
            "TEST-002", f"{place}: this is no step: {error}", hint=f"a line is for instance {hint}"
        ) from error


def _line(row: object) -> str:
    return row if isinstance(row, str) else json.dumps(row, ensure_ascii=False)


def _millis(text: str | None) -> int | None:
    if text is None:
        return None
    return round(datetime.fromisoformat(text).replace(tzinfo=timezone.utc).timestamp() * 1000)
