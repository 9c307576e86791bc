"""Rewrite, explain and check scripts without a JVM."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from sqlext.analysis.names.environment import SparkLookup
from sqlext.errors import SqlExtError
from sqlext.locations import local_file
from sqlext.policy import Restrictions, policy_of
from sqlext.rewrite.export.printed import printed_script
from sqlext.rewrite.export.spark_sql import portable_script
from sqlext.session.drafts import Drafts, RunOptions, script_name
from sqlext.session.introspection.describe import describe_relation
from sqlext.session.introspection.explain import explained, told_of
from sqlext.session.offline.checking import found_in, sql_files
from sqlext.session.offline.compilation import Path_, compile_source, new_state, read_source
from sqlext.session.offline.targets import databricks_source, pipeline_files, write_pipeline
from sqlext.session.state import SessionState
from sqlext.source import SourceText
from sqlext_catalog.model import Table

#: Targets of ``rewrite``: the streaming Spark SQL, a batch file for a bare spark-sql session, Databricks SQL, and the
#: files of a project for Spark Declarative Pipelines.
TARGETS = ("spark", "spark-sql", "databricks", "pipelines")


def rewrite_source(source: SourceText, state: SessionState, target: str = "spark") -> str:
    """Return the Spark SQL of a script's queries.

    Raises:
        SqlExtError: what is wrong with the script; OPT-020 for an unknown target; LATER-..., DDL-041 and DDL-042 for
            queries that have no such form.
    """
    if target not in TARGETS:
        raise SqlExtError("OPT-020", f"there is no target '{target}'", hint=f"it is one of {', '.join(TARGETS)}")
    if target in ("databricks", "pipelines"):
        if target == "databricks":
            return databricks_source(source, state)
        files = pipeline_files(source, state, Path.cwd())
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
    spark_is_there: bool = False,
) -> list[str]:
    """Return the plan of each query of a script, and what would become of its checkpoint.

    Args:
        state: should be a copy.
        lookup, at_once: as in ``compile_source``.
        spark_is_there: whether a Spark session was given or has started.
    """
    # One for the whole script: names of queries are numbered through it, as in a run.
    options = RunOptions(script_name(source), at_once=at_once)
    texts = []
    for _, found in compile_source(source, state, lookup=lookup, at_once=at_once):
        env = state.environment(lookup)
        drafts = Drafts.of(state, env, options)
        told = told_of([(c.plan, c.script, c.insert) for c in found], env, drafts, there=spark_is_there)
        texts += [
            explained(c.plan, c.script, format.upper(), c.insert, beside) for c, beside in zip(found, told, strict=True)
        ]
    return texts


def relations(state: SessionState) -> list[str]:
    """Return the tables and views of a catalog, each with its kind and connector."""
    found = []
    for relation in state.catalog.snapshot().relations():
        connector = relation.option("connector") if isinstance(relation, Table) else None
        kind = "table" if isinstance(relation, Table) else "view"
        found.append(f"{relation.name.plain}: {kind}{f', {connector}' if connector else ''}")
    return found


def described(name: str, state: SessionState) -> str:
    """Return what DESCRIBE says of a table or view, as lines of columns between tabs.

    Raises:
        SqlExtError: NAME-002 if there is no such table or view.
    """
    source = SourceText.of(name)
    parts = tuple(part.strip("`") for part in name.split("."))
    header, rows = describe_relation(parts, source.span(0, len(name)), state.catalog, state.environment())
    return "\n".join("\t".join("" if v is None else str(v) for v in row) for row in (header, *rows))


def check_file(
    file: Path_,
    variables: Mapping[str, str] | None = None,
    catalog: Path_ | None = None,
    state: SessionState | None = None,
    lookup: SparkLookup | None = None,
) -> list[SqlExtError]:
    """Return what is wrong with a script: the first error of each statement that can be read, and its warnings.

    Args:
        state: a session's, in place of a new one over the catalog; it is not changed.
        lookup: asks Spark for a table, None without Spark.
    """
    state = (state or new_state(catalog)).fork()
    state.created = set()  # as for a run: what is there already may be defined again
    try:
        return found_in(read_source(file, variables, state.settings.expressions), state, lookup)
    except SqlExtError as error:
        return [error]


def check_files(
    paths: Sequence[Path_],
    variables: Mapping[str, str] | None = None,
    catalog: Path_ | None = None,
    init: Path_ | None = None,
    restricted: bool | Restrictions = False,
) -> dict[Path, list[SqlExtError]]:
    """Return what is wrong with files and with the ``.sql`` files of folders, by file; each is checked for itself.

    Args:
        init: a script whose definitions all of them see.
        restricted: what they may use; the definitions of ``init`` are the user's own.

    Raises:
        SqlExtError: RUN-012 for a folder without such a file.
    """
    state = new_state(catalog).fork()
    found = {}
    if init is not None:
        found[Path(init)] = found_in(read_source(init, variables), state)
    state.policy = policy_of(restricted, [state.folder] if catalog is not None else [])
    for file in sql_files(paths):
        found[file] = check_file(file, variables, state=state)
    return found
