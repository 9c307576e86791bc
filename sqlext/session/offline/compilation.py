"""Read a script and compile its statements, without a JVM."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping

from sqlext.analysis.names.environment import SparkLookup
from sqlext.dialect.ast.statements import Statement
from sqlext.dialect.script import parse_script
from sqlext.dialect.variables import substitute
from sqlext.errors import SqlExtError
from sqlext.locations import local_file
from sqlext.rewrite.script.model import Compiled
from sqlext.session.interpreter import Interpreter
from sqlext.session.offline.dry_run import DryRun
from sqlext.session.state import SessionState
from sqlext.source import SourceText
from sqlext_catalog.session_catalog import SessionCatalog
from sqlext_catalog.store import CatalogStore

Path_ = str | os.PathLike[str]
_STANDARD_INPUT = "-"


def read_source(script: Path_, variables: Mapping[str, str] | None = None, mode: str = "spark") -> SourceText:
    """Return a script's text with its variables: a path, or the text itself.

    A ``PathLike`` and a one-line string that ends in ``.sql`` are paths. The path ``-`` is standard input. ``mode``
    says how strings are read, before the script itself does.

    Raises:
        SqlExtError: NAME-001 for an unknown variable, RUN-011 for a file that cannot be read.
    """
    text = os.fspath(script)
    is_path = not isinstance(script, str) or ("\n" not in text and text.strip().endswith(".sql"))
    if not is_path:
        return substitute(text, variables, mode=mode)
    return substitute(read_text(text), variables, "<stdin>" if text == _STANDARD_INPUT else text, mode)


def read_text(file: Path_) -> str:
    """Return the text of a file of the user's, of standard input for ``-``.

    Raises:
        SqlExtError: RUN-011 where it cannot be read, RUN-014 for a URL.
    """
    try:
        if os.fspath(file) == _STANDARD_INPUT:
            return sys.stdin.buffer.read().decode("utf-8")
        return local_file(file, "a script").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise SqlExtError("RUN-011", f"cannot read `{os.fspath(file)}`: {reason}") from error


def new_state(catalog: Path_ | None, stores: Mapping[str, str] | None = None) -> SessionState:
    """Return the state of a session over the catalog in a folder or at a URL, in memory without one.

    Args:
        stores: settings of object stores, by the names of Spark or Hadoop.

    Raises:
        SqlExtError: as ``CatalogStore``.
    """
    if catalog is None:
        return SessionState(SessionCatalog())
    store = CatalogStore(catalog, stores)
    return SessionState(SessionCatalog(store), folder=store.directory, stores=stores or {})


def compile_source(
    source: SourceText,
    state: SessionState,
    *,
    batch: bool = False,
    heartbeat: bool = True,
    lookup: SparkLookup | None = None,
    at_once: bool = True,
) -> Iterator[tuple[Statement, list[Compiled]]]:
    """Yield each statement with what it compiles to; definitions are applied to ``state``, which should be a copy.

    Args:
        batch: compile every query as batch, whatever the script's runtime mode says.
        heartbeat: whether bounded inputs end with the row that closes all windows.
        lookup: how to ask Spark for a table, if there is one to ask.
        at_once: whether queries may be one batch without state.
    """
    if batch:
        state.settings = state.settings.with_value("execution.runtime-mode", "batch")
    handler = DryRun(state, lookup, heartbeat=heartbeat, at_once=at_once)
    interpreter = Interpreter(state, handler)
    for statement in parse_script(source, state.settings.expressions, unparsed=True):
        # The handler lives through the script, as its catalog does: each statement gets its own list.
        handler.compiled.clear()
        interpreter.run(statement)
        yield statement, list(handler.compiled)
