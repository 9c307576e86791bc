"""Write a script as Databricks SQL.

Queries that only add rows become streaming tables with WATERMARK ... DELAY OF; the others become materialized views.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlext.connectors.spec import ReadSpec
from sqlext.errors import SqlExtError
from sqlext.quoting import identifier, string
from sqlext.rewrite.export.datasets import Dataset, notes
from sqlext.rewrite.export.printed import one_line
from sqlext.rewrite.script.model import SourceView
from sqlext.secrets import holds_secret

_FILES = frozenset({"csv", "json", "parquet", "orc", "text"})
#: Options of streaming file sources that ``read_files`` has under the same names.
_FILE_LIMITS = frozenset({"maxFilesPerTrigger", "maxBytesPerTrigger"})
_KAFKA_NAMES = {"kafka.bootstrap.servers": "bootstrapServers"}


def databricks_script(found: Sequence[Dataset]) -> str:
    """Return one statement a query, to be run in a SQL warehouse or in a pipeline.

    Raises:
        SqlExtError: DDL-041 for a query that needs a function of ours, DDL-042 for a source without a SQL reader.
    """
    zone = [f"SET TIME ZONE {string(found[0].zone)};"] if found else []
    return "\n\n".join([*zone, *(_statement(dataset) for dataset in found)])


def _statement(dataset: Dataset) -> str:
    if dataset.needs:
        raise SqlExtError(
            "DDL-041",
            f"`{dataset.name}` needs {', '.join(dataset.needs)}, which SQL cannot say",
            span=dataset.compiled.statement.span,
            hint="--target pipelines --out DIR writes a pipeline whose Python file registers it",
        )
    kind = "STREAMING TABLE" if dataset.streaming else "MATERIALIZED VIEW"
    query = dataset.query(lambda source, spec: _raw(dataset, source, spec))
    secrets = [one_line(f"-- option '{k}' is a secret and left out: give it here") for k in _secrets(dataset)]
    head = f"CREATE OR REFRESH {kind} {identifier(dataset.name)}"
    return "\n".join([*notes(dataset), *secrets, f"{head}{partitions(dataset)} AS", f"{query};"])


def partitions(dataset: Dataset) -> str:
    """Return the PARTITIONED BY clause of a dataset's table, empty without partitions."""
    insert = dataset.compiled.insert
    columns = insert.table.partitioned_by if insert is not None else ()
    return f" PARTITIONED BY ({', '.join(map(identifier, columns))})" if columns else ""


def _secrets(dataset: Dataset) -> list[str]:
    tables = (source.table for source in dataset.compiled.script.sources)
    return sorted({key for table in tables for key, value in table.options if holds_secret(key, value)})


def _raw(dataset: Dataset, source: SourceView, spec: ReadSpec) -> str:
    stream = "STREAM " if source.streaming else ""
    if spec.table is not None:
        return stream + ".".join(identifier(part) for part in spec.table.split("."))
    if spec.format == "delta":
        return f"{stream}delta.{identifier(spec.path or '')}"
    if spec.format in _FILES:
        limits = tuple((k, v) for k, v in spec.stream_options if source.streaming and k in _FILE_LIMITS)
        columns = ", ".join(f"{identifier(n)} {t}" for n, t in spec.schema)
        own = ((k, v) for k, v in spec.options if not holds_secret(k, v))
        named = _arguments([("format", spec.format), ("schema", columns), *own, *limits])
        return f"{stream}read_files({string(spec.path or '')}, {named})"
    if spec.format == "kafka":
        extra = spec.stream_options if source.streaming else spec.batch_options
        options = ((_KAFKA_NAMES.get(k, k), v) for k, v in (*spec.options, *extra) if not holds_secret(k, v))
        return f"{stream}read_kafka({_arguments(options)})"
    message = f"`{source.table.name.name}`: Databricks SQL has no reader of format '{spec.format}'"
    raise dataset.refusal(message, "--target pipelines reads it in Python")


def _arguments(options: Iterable[tuple[str, str]]) -> str:
    # Options are named arguments there; a key with dots (kafka.group.id) is no identifier.
    return ", ".join(f"{key if key.isidentifier() else identifier(key)} => {string(value)}" for key, value in options)
