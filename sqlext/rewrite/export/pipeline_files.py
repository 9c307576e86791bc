"""Write a script as a Spark Declarative Pipelines project.

It has a specification, Python files for the readers and SQL files for the queries. Plain SQL needs nothing of ours to
run. A query with stateful functions is a Python file that calls ``sqlext.session.pipelines.define``.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlext.connectors.registry import connector_of
from sqlext.connectors.spec import ReadSpec
from sqlext.errors import SqlExtError
from sqlext.quoting import identifier
from sqlext.rewrite.export.databricks import partitions
from sqlext.rewrite.export.datasets import Dataset, notes
from sqlext.rewrite.script.model import SourceView
from sqlext.secrets import is_reference, redact_value

_LAST_WINDOWS = """\
# A run takes what is new and stops. It does not move the watermark to the end of time:
# the last windows wait for newer data, in this run or in a later one.
"""
_SPECIFICATION = """\
# Written by sqlext rewrite --target pipelines. `spark-pipelines dry-run` checks it, `spark-pipelines run` runs it.
{last_windows}name: {name}
storage: {storage}
configuration:
{configuration}
libraries:
  - glob:
      include: transformations/**
"""
_READERS = '''\
"""The raw relations that the SQL files of this pipeline read."""

import os
from pathlib import Path

from pyspark import pipelines as dp
from pyspark.sql import SparkSession

spark = SparkSession.active()
'''
_OPERATORS = '''\
"""`{name}` needs what SQL cannot say: {needs}.

The package sqlext has it; driver and workers must have the package.

{last_windows}"""

from pathlib import Path

from pyspark.sql import SparkSession

from sqlext.session.pipelines import define

define(
    SparkSession.active(),
    {script},
    table={name!r},
    folder={folder!r},
    clock=Path(__file__).parent.parent / "clock",
)
'''


def specification(name: str, storage: str, settings: dict[str, str]) -> str:
    """Return ``spark-pipeline.yml``; ``storage`` is a URI."""
    pairs = "\n".join(f'  {key}: "{value}"' for key, value in settings.items())
    return _SPECIFICATION.format(last_windows=_LAST_WINDOWS, name=name, storage=storage, configuration=pairs)


def sql_file(found: Sequence[Dataset]) -> str:
    """Return the datasets that SQL can say."""
    return "\n\n".join(_statement(dataset) for dataset in found) + "\n"


def _statement(dataset: Dataset) -> str:
    kind = "STREAMING TABLE" if dataset.streaming else "MATERIALIZED VIEW"
    query = dataset.query(_raw)
    head = f"CREATE {kind} {identifier(dataset.name)}{partitions(dataset)} AS"
    return "\n".join([*notes(dataset), head, f"{query};"])


def readers_file(found: Sequence[Dataset]) -> str:
    """Return the Python file of the raw relations that have no SQL, empty if all of them have."""
    views = {}
    for dataset in found:
        for source in dataset.compiled.script.sources:
            spec = connector_of(source.table).read_spec(source.table, dataset.zone)
            if spec.table is None and source.table.name.plain not in dataset.written:
                views[_view(source)] = _reader(dataset, source, spec)
    if not views:
        return ""
    imports = (
        "\nimport os\nfrom pathlib import Path\n" if any("os." in v or "Path(" in v for v in views.values()) else ""
    )
    return "\n\n".join([_READERS.format(imports=imports), *views.values()]) + "\n"


def _raw(source: SourceView, spec: ReadSpec) -> str:
    relation = _view(source) if spec.table is None else ".".join(identifier(p) for p in spec.table.split("."))
    return f"STREAM {relation}" if source.streaming else relation


def _view(source: SourceView) -> str:
    # One pipeline may read a table as a stream and as a snapshot: these are two views.
    return f"{source.view}_{'stream' if source.streaming else 'rows'}"


def _reader(dataset: Dataset, source: SourceView, spec: ReadSpec) -> str:
    """Return the function of a raw relation."""
    if spec.frame is not None:
        raise dataset.refusal(f"`{source.table.name.name}` is a DataFrame of a session, which no file can name")
    extra = spec.stream_options if source.streaming else spec.batch_options
    calls = [f"spark.{'readStream' if source.streaming else 'read'}.format({spec.format!r})"]
    if spec.schema and not spec.fixed_schema:
        columns = ", ".join(f"{identifier(n)} {t}" for n, t in spec.schema)
        calls.append(f".schema({columns!r})")
    calls += [f".option({key!r}, {_value(key, value)})" for key, value in (*spec.options, *extra)]
    calls.append(f".load({spec.path!r})" if spec.path is not None else ".load()")
    if spec.batch_relation is not None and not source.streaming:
        query = f"SELECT * FROM {spec.batch_relation}"
        calls = [f"spark.sql({query!r})"]
    if spec.file_metadata:
        calls.append('.select("*", "_metadata")')
    view = _view(source)
    body = "\n        ".join(calls)
    return f"\n@dp.temporary_view(name={view!r})\ndef {view}():\n    return (\n        {body}\n    )"


def _value(key: str, value: str) -> str:
    """Return an option's value as Python; what names a secret reads it when the pipeline runs.

    Stars stand in place of a secret that is none.
    """
    kind, _, place = value.partition(":")
    if not is_reference(value):
        return repr(redact_value(key, value))
    return f"os.environ[{place!r}]" if kind == "env" else f"Path({place!r}).read_text().strip()"


def operators_file(dataset: Dataset, script: str, folder: str) -> str:
    """Return the Python file of a query with stateful functions.

    Args:
        script: the definitions that it needs, and its statement last.
        folder: what relative paths in it are relative to.

    Raises:
        SqlExtError: DDL-042 for a query that reads another dataset of the pipeline: an operator asks for the types of
            its input, and a pipeline does not tell types of its own datasets before it runs.
    """
    compiled = dataset.compiled
    if not dataset.streaming or compiled.insert is None or compiled.script.sides or compiled.script.judges:
        raise _no_flow(dataset)
    if dataset.inside():
        read = ", ".join(dataset.inside())
        message = f"`{dataset.name}` needs {', '.join(dataset.needs)} over `{read}`, which the same pipeline writes"
        raise dataset.refusal(message, f"put it into a pipeline of its own, over the table `{read}`")
    needs = ", ".join(dataset.needs)
    # Backslashes first, or those that escape the quotes would be doubled.
    text = '"""\n' + script.replace("\\", "\\\\").replace('"""', '\\"\\"\\"') + '\n"""'
    windows = _LAST_WINDOWS.replace("# ", "")
    return _OPERATORS.format(name=dataset.name, needs=needs, last_windows=windows, script=text, folder=folder)


def _no_flow(dataset: Dataset) -> SqlExtError:
    return SqlExtError(
        "DDL-041",
        f"`{dataset.name}` needs {', '.join(dataset.needs)}, and gives more than rows that are added to one table",
        span=dataset.compiled.statement.span,
        hint="run it by sqlext; a pipeline's streaming table only takes rows that stay",
    )
