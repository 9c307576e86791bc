"""The examples, and what they give: by the code that runs the tests of users."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sqlext.testing.scripts import script_output

if TYPE_CHECKING:
    from sqlext.execution.session import Session

FOLDER = Path(__file__).parents[2] / "sql_examples"
DATA = FOLDER / "data"
#: 01 needs the flights; tests/demo runs it.
DEMO = "01_flights"


def examples() -> list[Path]:
    """Return the scripts, in order."""
    return sorted(FOLDER.glob("*.sql"))


def expected_file(script: Path) -> Path:
    """Return where a script's expected output lies."""
    return script.with_suffix(".out")


def actual_output(session: Session, script: Path, out: Path) -> str:
    """Run a script and return its output as text; the folders of this run stand as ``${IN}`` and ``${OUT}``."""
    text = script_output(session, script, {"IN": str(DATA), "OUT": str(out)})
    return text.replace(str(DATA), "${IN}").replace(str(out), "${OUT}")
