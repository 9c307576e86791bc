"""Take messages of changes apart, and put them together, in Spark SQL.

A message is parsed once (``from_json`` or ``from_avro`` of its envelope); its images become an array of rows with their
kinds, which is exploded. What is no such message fails the query (RUN-044), or is skipped with ``ignore-parse-errors``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlext.connectors.formats.avro_confluent import AvroConfluentFormat
from sqlext.connectors.formats.base import Message, ReadField
from sqlext.connectors.formats.changelog import ChangelogFormat
from sqlext.connectors.formats.debezium_avro import record_fields, registry_options
from sqlext.connectors.formats.json import JsonFormat, ignores_errors
from sqlext.quoting import identifier, string
from sqlext_udfs.kernel.row_kinds import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE

_MESSAGE, _OLD, _CHANGE = "__message", "__old", "__change"


@dataclass(frozen=True, slots=True)
class ParsedChanges:
    """How texts become changes, as ``spec.ReadSpec`` says it.

    Attributes:
        derived: the parsed message.
        exploded: the array of its changes.
        columns: the fields of the row.
        metadata: the values asked for, by key.
        kind: the kind of a row.
    """

    derived: tuple[tuple[str, str], ...]
    exploded: tuple[str, str]
    columns: dict[str, str]
    metadata: dict[str, str]
    kind: str = f"{_CHANGE}.kind"


def parsed_changes(
    form: ChangelogFormat,
    content: str,
    fields: tuple[ReadField, ...],
    options: Mapping[str, str],
    zone: str,
    metadata: tuple[str, ...] = (),
) -> ParsedChanges:
    """Return how a message becomes the changes that it tells of.

    Args:
        form: its format.
        content: SQL of the message: a STRING, or a BINARY where it is a record of Avro.
        fields: the columns of a row.
        options: of the table, with the format's prefix.
        zone: the session's time zone.
        metadata: keys of the format's metadata that are read.
    """
    reading = _Reading(form, content, fields, options, metadata)
    if form.avro:
        row = AvroConfluentFormat().decode(fields, registry_options(options), zone, _of_row)
    else:
        row = JsonFormat().decode(fields, {}, zone, _of_row)
    values = {k: form.metadata[k].value.format(reading.of(form.metadata[k].field)) for k in metadata}
    return ParsedChanges(reading.derived(), (_CHANGE, reading.changes()), dict(row.expressions), values)


def _of_row(name: str) -> str:
    return f"{_CHANGE}.row.{identifier(name)}"


@dataclass(frozen=True, slots=True)
class _Reading:
    form: ChangelogFormat
    content: str
    fields: tuple[ReadField, ...]
    options: Mapping[str, str]
    metadata: tuple[str, ...]

    def of(self, name: str) -> str:
        """Return a field of the message."""
        payload = ".payload" if self.form.has_schema(self.options) else ""
        return f"{_MESSAGE}{payload}.{identifier(name)}"

    def derived(self) -> tuple[tuple[str, str], ...]:
        """Return the message and, where an update tells what it has changed, the names of these fields."""
        if self.form.avro:
            fields, options = record_fields(self.fields, self.form.op), registry_options(self.options)
            return ((_MESSAGE, AvroConfluentFormat().struct(Message(self.content, _MESSAGE, fields, options, "UTC"))),)
        row = f"STRUCT<{', '.join(f'{identifier(n)}: {t}' for n, t in JsonFormat().raw_schema(self.fields, {}))}>"
        listed = f"ARRAY<{row}>" if self.form.images == "old-lists" else row
        images = ("before", "after") if self.form.images == "pair" else ("data", "old")
        wanted = {**dict.fromkeys(images, listed), self.form.op: "STRING"}
        wanted |= {self.form.metadata[k].field: self.form.metadata[k].stored for k in self.metadata}
        wanted |= dict.fromkeys(self._filters(), "STRING")
        message = ", ".join(f"{identifier(n)}: {t}" for n, t in wanted.items())
        if self.form.has_schema(self.options):
            message = f"payload: STRUCT<{message}>"
        parsed = [(_MESSAGE, self._from_json(f"STRUCT<{message}>"))]
        if self.form.images != "pair":
            # Parsed twice: in the typed image a field that became NULL and one that is absent look alike.
            names = "MAP<STRING, STRING>"
            names = f"ARRAY<{names}>" if self.form.images == "old-lists" else names
            parsed.append((_OLD, self._from_json(f"STRUCT<old: {names}>")))
        return tuple(parsed)

    def changes(self) -> str:
        """Return the array of the message's changes: NULL for a message without any."""
        op, form = self.of(self.form.op), self.form
        # Kafka's tombstones are no change and no error, as in Flink.
        nothing = f"{self.content} IS NULL" if form.avro else f"coalesce({self.content}, '') = ''"
        whens = [(nothing, "NULL")]
        # Flink matches the whole text, RLIKE searches in it.
        whens += [
            (f"NOT coalesce({self.of(n)} RLIKE {string(f'^(?:{p})$')}, false)", "NULL") for n, p in self._matches()
        ]
        pairs = ((form.inserts, self._one(INSERT)), (form.updates, self._update()), (form.deletes, self._one(DELETE)))
        whens += [(f"{op} IN ({_strings(ops)}) AND {there}", rows) for ops, (there, rows) in pairs]
        if form.skipped:
            whens.append((f"{op} IN ({_strings(form.skipped)})", "NULL"))
        cases = " ".join(f"WHEN {condition} THEN {rows}" for condition, rows in whens)
        return f"CASE {cases} ELSE {self._otherwise(op)} END"

    def _otherwise(self, op: str) -> str:
        if ignores_errors(self.form.json_options(self.options)):
            return "NULL"
        told = f"[RUN-044] no message of {self.form.name}: unknown {self.form.op}, or an image of the row is missing: "
        shown = f"hex({self.content})" if self.form.avro else self.content
        return f"raise_error(concat({string(told)}, {shown}))"

    def _one(self, kind: int) -> tuple[str, str]:
        """Return the condition and the changes of an INSERT or a DELETE."""
        image = self.of("data")
        if self.form.images == "pair":
            image = self.of("after" if kind == INSERT else "before")
        if self.form.images == "old-lists":
            return f"{image} IS NOT NULL", f"transform({image}, r -> {_change(kind, 'r')})"
        return f"{image} IS NOT NULL", f"array({_change(kind, image)})"

    def _update(self) -> tuple[str, str]:
        if self.form.images == "pair":
            before, after = self.of("before"), self.of("after")
            return f"{before} IS NOT NULL AND {after} IS NOT NULL", _updated(before, after)
        data, old = self.of("data"), self.of("old")
        there = f"{data} IS NOT NULL AND {old} IS NOT NULL"
        if self.form.images == "old":
            return there, _updated(self._before(data, old, f"{_OLD}.old"), data)
        before = self._before("r", f"{old}[i]", f"{_OLD}.old[i]")
        return there, f"flatten(transform({data}, (r, i) -> {_updated(before, 'r')}))"

    def _before(self, data: str, old: str, changed: str) -> str:
        """Return the row before an update: ``old`` has only what it has changed."""
        values = (
            f"{string(f.name)}, IF(map_contains_key({changed}, {string(f.name)}), "
            f"{old}.{identifier(f.name)}, {data}.{identifier(f.name)})"
            for f in self.fields
        )
        return f"named_struct({', '.join(values)})"

    def _filters(self) -> dict[str, str]:
        """Return the fields that must match, and the option that says what."""
        return {
            n: f"{self.form.name}.{n}.include" for n in ("database", "table") if f"{n}.include" in self.form.own_options
        }

    def _matches(self) -> list[tuple[str, str]]:
        return [(n, self.options[key]) for n, key in self._filters().items() if key in self.options]

    def _from_json(self, schema: str) -> str:
        settings = JsonFormat().reader_options(self.form.json_options(self.options))
        pairs = ", ".join(f"{string(k)}, {string(v)}" for k, v in settings if k != "columnNameOfCorruptRecord")
        return f"from_json({self.content}, {string(schema)}, map({pairs}))"


def written_message(form: ChangelogFormat, row: str, taken_back: str) -> tuple[tuple[str, str], ...]:
    """Return the fields of the message that tells of a change.

    As Flink writes it: an update is a message that deletes the row before and one that inserts the row after.

    Args:
        form: the format.
        row: SQL of the row, a struct.
        taken_back: SQL of whether the row is taken back.
    """
    op = f"IF({taken_back}, {string(form.deletes[0])}, {string(form.inserts[0])})"
    if form.images == "pair":
        before, after = f"IF({taken_back}, {row}, NULL)", f"IF({taken_back}, NULL, {row})"
        return (("before", before), ("after", after), (form.op, op))
    return (("data", f"array({row})" if form.images == "old-lists" else row), (form.op, op))


def _change(kind: int, row: str) -> str:
    return f"named_struct('kind', CAST({kind} AS TINYINT), 'row', {row})"


def _updated(before: str, after: str) -> str:
    return f"array({_change(UPDATE_BEFORE, before)}, {_change(UPDATE_AFTER, after)})"


def _strings(values: tuple[str, ...]) -> str:
    return ", ".join(string(v) for v in values)
