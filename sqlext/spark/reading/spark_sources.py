"""Open a described source by Spark's own reader, as a DataFrame of the table's columns."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from sqlext.connectors.formats.conversions import instant_to_wall, wall_to_instant
from sqlext.connectors.options import OptionError
from sqlext.connectors.spec import Faults, ReadSpec
from sqlext.errors import SqlExtError
from sqlext.locations import near, scheme_of
from sqlext.quoting import identifier, string
from sqlext.rewrite.script.side_rows import FAULT, IS_ROW
from sqlext.spark.failures import sentence
from sqlext.spark.lake_catalogs import open_catalog
from sqlext.spark.object_urls import NO_FILE_SYSTEM, no_file_system, require_file_system
from sqlext.spark.packages import package_hint, require_avro

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamReader

_GLOB = re.compile(r"([{}\[\]*?\\])")
_NO_PACKAGE = ("DATA_SOURCE_NOT_FOUND", "Failed to find data source")
#: The column that Spark's file sources have beside the declared ones, as far as we use it.
_METADATA = (
    "_metadata STRUCT<file_path: STRING, file_name: STRING, file_size: BIGINT, file_modification_time: TIMESTAMP>"
)
_MISSING = ("PATH_NOT_FOUND", "DELTA_TABLE_NOT_FOUND", "DELTA_PATH_DOES_NOT_EXIST", "DELTA_SCHEMA_NOT_SET")


def open_stream(spark: SparkSession, spec: ReadSpec) -> DataFrame:
    """Return the source as a streaming DataFrame of ``spec.columns``.

    Raises:
        OptionError: OPT-009 nothing lies at the path, OPT-012 what lies there has other columns than declared,
            OPT-013 the format has no streaming reader, OPT-014 Spark has not the format.
    """
    _prepare(spark, spec)
    reader = spark.readStream.format(spec.format).options(**_options(spec, stream=True))
    if spec.schema and not spec.fixed_schema:
        reader = reader.schema(_ddl(spec))
    try:
        if spec.table is not None:
            raw = reader.table(spec.table)
        else:
            raw = _loaded(reader, spec) if spec.path is not None else reader.load()
        return _project(spark, raw, spec)
    except SqlExtError:
        raise
    except Exception as error:
        raise refusal(error, spec, "streaming", spark.version) from error


def open_batch(spark: SparkSession, spec: ReadSpec) -> DataFrame:
    """Return all that the source holds now as a DataFrame of ``spec.columns``; raises as ``open_stream``."""
    _prepare(spark, spec)
    try:
        return _project(spark, _open_raw_batch(spark, spec), spec)
    except SqlExtError:
        raise
    except Exception as error:
        raise refusal(error, spec, "batch", spark.version) from error


def open_frame(spark: SparkSession, raw: DataFrame, spec: ReadSpec) -> DataFrame:
    """Return a DataFrame that is there already, as ``spec.columns``."""
    _prepare(spark, spec)
    return _project(spark, raw, spec)


def _prepare(spark: SparkSession, spec: ReadSpec) -> None:
    if spec.avro:
        require_avro(spark)
    if spec.catalog is not None:
        open_catalog(spark, spec.catalog)
    require_file_system(spark, spec.path, spec.format)


def _open_raw_batch(spark: SparkSession, spec: ReadSpec) -> DataFrame:
    if spec.batch_relation is not None:
        return spark.sql(f"SELECT * FROM {spec.batch_relation}")
    reader = spark.read.format(spec.format).options(**_options(spec, stream=False))
    if spec.schema and not spec.fixed_schema:
        reader = reader.schema(_ddl(spec))
    if spec.table is not None:
        return reader.table(spec.table)
    if spec.path is None:
        return reader.load()
    try:
        return reader.load(_literal_path(spec.path))
    except Exception as error:
        if not (spec.may_be_missing and _is_missing(error)):
            raise
        return spark.createDataFrame([], f"{_ddl(spec)}, {_METADATA}")


def _loaded(reader: DataStreamReader, spec: ReadSpec) -> DataFrame:
    """Return a stream of the files at a path."""
    path = _literal_path(spec.path or "")
    try:
        return reader.load(path)
    except Exception as error:
        if not (spec.may_be_missing and _is_missing(error)):
            raise
        # Spark asks for a path at the start, and not for what a pattern means: it looks for that at each micro-batch.
        # `{,}` stands for nothing.
        return reader.load(f"{path.rstrip('/')}{{,}}")


def _is_missing(error: Exception) -> bool:
    return any(m in str(error) for m in _MISSING)


def _project(spark: SparkSession, raw: DataFrame, spec: ReadSpec) -> DataFrame:
    frame = _as_declared(spark, raw, spec) if spec.fixed_schema else raw
    if spec.derived:
        frame = frame.selectExpr("*", *(f"{e} AS {identifier(n)}" for n, e in spec.derived))
    if spec.exploded is not None:
        name, elements = spec.exploded
        frame = frame.selectExpr("*", f"explode({elements}) AS {identifier(name)}")
    columns = [f"{c.expression} AS {identifier(c.name)}" for c in spec.columns]
    if spec.faults is not None:
        return frame.selectExpr(*columns, *_judgement(spec.faults, spec.filters))
    for predicate in spec.filters:
        frame = frame.where(predicate)
    return frame.selectExpr(*columns)


def _judgement(faults: Faults, filters: tuple[str, ...]) -> tuple[str, str]:
    """Return the columns that say whether a raw row is a good one, and what is known of a bad one.

    A good one with more behind it is both.
    """
    is_row = " AND ".join(f"({f})" for f in filters) or "true"
    why = f"coalesce({faults.reason}, {faults.rest})"
    parts = {"text": faults.text, "place": faults.place, "reason": why}
    known = ", ".join(f"{string(name)}, {text}" for name, text in parts.items())
    fault = f"CASE WHEN {is_row} AND {why} IS NOT NULL THEN named_struct({known}) END"
    return f"{is_row} AND {faults.reason} IS NULL AS {IS_ROW}", f"{fault} AS {FAULT}"


def _as_declared(spark: SparkSession, raw: DataFrame, spec: ReadSpec) -> DataFrame:
    """Return the raw relation with the declared types, where its own differ in a way that loses nothing."""
    zone = spark.conf.get("spark.sql.session.timeZone") or "UTC"
    found = {f.name: f.dataType.simpleString() for f in raw.schema.fields}
    wanted = simple_types(spec.schema)
    changed = {}
    for name, declared in wanted.items():
        own = found.get(name)
        if own is None:
            what = f"{_place(spec)} has no column `{name}`; it has {', '.join(found) or 'none'}"
            raise OptionError("OPT-012", what, hint="declare the columns that are there")
        if own != declared:
            changed[name] = _adapted(name, own, declared, zone, spec)
    return raw.withColumns({n: _expr(e) for n, e in changed.items()}) if changed else raw


def simple_types(columns: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the types of columns, given as Spark DDL, in the form in which Spark compares them."""
    from pyspark.sql.types import StructType

    ddl = ", ".join(f"{identifier(name)} {kind}" for name, kind in columns)
    parsed = StructType.fromDDL(ddl)
    fields = parsed.fields if isinstance(parsed, StructType) else []
    return {f.name: f.dataType.simpleString() for f in fields}


def _expr(text: str) -> Column:
    from pyspark.sql import functions

    return functions.expr(text)


_WIDENINGS = {
    ("tinyint", "smallint"),
    ("tinyint", "int"),
    ("tinyint", "bigint"),
    ("smallint", "int"),
    ("smallint", "bigint"),
    ("int", "bigint"),
    ("float", "double"),
    ("int", "double"),
}


def _adapted(name: str, own: str, declared: str, zone: str, spec: ReadSpec) -> str:
    column = identifier(name)
    if (own, declared) == ("timestamp", "timestamp_ntz"):
        return instant_to_wall(column, zone)
    if (own, declared) == ("timestamp_ntz", "timestamp"):
        return wall_to_instant(column, zone)
    if (own, declared) in _WIDENINGS or re.sub(r"(var)?char\(\d+\)", "string", own) == declared:
        return f"CAST({column} AS {declared})"
    what = f"column `{name}` of {_place(spec)} has type {own.upper()}, declared is {declared.upper()}"
    raise OptionError("OPT-012", what, hint="declare the type that is there, or convert it in a query")


def _options(spec: ReadSpec, *, stream: bool) -> dict[str, str]:
    from sqlext_catalog.secrets import resolve_options

    return resolve_options(spec.options + spec.guards + (spec.stream_options if stream else spec.batch_options))


def _ddl(spec: ReadSpec) -> str:
    return ", ".join(f"{identifier(name)} {kind}" for name, kind in spec.schema)


def _literal_path(path: str) -> str:
    """Return the path with glob characters escaped: Flink has no globs, Spark expands them."""
    return _GLOB.sub(r"\\\1", path)


def _place(spec: ReadSpec) -> str:
    return f"{spec.format} `{spec.path or spec.table or ''}`" if spec.path or spec.table else f"format '{spec.format}'"


def refusal(error: Exception, spec: ReadSpec, kind: str, version: str) -> SqlExtError:
    """Return what Spark of some version refuses, in the user's terms.

    A missing source class is no AnalysisException, but Java's own.
    """
    text = str(error)
    if _is_missing(error):
        return OptionError("OPT-009", f"{_place(spec)} does not exist", option="path", hint=near(spec.path))
    if any(m in text for m in _NO_PACKAGE):
        message = f"Spark has no data source '{spec.format}' here"
        option = "connector" if spec.format == "kafka" else "format"
        return OptionError("OPT-014", message, option=option, hint=package_hint(spec.format, version))
    if NO_FILE_SYSTEM in text and (scheme := scheme_of(spec.path or "")):
        return no_file_system(scheme)
    if "does not support streamed reading" in text or "STREAMING_READ" in text:
        hint = "say 'scan.mode' = 'snapshot': a static table, read once"
        return OptionError("OPT-013", f"format '{spec.format}' has no {kind} reader", option="format", hint=hint)
    return SqlExtError("RUN-010", f"cannot open {_place(spec)}: {sentence(text)}")
