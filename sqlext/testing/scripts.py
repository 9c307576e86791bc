"""Run a script and return its output: what it shows, what it prints, and the tables that it writes."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sqlext.connectors.registry import connector_of
from sqlext.dialect.ast.statements import CreateTable, Insert, Statement, StatementSet
from sqlext.dialect.script import parse_script
from sqlext.errors import SqlExtError
from sqlext.quoting import identifier
from sqlext.session.offline.compilation import read_text
from sqlext.source import SourceText
from sqlext.testing.render import is_ordered, result_title, section
from sqlext_catalog.model import Table

if TYPE_CHECKING:
    from sqlext.jobs.result import Result
    from sqlext.session.api import Session
    from sqlext.sinks.live_rows import Row

_FOR = re.compile(r"--for '(\d+) s'")

Runs = Callable[[], list[str]]


def script_output(session: Session, script: Path, variables: Mapping[str, str]) -> str:
    """Run a script whose queries end, and return what it gives.

    A script that says ``--for '2 s'`` in a comment is run so long.

    Raises:
        SqlExtError: as ``Session.run``; TEST-001 for a query that never ends.
    """

    def shown() -> list[str]:
        limit = run_for(script)
        results = session.run(script, variables=variables, run_for=limit)
        if limit is None:
            _refuse_endless(results, script)
        return [shown_result(n, r) for n, r in enumerate((r for r in results if r.columns), 1)]

    return whole_output(session, script, shown)


def whole_output(session: Session, script: Path, run: Runs) -> str:
    """Return the sections of a run, what it prints, and the tables that the script writes."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        sections = run()
    if printed.getvalue():
        # The rows of a print sink have no order of their own.
        lines = "\n".join(sorted(printed.getvalue().splitlines()))
        sections.append(f"=== printed\n{lines}\n")
    # Tables are read as they are now: without the script's own settings, and not as streams.
    session.sql("RESET")
    session.sql("SET 'execution.runtime-mode' = 'batch'")
    written = written_tables(read_text(script))
    sections += [_table(session, name) for name in written if _keeps_rows(session, name)]
    return "\n".join(sections) or "(nothing to show)\n"


def run_for(script: Path) -> int | None:
    """Return for how many ms a script says that it is run, None if it does not say."""
    found = _FOR.search(read_text(script))
    return int(found.group(1)) * 1000 if found else None


def written_tables(script: str) -> list[tuple[str, ...]]:
    """Return the tables that a script inserts into, as it names them, each once."""
    found = (name for statement in parse_script(SourceText.of(script)) for name in _targets(statement))
    return list(dict.fromkeys(found))


def shown_result(number: int, result: Result) -> str:
    """Return the section of a result."""
    title, ordered = result_title(number, result.statement), is_ordered(result.statement)
    return section(title, result.columns, _rows(result), ordered=ordered)


def _refuse_endless(results: Sequence[Result], script: Path) -> None:
    endless = [r.query for r in results if r.query is not None and not r.query.bounded]
    for query in endless:
        query.stop()
    if endless:
        message = f"query `{endless[0].name}` never ends"
        hint = f"say step by step, in {script.with_suffix('.steps').name}, what it gets"
        raise SqlExtError("TEST-001", message, hint=hint)


def _rows(result: Result) -> list[Row]:
    """Return a result's rows; of a plan without the Spark SQL, which may change with every version."""
    # EXPLAIN ROW has rows of several columns.
    if not result.statement.upper().startswith("EXPLAIN") or len(result.columns) > 1:
        return result.rows
    return [(str(text).partition("\n\nSpark SQL:")[0] + "\n\nSpark SQL:\n...",) for (text,) in result.rows]


def _targets(statement: Statement) -> Iterator[tuple[str, ...]]:
    if isinstance(statement, StatementSet):
        for insert in statement.inserts:
            yield from _targets(insert)
    elif isinstance(statement, Insert) or (isinstance(statement, CreateTable) and statement.query is not None):
        yield statement.name


def _table(session: Session, name: tuple[str, ...]) -> str:
    result = session.sql(f"SELECT * FROM {'.'.join(map(identifier, name))}")
    return section(f"table {'.'.join(name)}", result.columns, result.rows)


def _keeps_rows(session: Session, name: tuple[str, ...]) -> bool:
    table = session.catalog.lookup(name)
    if not isinstance(table, Table):
        return True
    connector = connector_of(table)
    # Changes of rows are read by a stream alone (OPT-015).
    return connector.keeps_rows(table) and not connector.changelog(table)
