"""Find what a table's options say of each value: those of Flink's DataGen, for parts of values too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from sqlext.connectors.base import declared_type, read_columns
from sqlext.connectors.options import Check, OptionError, any_text, boolean, duration, listed, number, one_of, positive
from sqlext.errors import did_you_mean
from sqlext.types import UNBOUNDED, LogicalType
from sqlext_catalog.model import Options, Table

#: What may follow the name of a field, and the check of its value.
CHECKS: Mapping[str, Check] = {
    "kind": one_of("random", "sequence"),
    "min": number,
    "max": number,
    "max-past": duration,
    "length": positive,
    "var-len": boolean,
    "null-rate": number,
    "start": any_text,
    "end": any_text,
}
_NUMBERS = ("TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL")
_TEXTS = ("CHAR", "VARCHAR", "BINARY", "VARBINARY")
_COLLECTIONS = ("ARRAY", "MAP", "MULTISET")
_RANGE = ("min", "max")
#: Root of a type -> the options that its values take.
_TAKEN: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(_NUMBERS, _RANGE),
    **dict.fromkeys(_TEXTS, ("length", "var-len")),
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_LTZ", "DATE"), ("max-past",)),
    **dict.fromkeys(("INTERVAL_YEAR_MONTH", "INTERVAL_DAY_TIME"), _RANGE),
    **dict.fromkeys(_COLLECTIONS, ("length",)),
    **dict.fromkeys(("BOOLEAN", "TIME", "ROW"), ()),
}
_OF_SEQUENCES = ("kind", "start", "end")
#: Flink's defaults of ``fields.#.length``.
_DEFAULT_LENGTH, _DEFAULT_ELEMENTS = 100, 3
#: How long the texts of a value may be together, in characters or bytes: a longer one is a mistake, or an attack.
_MOST = 1 << 24
#: Types of which a number can be made.
_COUNTABLE = (*_NUMBERS, *_TEXTS)


@dataclass(frozen=True)
class GeneratedField:
    """A value that is made: a column, or a part of one.

    Attributes:
        name: of the part of a ROW, or of the column.
        path: what stands between ``fields.`` and the last part of its options.
        options: what the table says of it, by the last part of the key.
        inner: the element; key and value; the parts of a ROW.
    """

    name: str
    path: str
    type: LogicalType
    options: Mapping[str, str] = field(default_factory=dict)
    inner: tuple[GeneratedField, ...] = ()

    def key(self, option: str) -> str:
        """Return the whole key of an option."""
        return f"fields.{self.path}.{option}"

    @property
    def counted(self) -> bool:
        """Whether its values are a sequence."""
        return self.options.get("kind", "").strip().lower() == "sequence"

    @property
    def length(self) -> int:
        """How long a text is, in characters or bytes, or how many elements a collection has."""
        given, declared = self.options.get("length"), self.type
        bound = declared.precision if declared.root in _TEXTS and declared.precision != UNBOUNDED else None
        return int(given) if given else bound or (_DEFAULT_LENGTH if declared.root in _TEXTS else _DEFAULT_ELEMENTS)

    @property
    def size(self) -> int:
        """How large a value is, about, in bytes."""
        if self.type.root in _TEXTS:
            return 0 if self.counted else self.length
        within = sum(part.size for part in self.inner)
        return self.length * max(within, 1) if self.type.root in _COLLECTIONS else within or 1

    def every(self) -> Iterator[GeneratedField]:
        """Yield it and its parts."""
        yield self
        for part in self.inner:
            yield from part.every()


def generated_fields(table: Table) -> tuple[GeneratedField, ...]:
    """Return how the table's columns are made.

    Raises:
        OptionError: OPT-003 an option of nothing, OPT-005 a share that is none, OPT-008 a type that cannot be made.
    """
    found = tuple(_field(table.options, c.name, c.name, declared_type(c)) for c in read_columns(table))
    for column in found:
        for part in column.every():
            _require(part, is_column=part is column)
        if column.size > _MOST:
            raise _too_large(column)
    taken = {part.key(o): part for column in found for part in column.every() for o in CHECKS}
    for key, _ in table.options:
        if key.startswith("fields.") and key not in taken:
            raise _of_nothing(table, key, [part.path for column in found for part in column.every()])
    return found


def _field(options: Options, name: str, path: str, declared: LogicalType) -> GeneratedField:
    said = dict(options)
    own = {o: said[key] for o in CHECKS if (key := f"fields.{path}.{o}") in said}
    if declared.root == "ROW":
        inner = [(f.name, f.name, f.type) for f in declared.fields]
    elif declared.root == "MAP":
        inner = [(n, n, t) for n, t in zip(("key", "value"), declared.children, strict=True)]
    else:
        inner = [("element", "element", t) for t in declared.children]
    parts = tuple(_field(options, n, f"{path}.{p}", t) for n, p, t in inner)
    return GeneratedField(name, path, declared, own, parts)


def _require(part: GeneratedField, *, is_column: bool) -> None:
    taken = _TAKEN.get(part.type.root)
    if taken is None:
        message = f"connector 'datagen' makes no values of type {part.type} (`{part.path}`)"
        raise OptionError("OPT-008", message)
    counted = is_column and part.counted
    random = ("kind", *taken, "null-rate") if is_column else (*taken, "null-rate")
    names = _OF_SEQUENCES if counted else random
    for option in part.options:
        if option not in names:
            of = "a sequence" if counted else f"random values of type {part.type}"
            message = f"option '{part.key(option)}' does not belong to {of}"
            hint = f"they take {', '.join(names)}"
            raise OptionError("OPT-003", message, option=part.key(option), hint=hint)
    if counted and part.type.root not in _COUNTABLE:
        message = f"option '{part.key('kind')}': there is no sequence of {part.type}"
        raise OptionError("OPT-005", message, option=part.key("kind"))
    share = float(part.options.get("null-rate") or 0)
    if not 0 <= share <= 1:
        key = part.key("null-rate")
        raise OptionError("OPT-005", f"option '{key}' must be from 0 to 1, not '{share:g}'", option=key)


def _too_large(column: GeneratedField) -> OptionError:
    said = next((part.key("length") for part in column.every() if "length" in part.options), None)
    message = f"a value of `{column.name}` would have {column.size:,} characters, and at most {_MOST:,} are made"
    return OptionError("OPT-005", message, option=said, hint=f"'{column.key('length')}' says how long a value is")


def _of_nothing(table: Table, key: str, paths: list[str]) -> OptionError:
    path = key[len("fields.") : key.rfind(".")]
    message = f"option '{key}': `{table.name.name}` has no column `{path}`"
    hint = did_you_mean(path, paths) or f"there are {listed(paths)}"
    return OptionError("OPT-003", message, option=key, hint=hint)
