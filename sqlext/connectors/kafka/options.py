"""Check the options of Kafka tables, and find which columns are in key and value."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import NamedTuple

from sqlext.connectors.base import Role, physical_fields
from sqlext.connectors.formats.avro import AvroFormat, require_avro_columns
from sqlext.connectors.formats.avro_confluent import AvroConfluentFormat, registry_url, require_registry
from sqlext.connectors.formats.base import MessageFormat, ReadField
from sqlext.connectors.formats.changelog import CHANGELOG_FORMATS
from sqlext.connectors.formats.csv import CsvFormat
from sqlext.connectors.formats.debezium_avro import PREFIX, record_fields, registry_options
from sqlext.connectors.formats.json import JsonFormat
from sqlext.connectors.formats.raw import RawFormat, require_raw
from sqlext.connectors.options import OptionError, Rules, any_text, duration, one_of, positive, whole
from sqlext_catalog.model import Options, Table

#: The formats that hold records of Avro.
AVRO_FORMATS: dict[str, AvroFormat] = {f.name: f for f in (AvroFormat(), AvroConfluentFormat())}
MESSAGE_FORMATS: dict[str, MessageFormat] = {"json": JsonFormat(), "csv": CsvFormat(), **AVRO_FORMATS}
_KEY_FORMATS = (*MESSAGE_FORMATS, RawFormat.name)
FORMATS = (*_KEY_FORMATS, *CHANGELOG_FORMATS)
#: The options that name one.
FORMAT_KEYS = ("format", "value.format", "key.format")
#: Beginnings of the options of formats, in the value and, for those of keys, in the key.
_FORMAT_OPTIONS = tuple(f"{name}." for name in (*_KEY_FORMATS, *CHANGELOG_FORMATS))

_STARTUP = ("earliest-offset", "latest-offset", "group-offsets", "timestamp", "specific-offsets")
_BOUNDED = ("unbounded", "latest-offset", "group-offsets", "timestamp", "specific-offsets")
_OFFSETS = re.compile(r"\s*partition:(\d+)\s*,\s*offset:(\d+)\s*")


def _offsets_text(value: str) -> str | None:
    good = all(_OFFSETS.fullmatch(part) for part in value.split(";") if part.strip())
    return None if good else "`partition:0,offset:42;partition:1,offset:300`"


_PARTS = {
    "topic": any_text,
    "topic-pattern": any_text,
    "properties.bootstrap.servers": any_text,
    "key.format": one_of(*_KEY_FORMATS),
    "key.fields-prefix": any_text,
    "value.fields-include": one_of("ALL", "EXCEPT_KEY"),
}
_END = {
    "scan.bounded.mode": one_of(*_BOUNDED),
    "scan.bounded.specific-offsets": _offsets_text,
    "scan.bounded.timestamp-millis": whole,
    "scan.topic-partition-discovery.interval": duration,
    "maxOffsetsPerTrigger": positive,
}
#: How often a row may be written, and the older name of that option.
GUARANTEE = "sink.delivery-guarantee"
SEMANTIC = "sink.semantic"
_guarantee = one_of("at-least-once", "exactly-once", "none")
_SINK = {
    "sink.partitioner": any_text,
    SEMANTIC: _guarantee,
    GUARANTEE: _guarantee,
    "sink.transactional-id-prefix": any_text,
    "sink.parallelism": positive,
}
_PREFIXES = ("properties.", "kafka.")

RULES = Rules(
    {
        **_PARTS,
        **_END,
        **_SINK,
        "format": one_of(*FORMATS),
        "value.format": one_of(*FORMATS),
        "key.fields": any_text,
        "scan.startup.mode": one_of(*_STARTUP),
        "scan.startup.specific-offsets": _offsets_text,
        "scan.startup.timestamp-millis": whole,
    },
    required=("properties.bootstrap.servers",),
    prefixes=_PREFIXES,
)
#: Those of ``upsert-kafka``. What a buffer holds back in Flink, a micro-batch does here.
UPSERT_RULES = Rules(
    {
        **_PARTS,
        **_END,
        **_SINK,
        "value.format": one_of(*_KEY_FORMATS),
        "sink.buffer-flush.max-rows": whole,
        "sink.buffer-flush.interval": duration,
    },
    required=("properties.bootstrap.servers", "key.format", "value.format"),
    prefixes=_PREFIXES,
)


def format_rules(table: Table) -> Rules:
    """Return the options of the formats of keys and values; any where a format is not named yet."""
    value, key = _rules_of(value_format(table)), _rules_of(key_format(table))
    return Rules().merged(value, value.behind("value."), key.behind("key."))


def _rules_of(name: str) -> Rules:
    if name == RawFormat.name:
        return RawFormat.rules
    form = MESSAGE_FORMATS.get(name) or CHANGELOG_FORMATS.get(name)
    return Rules(prefixes=_FORMAT_OPTIONS) if form is None else form.rules


def value_format(table: Table) -> str:
    """Return the format of a record's value."""
    return (table.option("value.format") or table.option("format") or "").lower()


def key_format(table: Table) -> str:
    """Return the format of a record's key, empty where keys are not read."""
    return (table.option("key.format") or "").lower()


def key_fields(table: Table) -> tuple[ReadField, ...]:
    """Return the columns that are in a record's key."""
    return tuple(f for f in physical_fields(table) if f.name in key_names(table.options))


def value_fields(table: Table) -> tuple[ReadField, ...]:
    """Return the columns that are in a record's value."""
    left_out = key_names(table.options) if keys_only_in_key(table) else ()
    return tuple(f for f in physical_fields(table) if f.name not in left_out)


def key_names(options: Options) -> tuple[str, ...]:
    """Return the names of the key's columns."""
    return tuple(n.strip() for n in dict(options).get("key.fields", "").split(";") if n.strip())


def part_options(options: Options, part: str) -> dict[str, str]:
    """Return the format options of a record's ``key`` or ``value``: ``json.x``, ``value.json.x``, ``key.json.x``."""
    # As in Flink, options without a prefix (`json.x`) are those of the value.
    plain = {} if part == "key" else {k: v for k, v in options if k.startswith(_FORMAT_OPTIONS)}
    own = {k[len(part) + 1 :]: v for k, v in options if k.startswith(tuple(f"{part}.{p}" for p in _FORMAT_OPTIONS))}
    return plain | own


def format_prefix(options: Options, part: str) -> str:
    """Return what stands before the format's options of a part where a table gives them."""
    return f"{part}." if part == "key" or "value.format" in dict(options) else ""


def keys_only_in_key(table: Table) -> bool:
    """Return whether the columns of the key are left out of the value."""
    return (table.option("value.fields-include") or "ALL").upper() == "EXCEPT_KEY"


def key_prefix(table: Table, part: str) -> str:
    """Return the beginning of the names of a part's columns, which its fields do not have."""
    return table.option("key.fields-prefix") or "" if part == "key" else ""


def unprefixed(table: Table, part: str, fields: tuple[ReadField, ...]) -> tuple[ReadField, ...]:
    """Return the fields of a part by the names that they have in it."""
    return tuple(replace(f, name=f.name[len(key_prefix(table, part)) :]) for f in fields)


def validate_keys(table: Table) -> None:
    """Refuse key options that do not fit each other, or the columns."""
    names, physical = key_names(table.options), [f.name for f in physical_fields(table)]
    if bool(names) != bool(table.option("key.format")):
        raise OptionError("OPT-004", "'key.format' and 'key.fields' go together", option="key.format")
    prefix = table.option("key.fields-prefix") or ""
    for name in names:
        if name not in physical or not name.startswith(prefix):
            message = f"'key.fields': `{name}` is no column of `{table.name.name}` beginning with '{prefix}'"
            raise OptionError("OPT-005", message, option="key.fields")
    if prefix and not keys_only_in_key(table):
        message = "'key.fields-prefix' needs 'value.fields-include' = 'EXCEPT_KEY'"
        raise OptionError("OPT-005", message, option="key.fields-prefix")


def validate_bounds(table: Table) -> None:
    """Refuse a begin or an end that does not say where it is."""
    for mode, option in (("timestamp", "timestamp-millis"), ("specific-offsets", "specific-offsets")):
        for scan in ("scan.startup", "scan.bounded"):
            if table.option(f"{scan}.mode") == mode and not table.option(f"{scan}.{option}"):
                message = f"'{scan}.mode' = '{mode}' needs option '{scan}.{option}'"
                raise OptionError("OPT-004", message, option=f"{scan}.mode")


def validate_raw(table: Table) -> None:
    """Refuse columns that the format 'raw' cannot hold."""
    for fields, form in ((key_fields(table), key_format(table)), (value_fields(table), value_format(table))):
        if form == RawFormat.name:
            require_raw(fields)


def validate_avro(owner: str, table: Table) -> None:
    """Refuse columns and options that the formats of Avro do not take."""
    for part in avro_parts(table).values():
        if part.registry:
            require_registry(owner, part.options, part.given)
        require_avro_columns(owner, part.form, part.columns, part.options)
    if has_registry(table) and (table.option("sqlext.source") or "").lower() == "spark":
        message = f"option 'sqlext.source' of {owner} cannot be 'spark': a schema registry needs a reader of ours"
        raise OptionError("OPT-005", message, option="sqlext.source", hint="leave it out")


def has_avro(table: Table) -> bool:
    """Return whether keys or values are records of Avro."""
    return bool(avro_parts(table))


def has_registry(table: Table) -> bool:
    """Return whether keys or values have their schemas in a registry."""
    return any(part.registry for part in avro_parts(table).values())


def registry_urls(table: Table) -> dict[str, str]:
    """Return where the registries of a table are, by the options that say so."""
    found = {}
    for part in avro_parts(table).values():
        if part.registry:
            key, url = registry_url(part.options)
            found[f"{part.given}{key}"] = url
    return found


class AvroPart(NamedTuple):
    """The key or the value of a record, where that is Avro.

    Attributes:
        form: the format that it has, or that its record of a change has.
        columns: the table's columns in it, by their names there.
        record: the fields of the record.
        options: of the format, by its own names.
        given: what stands before these names where the table gives them.
    """

    form: AvroFormat
    columns: tuple[ReadField, ...]
    record: tuple[ReadField, ...]
    options: dict[str, str]
    given: str

    @property
    def registry(self) -> bool:
        """Whether its schemas are in a registry."""
        return self.form.name == AvroConfluentFormat.name


def avro_parts(table: Table) -> dict[str, AvroPart]:
    """Return what is Avro of a table's records: ``key``, ``value``."""
    parts = (("key", key_format(table), key_fields(table)), ("value", value_format(table), value_fields(table)))
    found = ((part, _avro_part(table, part, form, fields)) for part, form, fields in parts)
    return {part: avro for part, avro in found if avro is not None}


def _avro_part(table: Table, part: str, name: str, fields: tuple[ReadField, ...]) -> AvroPart | None:
    columns, options = unprefixed(table, part, fields), part_options(table.options, part)
    given, changes = format_prefix(table.options, part), CHANGELOG_FORMATS.get(name)
    if changes is not None and changes.avro:
        form, record = AVRO_FORMATS[AvroConfluentFormat.name], record_fields(columns, changes.op)
        return AvroPart(form, columns, record, registry_options(options), f"{given}{PREFIX}")
    return AvroPart(AVRO_FORMATS[name], columns, columns, options, given) if name in AVRO_FORMATS else None


def validate_topic(owner: str, table: Table, role: Role) -> None:
    """Refuse a table without a topic, and one that writes to several."""
    topic, pattern = table.option("topic"), table.option("topic-pattern")
    if (topic is None) == (pattern is None):
        raise OptionError("OPT-004", f"{owner} needs either option 'topic' or option 'topic-pattern'")
    if role == "sink" and (topic is None or ";" in topic):
        raise OptionError("OPT-005", f"a {owner} sink writes to one 'topic'", option="topic")


def parsed_offsets(table: Table, option: str) -> dict[str, int]:
    """Return the offsets that an option names, by partition."""
    found = (_OFFSETS.fullmatch(part) for part in (table.option(option) or "").split(";"))
    return {m.group(1): int(m.group(2)) for m in found if m}
