"""The examples, and what they give: by the code that runs the tests of users."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sqlext.testing.runner import ScriptTest, output_of

FOLDER = Path(__file__).parents[2] / "sql_examples"
DATA = FOLDER / "data"
#: 01 needs the flights; tests/demo runs it.
DEMO = "01_flights"


def examples() -> list[Path]:
    """Return the scripts, in order."""
    return sorted(FOLDER.glob("*.sql"))


def expected_file(script: Path) -> Path:
    """Return where a script's expected output lies."""
    return ScriptTest(script).expected


def actual_output(script: Path, folder: Path, settings: Mapping[str, str] | None = None) -> str:
    """Run a script in an empty folder and return its output as text."""
    return output_of(ScriptTest(script), folder, {}, settings or {})
