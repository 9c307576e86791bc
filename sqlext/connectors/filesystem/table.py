"""Describe ``'connector' = 'filesystem'``: files of csv, json, parquet or orc in a folder, Flink's option names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from sqlext.connectors.bad_rows import judged, why_not_judged, with_faults
from sqlext.connectors.base import (
    Connector,
    Role,
    declared_type,
    is_instant,
    metadata_columns,
    metadata_key,
    physical_fields,
    read_columns,
)
from sqlext.connectors.formats import csv, json
from sqlext.connectors.formats.base import Decoded, Format, Message, ReadField, TextFormat, parsed, unknown_format
from sqlext.connectors.formats.changelog import JSON_CHANGELOG_FORMATS
from sqlext.connectors.formats.changelog_messages import parsed_changes
from sqlext.connectors.formats.columnar import ORC, PARQUET
from sqlext.connectors.formats.conversions import output_type, text_to_value, wall_to_instant
from sqlext.connectors.formats.csv import CsvFormat
from sqlext.connectors.formats.json import JsonFormat, fails_on_missing, missing_field_check
from sqlext.connectors.formats.raw import RawFormat, require_raw
from sqlext.connectors.options import (
    OptionError,
    Rules,
    any_text,
    bad_rows_policy,
    boolean,
    duration,
    memory,
    one_of,
    pattern,
    positive,
)
from sqlext.connectors.spec import Faults, ReadColumn, ReadSpec, WriteSpec, kind_column
from sqlext.extras import package
from sqlext.locations import absolute, is_remote
from sqlext.quoting import identifier, string
from sqlext.stores.opening import has_store
from sqlext.types import BIGINT, STRING, TIMESTAMP_LTZ3, LogicalType
from sqlext_catalog.model import Column, Options, Table

#: Formats of lines: only their rows can be judged one by one (``sqlext.bad-rows``).
TEXT_FORMATS: dict[str, TextFormat] = {f.name: f for f in (CsvFormat(), JsonFormat())}
FORMATS: dict[str, Format] = {**TEXT_FORMATS, PARQUET.name: PARQUET, ORC.name: ORC, RawFormat.name: RawFormat()}

_GUARDS: dict[str, Callable[[Mapping[str, str]], Options]] = {
    "csv": csv.read_guards,
    "json": json.read_guards,
    PARQUET.name: lambda options: (("parquet.page.verify-checksum.enabled", "true"),),
}

#: Folder of rows whose partition value is NULL or empty, Flink's name.
DEFAULT_PARTITION = "__DEFAULT_PARTITION__"

#: A folder that is not there yet is read as an empty one.
MAY_BE_MISSING = "source.path.empty-if-not-exists"

_RULES = Rules(
    {
        "path": any_text,
        "format": any_text,
        "sqlext.source": one_of("auto", "arrow", "spark"),
        "source.path.regex-pattern": pattern,
        MAY_BE_MISSING: boolean,
        "maxFilesPerTrigger": positive,
        "source.monitor-interval": duration,
        "source.report-statistics": one_of("NONE", "ALL"),
        "partition.default-name": any_text,
        "partition.time-extractor.class": any_text,
        "partition.time-extractor.kind": one_of("default", "custom"),
        "partition.time-extractor.timestamp-formatter": any_text,
        "partition.time-extractor.timestamp-pattern": any_text,
        "auto-compaction": boolean,
        "compaction.file-size": memory,
        "compaction.parallelism": positive,
        "sink.partition-commit.delay": duration,
        "sink.partition-commit.policy.class": any_text,
        "sink.partition-commit.policy.class.parameters": any_text,
        "sink.partition-commit.policy.kind": any_text,
        "sink.partition-commit.success-file.name": any_text,
        "sink.partition-commit.trigger": one_of("process-time", "partition-time"),
        "sink.partition-commit.watermark-time-zone": any_text,
        "sink.rolling-policy.check-interval": duration,
        "sink.rolling-policy.file-size": memory,
        "sink.rolling-policy.inactivity-interval": duration,
        "sink.rolling-policy.rollover-interval": duration,
        "sink.shuffle-by-partition.enable": boolean,
    },
    required=("path", "format"),
)

# Paths come out as Flink writes them: decoded, without scheme. In a URL's path a plus sign is itself.
_FILE_PATH = (
    "regexp_replace(url_decode(replace(_metadata.file_path, '+', '%2B')), '^[a-zA-Z][a-zA-Z0-9+.-]*:(//[^/]*)?', '')"
)
_METADATA = {
    "file.path": (STRING, _FILE_PATH),
    "file.name": (STRING, "url_decode(replace(_metadata.file_name, '+', '%2B'))"),
    "file.size": (BIGINT, "_metadata.file_size"),
    "file.modification-time": (TIMESTAMP_LTZ3, "_metadata.file_modification_time"),
}


class Filesystem(Connector):
    """Files. Bounded unless ``source.monitor-interval`` is set, as in Flink."""

    name = "filesystem"
    reader = "sqlext.connectors.filesystem.reader.tables:READER"
    places = "sqlext.connectors.filesystem.reader.places:PLACES"
    sink = "sqlext.connectors.filesystem.sink.final_state:file_sink"
    local_sink = "sqlext.connectors.filesystem.local_sink:local_files"
    decodes = True
    in_files = True
    keeps_order = True
    rules = _RULES
    leads_out = (
        "partition.default-name",  # the name of a folder
        "sink.partition-commit.policy.class",
        "sink.partition-commit.policy.class.parameters",
    )

    def rules_for(self, table: Table, role: Role) -> Rules:
        """Return the connector's options and those of the table's format."""
        name = table.option("format")
        if not name:
            return _RULES
        form = JSON_CHANGELOG_FORMATS[name].rules if name in JSON_CHANGELOG_FORMATS else self._format(table).rules
        # As Flink's, this connector passes over options of the format that nobody knows; Kafka's refuses them.
        return _RULES.merged(form, Rules(prefixes=(f"{name}.",)))

    def validate(self, table: Table, role: Role) -> None:
        """Refuse what cannot work; see Connector.validate."""
        super().validate(table, role)
        if self.changelog(table):
            JSON_CHANGELOG_FORMATS[table.option("format") or ""].validate(self.owner, dict(table.options), role)
        else:
            self._format(table).validate(self.owner, dict(table.options))
        if table.option("format") == RawFormat.name:
            require_raw(physical_fields(table, table.partitioned_by), lines=True)
        # As Spark does (ALL_PARTITION_COLUMNS_NOT_ALLOWED): files would have no column.
        if len(table.partitioned_by) == len(table.columns):
            raise OptionError("OPT-008", f"every column of `{table.name.name}` is a partition column")
        # Spark finds out at the start which of a folder's names are values.
        if table.partitioned_by and may_be_missing(table):
            message = f"{self.owner} with PARTITIONED BY needs a folder that is there"
            raise OptionError("OPT-005", message, option=MAY_BE_MISSING, hint="create the folder")

    def bounded(self, table: Table) -> bool:
        """Return whether the folder is read once: no ``source.monitor-interval``."""
        return table.option("source.monitor-interval") is None and table.option("scan.mode") != "streaming"

    def no_own_reader(self, table: Table) -> str:
        """Return why no reader of ours gives the table's raw rows, empty if one does."""
        return "it reads changes" if self.changelog(table) else super().no_own_reader(table)

    def prefers_own_reader(self, table: Table) -> bool:
        """Return True where rows are judged: our own reader knows the number of a line."""
        return bad_rows_policy(table) is not None or super().prefers_own_reader(table)

    def has_statistics(self, table: Table) -> bool:
        """Return whether its files are parquet."""
        return table.option("format") == PARQUET.name

    def cannot_judge(self, table: Table) -> str:
        """Return why bad rows are not told from others, empty if they are."""
        return why_not_judged(table.option("format") or "", TEXT_FORMATS, dict(table.options))

    def changelog(self, table: Table) -> bool:
        """Return whether its format is one of changes."""
        return table.option("format") in JSON_CHANGELOG_FORMATS

    def takes_changes(self, table: Table) -> bool:
        """Return whether its format is one of changes."""
        return self.changelog(table)

    def metadata(self, table: Table) -> Mapping[str, LogicalType]:
        """Return path, name, size and modification time of the file a row came from."""
        return {key: type_ for key, (type_, _) in _METADATA.items()}

    def read_spec(self, table: Table, zone: str = "UTC") -> ReadSpec:
        """Return how the files are read; partition columns come from folder names."""
        if self.changelog(table):
            return self._changes_spec(table, zone)
        if bad_rows_policy(table) is not None and not self.cannot_judge(table):
            return self._judged_spec(table, zone)
        options = dict(table.options)
        file_format = self._format(table)
        fields = physical_fields(table, table.partitioned_by)
        raw = file_format.raw_schema(fields, options)
        derived: tuple[tuple[str, str], ...] = ()
        spark_format = spark_name(file_format.name)
        reader = file_format.reader_options(options)
        if file_format.name == "json" and fails_on_missing(options):
            # Spark's reader cannot tell an absent key from a null one: the lines are parsed in SQL.
            spark_format, derived, decoded = "text", *self._line_by_line(fields, options, zone)
            raw, reader = (("value", "STRING"),), ()
        else:
            decoded = file_format.decode(fields, options, zone, identifier)
        spec = self._files_spec(table, dict(decoded.expressions), zone, spark_format, raw, reader)
        return replace(spec, derived=derived, filters=(*spec.filters, *decoded.filters))

    def _changes_spec(self, table: Table, zone: str) -> ReadSpec:
        """Return how files of changes are read: a line is a message."""
        form = JSON_CHANGELOG_FORMATS[table.option("format") or ""]
        fields = physical_fields(table, table.partitioned_by)
        changes = parsed_changes(form, identifier("value"), fields, dict(table.options), zone)
        spec = self._files_spec(table, changes.columns, zone, "text", (("value", "STRING"),))
        columns = (*spec.columns, kind_column(changes.kind))
        return replace(spec, columns=columns, derived=changes.derived, exploded=changes.exploded)

    def _judged_spec(self, table: Table, zone: str) -> ReadSpec:
        """Return how files are read line by line, bad rows told from others; blank lines are no rows."""
        text_format, options = TEXT_FORMATS[table.option("format") or ""], dict(table.options)
        line, fields = identifier("value"), physical_fields(table, table.partitioned_by)
        message = judged(text_format, Message(text_format.message(line), "__value", fields, options, zone))
        spec = self._files_spec(table, dict(message.expressions), zone, "text", (("value", "STRING"),))
        filters = (*spec.filters, *text_format.is_row(line, options))
        derived = (("__place", _FILE_PATH), *message.derived)
        spec = replace(spec, derived=derived, filters=filters, file_metadata=True)
        return with_faults(spec, table, Faults(message.reason, line, "__place", message.rest))

    def _files_spec(
        self,
        table: Table,
        expressions: dict[str, str],
        zone: str,
        spark_format: str,
        raw: tuple[tuple[str, str], ...],
        reader: Options = (),
    ) -> ReadSpec:
        """Return how files are read, given the fields in them; values of folders and metadata are added."""
        options = dict(table.options)
        columns = {c.name: c for c in read_columns(table)}
        for name in table.partitioned_by:
            expressions[name] = _partition_value(table, columns[name], zone)
        for column in metadata_columns(table):
            expressions[column.name] = _metadata_value(table, column, zone)
        return ReadSpec(
            format=spark_format,
            schema=(*raw, *((n, "STRING") for n in table.partitioned_by)),
            columns=tuple(
                ReadColumn(c.name, expressions[c.name], output_type(declared_type(c), is_instant(table, c)))
                for c in columns.values()
            ),
            # Flink reads sub-folders too, and takes values from folder names only where PARTITIONED BY says so.
            options=reader if table.partitioned_by else (*reader, ("recursiveFileLookup", "true")),
            # By default Spark skips files a week older than the newest that it has seen.
            stream_options=(("maxFileAge", "36500d"), *_limit(options)),
            guards=_guards(spark_format, options),
            path=absolute(options.get("path")),
            filters=_path_filter(options),
            bounded=self.bounded(table),
            file_metadata=bool(metadata_columns(table)) or "source.path.regex-pattern" in options,
            may_be_missing=may_be_missing(table),
        )

    def require_written_here(self, table: Table) -> None:
        """Refuse a URL without a store that has conditional writes: by these files are committed."""
        path = table.option("path") or ""
        if not is_remote(path):
            return
        if not has_store(path):
            message = f"{self.owner} writes to local folders and object stores, and `{path}` is neither"
            hint = "s3://, s3a://, gs:// and abfss:// name object stores; 'connector' = 'delta' writes where Spark does"
            raise OptionError("OPT-018", message, option="path", hint=hint)
        package("obstore", "objects", f"writing to `{path}`")

    def write_spec(self, table: Table) -> WriteSpec:
        """Return how the files are written."""
        return replace(super().write_spec(table), format=table.option("format"))

    def _format(self, table: Table) -> Format:
        name = table.option("format") or ""
        if name not in FORMATS:
            raise unknown_format(name, {**FORMATS, **JSON_CHANGELOG_FORMATS}, self.owner)
        return FORMATS[name]

    def _line_by_line(
        self, fields: tuple[ReadField, ...], options: Mapping[str, str], zone: str
    ) -> tuple[tuple[tuple[str, str], ...], Decoded]:
        line = identifier("value")
        message = parsed(JsonFormat(), Message(line, "__value", fields, options, zone))
        check = missing_field_check(line, fields)
        return message.derived, Decoded(message.decoded.expressions, (check, *message.decoded.filters))


def spark_name(file_format: str) -> str:
    """Return how Spark calls a format of ``FORMATS``."""
    return "text" if file_format == RawFormat.name else file_format


def _limit(options: Mapping[str, str]) -> Options:
    most = options.get("maxFilesPerTrigger")
    return (("maxFilesPerTrigger", most),) if most is not None else ()


def _guards(spark_format: str, options: Mapping[str, str]) -> Options:
    """Return what makes a reader of Spark's refuse what ours refuses, and take what ours takes."""
    guards = _GUARDS.get(spark_format)
    return guards(options) if guards is not None else ()


def _path_filter(options: Mapping[str, str]) -> tuple[str, ...]:
    regex = options.get("source.path.regex-pattern")
    return (f"{_FILE_PATH} RLIKE {string(f'^(?:{regex})$')}",) if regex else ()


def _partition_value(table: Table, column: Column, zone: str) -> str:
    default = table.option("partition.default-name", DEFAULT_PARTITION) or DEFAULT_PARTITION
    text = f"nullif({identifier(column.name)}, {string(default)})"
    return text_to_value(declared_type(column), text, zone, instant=is_instant(table, column))


def _metadata_value(table: Table, column: Column, zone: str) -> str:
    own, expression = _METADATA[metadata_key(column)]
    declared = declared_type(column)
    value = expression if own == declared else f"CAST({expression} AS {declared.spark()})"
    return wall_to_instant(value, zone) if is_instant(table, column) else value


def may_be_missing(table: Table) -> bool:
    """Return whether a folder that is not there is an empty one."""
    return (table.option(MAY_BE_MISSING) or "false").strip().lower() == "true"
