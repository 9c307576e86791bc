"""Check scripts: all their errors and warnings, or their statements if there is none. Starts no Spark by itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from sqlext.analysis.names.environment import SparkLookup
from sqlext.dialect.ast.statements import Statement
from sqlext.dialect.pieces import pieces
from sqlext.dialect.script import parse_script
from sqlext.errors import SqlExtError
from sqlext.locations import local_file
from sqlext.session.interpreter import Interpreter
from sqlext.session.offline.cautions import statement_cautions, unused_tables
from sqlext.session.offline.dry_run import AskSpark, DryRun
from sqlext.session.state import SessionState
from sqlext.source import SourceText, Span

#: Codes for a table that nobody knows, in a query and in a definition.
_UNKNOWN = frozenset({"NAME-002", "CAT-002"})


def found_in(source: SourceText, state: SessionState, lookup: SparkLookup | None = None) -> list[SqlExtError]:
    """Return the first error of each statement, and the warnings of those that have none, in order.

    What is unknown only because its CREATE is wrong is no error of its own.

    Args:
        state: gets the script's definitions; it should be a copy.
        lookup: asks Spark for a table, None without Spark.
    """
    found: list[SqlExtError] = []
    undefined: set[str] = set()

    def note(error: SqlExtError, span: Span) -> None:
        found.append(error)
        undefined.update(_defined(span))

    handler = DryRun(state, lookup)
    interpreter = Interpreter(state, handler)
    statements: list[Statement] = []
    shown: set[int] = set()
    for statement in parse_script(source, state.settings.expressions, unparsed=True, on_error=note):
        statements.append(statement)
        handler.compiled.clear()
        try:
            interpreter.run(statement)
        except SqlExtError as error:
            # What Spark has made is there when the script runs; its columns are not known here.
            if not _follows(error, undefined | state.sparks):
                note(error, statement.span)
        else:
            shown.update(len(query.plan.columns) for query in handler.compiled if query.insert is None)
            warned = statement_cautions(statement, handler.compiled, state)
            found += sorted(warned, key=lambda e: (e.line or 0, e.column or 0))
    # What is wrong with a statement may be what hides its names.
    if all(error.severity == "warning" for error in found):
        found += unused_tables(statements, shown, state)
    # A view that several queries read has its warnings once.
    return list({(e.code, e.file, e.line, e.column, e.message): e for e in found}.values())


def errors_of(source: SourceText, state: SessionState) -> list[SqlExtError]:
    """Return what ``found_in`` finds, without warnings."""
    return [error for error in found_in(source, state) if error.severity == "error"]


def checked_statements(
    source: SourceText,
    state: SessionState,
    lookup: SparkLookup,
    ask: AskSpark | None = None,
    keeps: Callable[[], object] | None = None,
) -> list[Statement]:
    """Return the statements of a script, each checked.

    A statement of Spark's may make a table that only Spark knows. From such a statement on, an unknown table is no
    error until it is used.

    Args:
        state: gets the script's definitions; it should be a copy.
        lookup: asks Spark for a table.
        ask: asks Spark about a query of its own; None leaves that to the run.
        keeps: refuses queries that need a checkpoint, where none can lie; None leaves that to the run.

    Raises:
        SqlExtError: what is wrong with the first statement that is wrong.
    """
    handler = DryRun(state, lookup, ask, keeps)
    interpreter = Interpreter(state, handler)
    statements = []
    for statement in parse_script(source, state.settings.expressions, unparsed=True):
        statements.append(statement)
        try:
            interpreter.run(statement)
        except SqlExtError as error:
            if not (handler.passed_on and error.code in _UNKNOWN):
                raise
    return statements


def sql_files(paths: Iterable[str | os.PathLike[str]]) -> list[Path]:
    """Return the files, and the ``.sql`` files of the folders and the folders in them; hidden ones are left out.

    Raises:
        SqlExtError: RUN-012 for a folder without one, RUN-014 for a URL.
    """
    return [file for path in map(local_file, paths) for file in (_in_folder(path) if path.is_dir() else [path])]


def _in_folder(folder: Path) -> list[Path]:
    found = sorted(
        file
        for file in folder.rglob("*.sql")
        if file.is_file() and not any(part.startswith(".") for part in file.relative_to(folder).parts)
    )
    if not found:
        raise SqlExtError("RUN-012", f"there is no .sql file in `{folder}`")
    return found


def _defined(span: Span) -> set[str]:
    """Return the names in a CREATE, in lower case; none of another statement."""
    # By its words: a CREATE that cannot be parsed has no tree to ask.
    spoken = [p for p in pieces(span.text) if p.kind not in ("space", "comment")]
    if not spoken or spoken[0].upper != "CREATE":
        return set()
    return {p.text.strip("`").lower() for p in spoken if p.kind in ("name", "quoted", "function")}


def _follows(error: SqlExtError, undefined: set[str]) -> bool:
    """Whether an unknown name is one that a wrong statement would have defined."""
    if error.code not in _UNKNOWN or error.span is None:
        return False
    return any(part.strip("` ").lower() in undefined for part in error.span.text.split("."))
