"""A folder of recorded cases: ``<area>/<name>/`` with script.sql, in/, expected/ and meta.json."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from .compare import Row, read_lines


@dataclass(frozen=True)
class Printed:
    """What one DESCRIBE or SHOW printed."""

    statement: str
    columns: list[str]
    rows: list[list[Any]]


@dataclass(frozen=True)
class Case:
    """One recorded script with the answer that counts."""

    folder: Path

    @property
    def area(self) -> str:
        """Return the folder above, for instance ``tvf_agg``."""
        return self.folder.parent.name

    @property
    def key(self) -> str:
        """Return ``area/name``."""
        return f"{self.area}/{self.folder.name}"

    @cached_property
    def meta(self) -> dict[str, Any]:
        """Return the flags that were recorded with the case."""
        meta: dict[str, Any] = json.loads((self.folder / "meta.json").read_text("utf-8"))
        return meta

    @cached_property
    def script(self) -> str:
        """Return the script, with our settings before it on its first line (so that lines stay)."""
        settings = {"sqlext.expressions": "flink"}
        # Where Flink gives out rows that it should take back, the right answer is the final state.
        if not self.meta["append_only"] or "flink_bug" in self.meta:
            settings["sqlext.sink.updates"] = "final-state"
        prefix = " ".join(f"SET '{k}' = '{v}';" for k, v in settings.items())
        return f"{prefix} {(self.folder / 'script.sql').read_text('utf-8')}"

    @property
    def reads_tables(self) -> bool:
        """Say whether the script reads any file; if not, there is nothing to stream."""
        return "${IN}" in self.script

    @property
    def refused(self) -> bool:
        """Say whether Flink refuses the script, or its job fails."""
        return bool(self.meta.get("expect_error"))

    @property
    def fails_late(self) -> bool:
        """Say whether Flink plans and starts the script, and the job fails."""
        return bool(self.meta.get("error_phase") == "run")

    @property
    def ignored_columns(self) -> list[str]:
        """Return the columns whose values differ from run to run."""
        return list(self.meta.get("nondeterministic_columns", []))

    @property
    def unrepeatable(self) -> str | None:
        """Return why nobody can get the recorded answer but by Flink's own timing, or None."""
        if self.meta.get("late_sensitive"):
            return "late_sensitive: depends on how far the watermark had moved for each record"
        if self.meta.get("two_source_race"):
            return "two_source_race: depends on how two sources interleave"
        return None

    def expected_rows(self) -> dict[str, list[Row]]:
        """Return the right rows per sink; where Flink itself is wrong, the corrected ones."""
        corrected = self.folder / "expected_correct"
        return rows_per_sink(corrected if corrected.is_dir() else self.folder / "expected")

    def expected_printed(self) -> list[Printed]:
        """Return what the script's DESCRIBE and SHOW statements printed, in their order."""
        return [_printed(path) for path in sorted(self.folder.glob("expected/stmt_*.json"))]


def find_cases(*roots: Path) -> list[Case]:
    """Return the cases below some folders, by area and name."""
    folders = (path.parent for root in roots for path in root.rglob("script.sql"))
    return sorted(map(Case, folders), key=lambda case: (case.key, case.folder))


def rows_per_sink(folder: Path) -> dict[str, list[Row]]:
    """Return the rows of each ``<sink>.json`` of a folder."""
    paths = (path for path in sorted(folder.glob("*.json")) if not path.name.startswith("stmt_"))
    return {path.stem: read_lines(path) for path in paths}


def _printed(path: Path) -> Printed:
    head, *rows = read_lines(path)
    return Printed(head["statement"], head["columns"], rows)
