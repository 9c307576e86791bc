"""Running an example: what it shows, what it prints, and what is in the tables that it writes."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from sqlext.connectors.changelog_formats import CHANGELOG_FORMATS
from sqlext.dialect.script import parse_script
from sqlext.dialect.statement_nodes import CreateTable, Insert, Statement, StatementSet
from sqlext.source import SourceText

from .render import is_ordered, result_title, section

if TYPE_CHECKING:
    from sqlext.execution.result import Result, Row
    from sqlext.execution.session import Session

FOLDER = Path(__file__).parents[2] / "sql_examples"
DATA = FOLDER / "data"
#: 01 needs the flights; tests/demo runs it.
DEMO = "01_flights"
#: Sinks that keep no rows, and formats of changes: no batch reads them.
_WITHOUT_ROWS = ("print", "blackhole")


def examples() -> list[Path]:
    """Return the scripts, in order."""
    return sorted(FOLDER.glob("*.sql"))


def expected_file(script: Path) -> Path:
    """Return where a script's expected output lies."""
    return script.with_suffix(".out")


def actual_output(session: Session, script: Path, out: Path) -> str:
    """Run a script and return its output as text; the folders of this run stand as ``${IN}`` and ``${OUT}``."""
    variables = {"IN": str(DATA), "OUT": str(out)}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        results = session.run(script, variables=variables, run_for=run_for(script))
    shown = [r for r in results if r.columns]
    sections = [
        section(result_title(n, r.statement), r.columns, _rows(r), ordered=is_ordered(r.statement))
        for n, r in enumerate(shown, 1)
    ]
    if printed.getvalue():
        lines = "\n".join(sorted(printed.getvalue().splitlines()))
        sections.append(f"=== printed\n{lines}\n")
    session.sql("RESET")
    session.sql("SET 'execution.runtime-mode' = 'batch'")
    written = written_tables(script.read_text("utf-8"))
    sections += [_table(session, name) for name in written if _keeps_rows(session, name)]
    text = "\n".join(sections) or "(nothing to show)\n"
    return text.replace(str(DATA), "${IN}").replace(str(out), "${OUT}")


def run_for(script: Path) -> int | None:
    """Return for how many ms an example says that it is run, None for bounded ones."""
    found = re.search(r"--for '(\d+) s'", script.read_text("utf-8"))
    return int(found.group(1)) * 1000 if found else None


def written_tables(script: str) -> list[str]:
    """Return the tables that a script inserts into, as it names them, each once."""
    found = (name for statement in parse_script(SourceText.of(script)) for name in _targets(statement))
    return list(dict.fromkeys(found))


def _rows(result: Result) -> list[Row]:
    """Return a result's rows; of EXPLAIN without the Spark SQL, which tests of the rewrite look at."""
    if not result.statement.upper().startswith("EXPLAIN"):
        return result.rows
    return [(str(text).partition("\n\nSpark SQL:")[0] + "\n\nSpark SQL:\n...",) for (text,) in result.rows]


def _targets(statement: Statement) -> Iterator[str]:
    if isinstance(statement, StatementSet):
        for insert in statement.inserts:
            yield from _targets(insert)
    elif isinstance(statement, Insert) or (isinstance(statement, CreateTable) and statement.query is not None):
        yield ".".join(statement.name)


def _table(session: Session, name: str) -> str:
    result = session.sql(f"SELECT * FROM {name}")
    return section(f"table {name}", result.columns, result.rows)


def _keeps_rows(session: Session, name: str) -> bool:
    table = session.sql(f"SHOW CREATE TABLE {name}").rows[0][0]
    without = [f"'connector' = '{c}'" for c in _WITHOUT_ROWS] + [f"'format' = '{f}'" for f in CHANGELOG_FORMATS]
    return not any(option in table for option in without)
