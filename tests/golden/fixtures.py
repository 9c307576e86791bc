"""Pairs of SQL and what becomes of it: header lines ``-- key: value``, the script, ``-- becomes``, the output.

Headers: ``mode`` (flink, spark), ``output`` (spark, spark-sql, text, json, mermaid; default spark), ``source``
(``sqlext.source``, default spark). The tables of ``tables.ddl`` are there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from sqlext.session.offline.commands import explain_source, rewrite_source
from sqlext.session.offline.compilation import new_state
from sqlext.source import SourceText

FOLDER = Path(__file__).parent
_HEADER = re.compile(r"-- (\w+): (.*)\n")
_BECOMES = "\n-- becomes\n"


@dataclass(frozen=True)
class Fixture:
    """One file."""

    path: Path
    headers: dict[str, str]
    head: str
    expected: str

    @classmethod
    def read(cls, path: Path) -> Fixture:
        """Return the fixture of a file; one without an output yet expects nothing."""
        head, _, expected = path.read_text("utf-8").partition(_BECOMES)
        return cls(path, dict(_HEADER.findall(head)), head.rstrip("\n"), expected)

    def actual(self) -> str:
        """Return what the script becomes now."""
        state = new_state(None)
        rewrite_source(SourceText.of((FOLDER / "tables.ddl").read_text("utf-8")), state)
        state.settings = state.settings.with_value("sqlext.expressions", self.headers.get("mode", "flink"))
        state.settings = state.settings.with_value("sqlext.source", self.headers.get("source", "spark"))
        source, output = SourceText.of(self.head), self.headers.get("output", "spark")
        if output in ("text", "json", "mermaid"):
            return explain_source(source, state, output)
        return rewrite_source(source, state, output)

    def rewrite(self) -> None:
        """Write the output of now into the file."""
        self.path.write_text(f"{self.head}\n{_BECOMES}{self.actual()}", "utf-8")


FIXTURES = {path.stem: Fixture.read(path) for path in sorted(FOLDER.glob("*.sql"))}
