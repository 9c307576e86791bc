"""Write a script for other tools: Databricks SQL, and projects for Spark Declarative Pipelines."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sqlext.analysis.definitions.create_text import create_table_text, create_view_text
from sqlext.analysis.definitions.views import tables_read
from sqlext.dialect.ast import statements as ast
from sqlext.dialect.queries.whole import parse_query_text
from sqlext.errors import SqlExtError
from sqlext.rewrite.export.databricks import databricks_script
from sqlext.rewrite.export.datasets import Dataset, datasets, only_adds
from sqlext.rewrite.export.pipeline_files import operators_file, readers_file, specification, sql_file
from sqlext.rewrite.script.model import Compiled
from sqlext.secrets import redact_options
from sqlext.session.interpreter import Interpreter
from sqlext.session.offline.compilation import compile_source
from sqlext.session.offline.dry_run import DryRun
from sqlext.session.state import SessionState
from sqlext.source import SourceText
from sqlext.spark.settings_scope import query_settings
from sqlext_catalog.model import View

#: Statements that a later query may need.
_DEFINITIONS = (
    ast.CreateTable,
    ast.CreateView,
    ast.CreateDatabase,
    ast.CreateCatalog,
    ast.CreateFunction,
    ast.AlterDatabase,
    ast.AlterCatalog,
    ast.AlterTable,
    ast.AlterView,
    ast.Drop,
    ast.Use,
    ast.SetOption,
    ast.ResetOption,
)


@dataclass(frozen=True)
class _Asked:
    """A query of a script: how it compiles, its time zone, and the text that defines what it needs, itself last."""

    compiled: Compiled
    zone: str
    script: str


def databricks_source(source: SourceText, state: SessionState) -> str:
    """Return a script's queries as Databricks SQL.

    Raises:
        SqlExtError: what is wrong with the script; DDL-041, DDL-042 for what cannot be said there.
    """
    return databricks_script([dataset for dataset, _ in _datasets(source, state)]) + "\n"


def pipeline_files(source: SourceText, state: SessionState, folder: Path) -> dict[str, str]:
    """Return the files of a pipeline project, by their path in it.

    Args:
        folder: where the project will lie, absolute: its checkpoints go below it.

    Raises:
        SqlExtError: as ``databricks_source``.
    """
    found = _datasets(source, state)
    plain = [dataset for dataset, _ in found if not dataset.needs]
    name = Path(source.name).stem if source.name != "<sql>" else "pipeline"
    scripts = [dataset.compiled.script for dataset, _ in found]
    settings = query_settings(found[0][0].zone if found else "UTC", scripts)
    files = {"spark-pipeline.yml": specification(name, (folder / "storage").as_uri(), settings)}
    readers = readers_file(plain)
    if readers:
        files["transformations/readers.py"] = readers
    if plain:
        files["transformations/queries.sql"] = sql_file(plain)
    for dataset, script in found:
        if dataset.needs:
            # Relative paths of the script are of the folder where it is exported, wherever the pipeline runs.
            files[f"transformations/{dataset.name}.py"] = operators_file(dataset, script, str(Path.cwd()))
    if len(plain) < len(found):
        # A pipeline has no driver of ours that would write the first tick.
        files["clock/start.txt"] = f"{time.time_ns() // 1_000_000}\n"
    return files


def write_pipeline(source: SourceText, state: SessionState, folder: Path) -> list[Path]:
    """Write a pipeline project and return its files.

    Raises:
        SqlExtError: as ``pipeline_files``; RUN-013 for a folder that cannot be written.
    """
    written = []
    for name, text in pipeline_files(source, state, folder.absolute()).items():
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise SqlExtError("RUN-013", f"cannot write `{path}`: {error.strerror}") from error
        written.append(path)
    return written


def _datasets(source: SourceText, state: SessionState) -> list[tuple[Dataset, str]]:
    """Return the datasets of a script, each with the text that defines it."""
    asked = list(_asked(source, state))
    zones = sorted({a.zone for a in asked})
    if len(zones) > 1:
        raise SqlExtError("DDL-042", f"a pipeline has one time zone, the script has {', '.join(zones)}")
    found = datasets([a.compiled for a in asked], zones[0] if zones else "UTC")
    return [(dataset, a.script) for dataset, a in zip(found, asked, strict=True)]


def _asked(source: SourceText, state: SessionState) -> Iterator[_Asked]:
    # Spark reads the sources: readers of our own keep their places in a query's folder, which no pipeline has.
    state.settings = state.settings.with_value("sqlext.source", "spark")
    definitions = [f"{text.rstrip()};" for text in _stored(state)]
    for statement, found in compile_source(source, state, heartbeat=False):
        text = f"{redact_options(statement.span.text, state.settings.expressions)};"
        if not all(map(only_adds, found)):
            # A streaming table takes appended rows only: what updates becomes a table that is computed anew.
            found = [a if only_adds(a) else b for a, b in zip(found, _as_batch(statement, state), strict=True)]
        for compiled in found:
            yield _Asked(compiled, state.settings.zone, "\n".join([*definitions, text]))
        # Only now: the statement's own queries have its text already.
        if isinstance(statement, _DEFINITIONS):
            definitions.append(text)


def _as_batch(statement: ast.Statement, state: SessionState) -> list[Compiled]:
    """Return what a statement that has just been compiled is as batch."""
    state = state.fork()
    # The statement ran a moment ago, and its CREATE must not meet itself.
    state.created = set()
    state.settings = state.settings.with_value("execution.runtime-mode", "batch")
    handler = DryRun(state, heartbeat=False)
    Interpreter(state, handler).run(statement)
    return handler.compiled


def _stored(state: SessionState) -> Iterator[str]:
    """Yield the CREATEs of what the catalog had before the script: tables, then views, those that others read first."""
    relations = state.catalog.snapshot().relations()
    env = state.environment()
    for relation in relations:
        if not isinstance(relation, View):
            yield create_table_text(relation)
    yield from (create_view_text(v, env) for v in _in_order([r for r in relations if isinstance(r, View)]))


def _in_order(views: list[View]) -> list[View]:
    """Return views so that each stands behind those that it reads."""
    ordered: list[View] = []
    met: set[int] = set()

    def put(view: View) -> None:
        if id(view) in met:
            return
        met.add(id(view))
        read = {table.parts[-1] for table in tables_read(parse_query_text(view.query, view.expressions))}
        for other in views:
            if other.name.name in read:
                put(other)
        ordered.append(view)

    for view in views:
        put(view)
    return ordered
