"""Check scripts: all their errors and warnings, or their statements if there is none. Starts no Spark by itself."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from sqlext.analysis.definitions.cautions import unusable
from sqlext.analysis.names.environment import Environment, SparkLookup
from sqlext.dialect.ast.statements import AlterTable, AlterView, CreateTable, Statement, Use
from sqlext.dialect.script import parse_script
from sqlext.errors import SqlExtError
from sqlext.locations import local_file
from sqlext.rewrite.script.model import Compiled
from sqlext.session.catalogs.lakes import NO_LAKES, Lakes
from sqlext.session.interpreter import Interpreter
from sqlext.session.offline.cautions import statement_cautions, unused_tables
from sqlext.session.offline.defined import defined_names
from sqlext.session.offline.dry_run import AskSpark, DryRun
from sqlext.session.state import SessionState
from sqlext.source import SourceText, Span
from sqlext_catalog.model import Table

#: Codes for a table that nobody knows, in a query and in a definition.
_UNKNOWN = frozenset({"NAME-002", "CAT-002"})
#: These, and a function that nobody knows.
_MAY_FOLLOW = _UNKNOWN | {"FUNC-001"}


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found in one statement.

    Attributes:
        span: the statement, or what stands in its place.
        statement: None where it cannot be read.
        found: its first error, or its warnings.
        compiled: its queries.
    """

    span: Span
    statement: Statement | None = None
    found: tuple[SqlExtError, ...] = ()
    compiled: tuple[Compiled, ...] = ()


class Checker:
    """Checks statements, each with what those before it have defined.

    What is unknown only because its CREATE is wrong is no error of its own.

    Args:
        state: gets the definitions; it should be a copy.
        lookup: asks Spark for a table, None without Spark.
        undefined: names, in lower case, that wrong statements before would have defined.
    """

    def __init__(
        self, state: SessionState, lookup: SparkLookup | None = None, undefined: frozenset[str] = frozenset()
    ) -> None:
        self.state = state
        self.undefined = undefined
        # After USE of a catalog or a database that could not be made: what is defined without a connector is there.
        self._elsewhere = False
        self._handler = DryRun(state, lookup)

    def check(self, source: SourceText) -> Iterator[Checked]:
        """Yield what is found in each statement of a text."""
        interpreter = Interpreter(self.state, self._handler)
        unread: list[Checked] = []
        mode = self.state.settings.expressions
        for statement in parse_script(
            source, mode, unparsed=True, on_error=lambda e, span: unread.append(self._wrong(e, span))
        ):
            yield from unread
            unread.clear()
            rest = source.text[statement.span.end :]
            yield self._checked(statement, interpreter, rest)
        yield from unread

    def _checked(self, statement: Statement, interpreter: Interpreter, rest: str) -> Checked:
        self._handler.compiled.clear()
        try:
            interpreter.run(statement)
            _require_usable(statement, self.state, rest)
        except SqlExtError as error:
            # What Spark has made is there when the script runs; its columns are not known here.
            if _follows(error, self.undefined | self.state.sparks):
                self.undefined |= defined_names(statement.span)
                self._elsewhere = self._elsewhere or isinstance(statement, Use)
                return Checked(statement.span, statement)
            return self._wrong(error, statement.span, statement)
        if isinstance(statement, Use) and (statement.kind == "CATALOG" or len(statement.name) > 1):
            self._elsewhere = False
        if (
            self._elsewhere
            and isinstance(statement, CreateTable)
            and all(o.key != "connector" for o in statement.options)
        ):
            self.undefined |= defined_names(statement.span)
        if isinstance(statement, (AlterTable, AlterView)) and statement.name[-1].lower() in self.undefined:
            # Under its new name a table still has what was wrong.
            self.undefined |= defined_names(statement.span)
        compiled = tuple(self._handler.compiled)
        found = sorted(statement_cautions(statement, compiled, self.state), key=lambda e: (e.line or 0, e.column or 0))
        return Checked(statement.span, statement, tuple(found), compiled)

    def _wrong(self, error: SqlExtError, span: Span, statement: Statement | None = None) -> Checked:
        self.undefined |= defined_names(span)
        return Checked(span, statement, (error,))


def _require_usable(statement: Statement, state: SessionState, rest: str) -> None:
    """Refuse a table of this script that no use could be right of.

    Args:
        rest: the text behind the statement, which may give the table other options.
    """
    table = state.catalog.lookup(statement.name) if isinstance(statement, CreateTable) else None
    if isinstance(statement, CreateTable) and isinstance(table, Table) and not _redefines(rest, statement.name[-1]):
        error = unusable(statement, table)
        if error is not None:
            raise error


def found_in(source: SourceText, state: SessionState, lookup: SparkLookup | None = None) -> list[SqlExtError]:
    """Return the first error of each statement, and the warnings of those that have none, in order.

    Args:
        state: gets the script's definitions; it should be a copy.
        lookup: asks Spark for a table, None without Spark.
    """
    checked = list(Checker(state, lookup).check(source))
    found = (*(error for one in checked for error in one.found), *whole_script(checked, state))
    # A view that several queries read has its warnings once.
    return list({(e.code, e.file, e.line, e.column, e.message): e for e in found}.values())


def whole_script(checked: Sequence[Checked], state: SessionState) -> Iterator[SqlExtError]:
    """Yield what may not be meant of a script as a whole; nothing while a statement is wrong, which may hide names.

    Args:
        state: what the script leaves.
    """
    if all(error.severity == "warning" for one in checked for error in one.found):
        statements = [one.statement for one in checked if one.statement is not None]
        shown = {len(query.plan.columns) for one in checked for query in one.compiled if query.insert is None}
        yield from unused_tables(statements, shown, state)


def errors_of(source: SourceText, state: SessionState) -> list[SqlExtError]:
    """Return what ``found_in`` finds, without warnings."""
    return [error for error in found_in(source, state) if error.severity == "error"]


def checked_statements(
    source: SourceText,
    state: SessionState,
    lookup: SparkLookup,
    ask: AskSpark | None = None,
    keeps: Callable[[], object] | None = None,
    reaches: Callable[[Compiled, Environment], object] | None = None,
    lakes: Lakes = NO_LAKES,
) -> list[Statement]:
    """Return the statements of a script, each checked.

    A statement of Spark's may make a table that only Spark knows. From such a statement on, an unknown table is no
    error until it is used.

    Args:
        state: gets the script's definitions; it should be a copy.
        lookup: asks Spark for a table.
        ask: asks Spark about a query of its own; None leaves that to the run.
        keeps: refuses queries that need a checkpoint, where none can lie; None leaves that to the run.
        reaches: refuses queries at URLs that Spark does not know; None leaves that to the run.
        lakes: asks catalogs of lakes.

    Raises:
        SqlExtError: what is wrong with the first statement that is wrong.
    """
    handler = DryRun(state, lookup, ask, keeps, reaches, lakes)
    interpreter = Interpreter(state, handler)
    statements = []
    for statement in parse_script(source, state.settings.expressions, unparsed=True):
        statements.append(statement)
        try:
            interpreter.run(statement)
            _require_usable(statement, state, source.text[statement.span.end :])
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


def _redefines(text: str, name: str) -> bool:
    """Whether statements may give a table other options: by ALTER, DROP, or LIKE in another definition."""
    named = rf"(IF\s+EXISTS\s+)?([\w`]+\s*\.\s*)*`?{re.escape(name)}\b`?"
    found = rf"\bALTER\s+TABLE\s+{named}\s+(SET|RESET)\b|\b(DROP\s+TABLE|LIKE)\s+{named}"
    return re.search(found, text, re.IGNORECASE) is not None


def _follows(error: SqlExtError, undefined: Set[str]) -> bool:
    """Whether an error is of a name that a wrong statement would have defined: it is unknown, or has what was wrong."""
    if error.span is None or not (error.code in _MAY_FOLLOW or error.code.startswith("OPT-")):
        return False
    # A call's place is the whole call.
    name = error.span.text.partition("(")[0]
    return any(part.strip("` ").lower() in undefined for part in name.split("."))
