"""The examples, and what they give: by the code that runs the tests of users."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from sqlext.testing.runner import ScriptTest, output_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FOLDER = Path(__file__).parents[2] / "sql_examples"
DATA = FOLDER / "data"
#: 01 needs the flights; tests/demo runs it.
DEMO = "01_flights"
#: The variables that name servers, and the fixtures that start them.
SERVERS = {"KAFKA": "broker", "REGISTRY": "registry", "SEARCH": "search_address"}


def examples() -> list[Path]:
    """Return the scripts, in order."""
    return sorted(FOLDER.glob("*.sql"))


def servers(script: Path) -> list[str]:
    """Return the variables of a script that name servers."""
    text = script.read_text("utf-8")
    return [name for name in SERVERS if f"${{{name}}}" in text]


def expected_file(script: Path) -> Path:
    """Return where a script's expected output lies."""
    return ScriptTest(script).expected


def actual_output(
    script: Path,
    folder: Path,
    settings: Mapping[str, str] | None = None,
    variables: Mapping[str, str] | None = None,
    spark: SparkSession | None = None,
) -> str:
    """Run a script in an empty folder and return its output as text."""
    return output_of(ScriptTest(script), folder, variables or {}, settings or {}, spark)
