"""Find the scripts that are tests, run them, and compare their output with the expected one."""

from __future__ import annotations

import difflib
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from sqlext.errors import SqlExtError
from sqlext.locations import local_file
from sqlext.session.offline.checking import sql_files
from sqlext.session.offline.compilation import read_text
from sqlext.testing.scripts import script_output
from sqlext.testing.steps import StepFolders, read_steps, stepped_output

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Status = Literal["ok", "updated", "differs", "failed"]


@dataclass(frozen=True)
class ScriptTest:
    """A test: a script, beside it what it is to give (``.out``) and, if it never ends, what it gets (``.steps``)."""

    script: Path

    @property
    def expected(self) -> Path:
        """The file of the expected output."""
        return self.script.with_suffix(".out")

    @property
    def steps(self) -> Path:
        """The file of the steps, which need not be there."""
        return self.script.with_suffix(".steps")

    @property
    def data(self) -> Path:
        """The folder of its input, which need not be there."""
        return self.script.parent / "data"


@dataclass(frozen=True)
class Outcome:
    """The outcome of a test; ``details`` is a diff, or why it failed."""

    case: ScriptTest
    status: Status
    seconds: float
    details: str = ""

    @property
    def well(self) -> bool:
        """Whether it gave what it was to give."""
        return self.status in ("ok", "updated")


def find_cases(paths: Iterable[Path]) -> list[ScriptTest]:
    """Return the tests among files and folders: of a folder the scripts that have an ``.out``, and any file named.

    Raises:
        SqlExtError: RUN-012, TEST-003 where there is none; RUN-014 for a URL.
    """
    paths = list(map(local_file, paths))
    named = {path for path in paths if not path.is_dir()}
    cases = [ScriptTest(script) for script in sql_files(paths)]
    found = [case for case in cases if case.script in named or case.expected.is_file()]
    if not found:
        where = ", ".join(map(str, paths))
        hint = "name the scripts, with --update, to write what they give now"
        raise SqlExtError("TEST-003", f"no script in {where} has an .out file beside it", hint=hint)
    return found


def run_cases(
    cases: Iterable[ScriptTest], variables: Mapping[str, str], settings: Mapping[str, str], *, update: bool
) -> Iterator[Outcome]:
    """Run tests one after the other, each with a catalog and an ``${OUT}`` of its own.

    Args:
        variables: of the scripts; ``IN`` is the folder ``data`` beside the script if it is not among them.
        settings: as of ``connect``.
        update: write what the scripts give in place of comparing it.
    """
    for case in cases:
        began = time.monotonic()
        status, details = _run(case, variables, settings, update=update)
        yield Outcome(case, status, time.monotonic() - began, details)


def _run(
    case: ScriptTest, variables: Mapping[str, str], settings: Mapping[str, str], *, update: bool
) -> tuple[Status, str]:
    try:
        with tempfile.TemporaryDirectory(prefix="sqlext-test-") as folder:
            actual = output_of(case, Path(folder), variables, settings)
        expected = read_text(case.expected) if case.expected.is_file() else None
    except SqlExtError as error:
        return "failed", error.render()
    if actual == expected:
        return "ok", ""
    if update:
        case.expected.write_text(actual, encoding="utf-8")
        return "updated", ""
    if expected is None:
        return "failed", f"there is no {case.expected}\nhint: --update writes it"
    return "differs", _difference(expected, actual, case.expected)


def output_of(
    case: ScriptTest,
    folder: Path,
    variables: Mapping[str, str],
    settings: Mapping[str, str],
    spark: SparkSession | None = None,
) -> str:
    """Run a test in an empty folder and return what it gives; its folders stand as ``${IN}`` and ``${OUT}``.

    Args:
        spark: as of ``connect``.

    Raises:
        SqlExtError: why it failed.
    """
    import sqlext

    stepped = case.steps.is_file()
    inputs = folder / "in" if stepped else case.data
    given = {"IN": str(inputs.absolute()), "OUT": str(folder / "out"), **variables}
    if not stepped:
        session = sqlext.connect(spark, folder / "catalog", settings=settings)
        text = script_output(session, case.script, given)
    else:
        stage, steps = StepFolders(inputs, folder / "clock"), read_steps(case.steps)
        if case.data.is_dir():
            shutil.copytree(case.data, inputs)  # steps add files, which must not stay beside the script
        stage.prepare(steps)
        session = sqlext.connect(spark, folder / "catalog", settings={**settings, "sqlext.clock": str(stage.clock)})
        text = stepped_output(session, case.script, given, steps, stage)
    # Paths stand in SHOW CREATE TABLE and in errors; the expected file must not depend on the machine.
    return text.replace(given["IN"], "${IN}").replace(given["OUT"], "${OUT}")


def _difference(expected: str, actual: str, file: Path) -> str:
    lines = difflib.unified_diff(
        expected.splitlines(), actual.splitlines(), f"{file} (expected)", "what it gives", lineterm=""
    )
    return "\n".join(lines)
