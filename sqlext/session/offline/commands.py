"""What needs no JVM: rewriting, explaining and checking the statements of a script."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from sqlext.analysis.names.environment import SparkLookup
from sqlext.dialect.ast.statements import Statement
from sqlext.dialect.script import parse_script, substitute
from sqlext.errors import SqlExtError
from sqlext.locations import catalog_place, local_file
from sqlext.rewrite.export.printed import printed_script
from sqlext.rewrite.export.spark_sql import portable_script
from sqlext.rewrite.script.model import Compiled
from sqlext.session.answers.explain import explained
from sqlext.session.drafts import Drafts, RunOptions, script_name
from sqlext.session.interpreter import Interpreter
from sqlext.session.offline.checking import errors_of, sql_files
from sqlext.session.offline.dry_run import DryRun
from sqlext.session.state import SessionState
from sqlext.source import SourceText
from sqlext_catalog.session_catalog import SessionCatalog
from sqlext_catalog.store import CatalogStore

#: Targets of ``rewrite``: the streaming Spark SQL, a batch file for a bare spark-sql session, Databricks SQL, and the
#: files of a project for Spark Declarative Pipelines.
TARGETS = ("spark", "spark-sql", "databricks", "pipelines")

Path_ = str | os.PathLike[str]


def read_source(script: Path_, variables: Mapping[str, str] | None = None) -> SourceText:
    """Return a script's text with its variables: a path, or the text itself.

    A ``PathLike`` and a one-line string that ends in ``.sql`` are paths.

    Raises:
        SqlExtError: NAME-001 for an unknown variable, RUN-011 for a file that cannot be read.
    """
    text = os.fspath(script)
    is_path = not isinstance(script, str) or ("\n" not in text and text.strip().endswith(".sql"))
    return substitute(read_text(text), variables, text) if is_path else substitute(text, variables)


def read_text(file: Path_) -> str:
    """Return the text of a file of the user's; raises SqlExtError RUN-011 where it cannot be read, RUN-014 of a URL."""
    try:
        return local_file(file, "a script").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise SqlExtError("RUN-011", f"cannot read `{os.fspath(file)}`: {reason}") from error


def new_state(catalog: Path_ | None) -> SessionState:
    """Return the state of a session over the catalog in a folder, in memory without one."""
    if catalog is None:
        return SessionState(SessionCatalog())
    place = catalog_place(catalog)
    return SessionState(SessionCatalog(CatalogStore(place)), folder=place)


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
        handler.compiled.clear()
        interpreter.run(statement)
        yield statement, list(handler.compiled)


def rewrite_source(source: SourceText, state: SessionState, target: str = "spark") -> str:
    """Return the Spark SQL of a script's queries.

    Raises:
        SqlExtError: what is wrong with the script; OPT-020 for an unknown target; LATER-..., DDL-041 and DDL-042 for
            queries that have no such form.
    """
    if target not in TARGETS:
        raise SqlExtError("OPT-020", f"there is no target '{target}'", hint=f"it is one of {', '.join(TARGETS)}")
    if target in ("databricks", "pipelines"):
        from sqlext.session.offline import targets  # it compiles by this module

        if target == "databricks":
            return targets.databricks_source(source, state)
        files = targets.pipeline_files(source, state, Path.cwd())
        return "\n".join(f"# == {name}\n{text}" for name, text in files.items())
    batch = target == "spark-sql"
    write = portable_script if batch else printed_script
    texts = [
        write(compiled, state.settings.zone)
        for _, found in compile_source(source, state, batch=batch)
        for compiled in found
    ]
    return "\n\n".join(texts) + "\n"


def rewrite_file(
    file: Path_, variables: Mapping[str, str] | None = None, target: str = "spark", catalog: Path_ | None = None
) -> str:
    """Return the Spark SQL that a script becomes; see ``rewrite_source``."""
    return rewrite_source(read_source(file, variables), new_state(catalog).fork(), target)


def rewrite_project(
    file: Path_, out: Path_, variables: Mapping[str, str] | None = None, catalog: Path_ | None = None
) -> list[Path]:
    """Write a script as a project for Spark Declarative Pipelines into a folder; return its files."""
    from sqlext.session.offline.targets import write_pipeline  # it compiles by this module

    folder = local_file(out, "a project")
    return write_pipeline(read_source(file, variables), new_state(catalog).fork(), folder)


def explain_file(
    file: Path_, variables: Mapping[str, str] | None = None, format: str = "text", catalog: Path_ | None = None
) -> str:
    """Return the plans of a script's queries as text, json or mermaid."""
    return explain_source(read_source(file, variables), new_state(catalog).fork(), format)


def explain_source(source: SourceText, state: SessionState, format: str = "text") -> str:
    """Return the plans of a script's queries; ``state`` should be a copy."""
    return "\n\n".join(explanations(source, state, format)) + "\n"


def explanations(
    source: SourceText,
    state: SessionState,
    format: str = "text",
    lookup: SparkLookup | None = None,
    *,
    at_once: bool = True,
) -> list[str]:
    """Return the plan of each query of a script, and what would become of its checkpoint.

    Args:
        state: should be a copy.
        lookup, at_once: as in ``compile_source``.
    """
    options = RunOptions(script_name(source), at_once=at_once)
    texts = []
    for _, found in compile_source(source, state, lookup=lookup, at_once=at_once):
        inserts = [c.insert for c in found if c.insert is not None]
        drafts = Drafts(state.folder, options, state.settings, state.environment(lookup))
        places = drafts.foretold(inserts) if inserts else [None] * len(found)
        texts += [
            explained(c.plan, c.script, format.upper(), c.insert, place) for c, place in zip(found, places, strict=True)
        ]
    return texts


def check_file(
    file: Path_,
    variables: Mapping[str, str] | None = None,
    catalog: Path_ | None = None,
    state: SessionState | None = None,
) -> list[SqlExtError]:
    """Return what is wrong with a script: the first error of each statement that can be read.

    Args:
        state: a session's, in place of a new one over the catalog; it is not changed.
    """
    state = (state or new_state(catalog)).fork()
    state.created = set()
    try:
        return errors_of(read_source(file, variables), state)
    except SqlExtError as error:
        return [error]


def check_files(
    paths: Sequence[Path_],
    variables: Mapping[str, str] | None = None,
    catalog: Path_ | None = None,
    init: Path_ | None = None,
) -> dict[Path, list[SqlExtError]]:
    """Return what is wrong with files and with the ``.sql`` files of folders, by file; each is checked for itself.

    Args:
        init: a script whose definitions all of them see.

    Raises:
        SqlExtError: RUN-012 for a folder without such a file.
    """
    state = new_state(catalog).fork()
    found = {}
    if init is not None:
        found[Path(init)] = errors_of(read_source(init, variables), state)
    for file in sql_files(paths):
        found[file] = check_file(file, variables, state=state)
    return found
