"""Write the SQL of made-up values: hashes of the row's number, the field's name and, in collections, the place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from sqlext.connectors.datagen.fields import GeneratedField
from sqlext.connectors.options import OptionError
from sqlext.quoting import string
from sqlext.settings import parse_duration

_RANGES = {
    "TINYINT": (-(2**7), 2**7 - 1),
    "SMALLINT": (-(2**15), 2**15 - 1),
    "INT": (-(2**31), 2**31 - 1),
    "BIGINT": (-(2**63), 2**63 - 1),
}
#: SHA-256 in hexadecimal digits.
_HASH_DIGITS = 64
#: Chunks of a longer text are counted by Spark: the text of the query does not grow with that of a value.
_WRITTEN_OUT = 32
#: Flink's longest INTERVAL YEAR TO MONTH, in months.
_MONTHS = 120_000
_DAY_MS = 86_400_000
_MOST_OF_AN_ELEMENT = 10


@dataclass(frozen=True)
class Made:
    """A field, and where its value stands.

    Attributes:
        places: SQL of the places in the collections around it, outermost first.
        wall_clock: SQL of an instant as the field's TIMESTAMP(p).
    """

    field: GeneratedField
    places: tuple[str, ...] = ()
    wall_clock: Callable[[str], str] = lambda instant: f"CAST({instant} AS TIMESTAMP_NTZ)"

    def value(self) -> str:
        """Return the value, NULL as often as it is said.

        Raises:
            OptionError: OPT-005 for a range that is none.
        """
        value = _MAKERS[self.field.type.root](self)
        share = float(self.option("null-rate") or 0)
        return f"IF({self.unit('/null')} < {share}D, NULL, {value})" if share > 0 else value

    def option(self, name: str) -> str | None:
        """Return what the table says."""
        return self.field.options.get(name)

    def hash(self, of: str = "") -> str:
        """Return a BIGINT that looks random."""
        return f"xxhash64({', '.join(('value', string(self.field.path + of), *self.places))})"

    def unit(self, of: str = "") -> str:
        """Return a DOUBLE in [0, 1)."""
        # A DOUBLE has 53 bits: each such fraction is exact, and none is 1.
        return f"(pmod({self.hash(of)}, {2**53}L) / {float(2**53)!r}D)"

    def part(self, number: int, place: str | None = None) -> Made:
        """Return a part of the value, at a place of the collection if it is one."""
        more = (place,) if place is not None else ()
        return Made(self.field.inner[number], (*self.places, *more))


def _boolean(made: Made) -> str:
    return f"(pmod({made.hash()}, 2L) = 0)"


def _integer(made: Made) -> str:
    declared = made.field.type
    low, high = _range(made, *_RANGES[declared.root])
    # Spans beyond BIGINT are counted in DECIMAL.
    return f"CAST({low}BD + pmod(CAST({made.hash()} AS DECIMAL(38, 0)), {high - low + 1}BD) AS {declared.spark()})"


def _range(made: Made, lowest: int, highest: int) -> tuple[int, int]:
    said = [made.option(o) for o in ("min", "max")]
    low, high = (int(float(text)) if text else limit for text, limit in zip(said, (lowest, highest), strict=True))
    if not lowest <= low <= high <= highest:
        raise _no_range(made, low, high)
    return low, high


def _no_range(made: Made, low: float, high: float) -> OptionError:
    message = f"fields.{made.field.path}: min {low} and max {high} are no range of {made.field.type}"
    return OptionError("OPT-005", message, option=made.field.key("max"))


def _float(made: Made) -> str:
    low, high = (float(made.option(o) or d) for o, d in (("min", 0.0), ("max", 1.0)))
    if low > high:
        raise _no_range(made, low, high)
    return f"CAST({low!r}D + {made.unit()} * ({high!r}D - {low!r}D) AS {made.field.type.spark()})"


def _decimal(made: Made) -> str:
    declared = made.field.type
    precision, scale = declared.precision or 10, declared.scale or 0
    if made.option("min") is None and made.option("max") is None:
        # The hash is a BIGINT, of which 18 digits can have any value.
        unscaled = f"pmod({made.hash()}, {10 ** min(precision, 18)}L)"
        return f"CAST({unscaled} / CAST({10**scale} AS DECIMAL(38, 0)) AS {declared.spark()})"
    limit = float(10 ** (precision - scale))
    low, high = (float(made.option(o) or d) for o, d in (("min", 0.0), ("max", limit)))
    if not -limit < low <= high <= limit:
        raise _no_range(made, low, high)
    # Rounded down, so that no value is the limit.
    drawn = f"{low!r}D + {made.unit()} * ({high!r}D - {low!r}D)"
    return f"CAST(floor(CAST({drawn} AS DECIMAL(38, {scale})), {scale}) AS {declared.spark()})"


def _text(made: Made) -> str:
    length = made.field.length
    return f"substring({_digits(made, length)}, 1, {_cut(made, length)})"


def _bytes(made: Made) -> str:
    length = made.field.length
    return f"unhex(substring({_digits(made, 2 * length)}, 1, 2 * {_cut(made, length)}))"


def _cut(made: Made, length: int) -> str:
    """Return how long a value is: with ``var-len`` shorter than its length."""
    if (made.option("var-len") or "").strip().lower() != "true":
        return str(length)
    return f"CAST(1 + pmod({made.hash('/length')}, {max(length - 1, 1)}L) AS INT)"


def _digits(made: Made, length: int) -> str:
    places, path = [part for place in made.places for part in ("'/'", place)], f"/{made.field.path}/"

    def chunk(*number: str) -> str:
        return f"sha2(concat({', '.join(('value', *number, *places))}), 256)"

    count = -(-length // _HASH_DIGITS)
    if count > _WRITTEN_OUT:
        numbered = chunk(string(path), "CAST(chunk AS STRING)")
        return f"array_join(transform(sequence(0, {count - 1}), chunk -> {numbered}), '')"
    return f"concat({', '.join(chunk(string(f'{path}{i}')) for i in range(count))})"


def _instant(made: Made) -> str:
    past = parse_duration(made.option("max-past") or "0") or 0
    ago = f" - make_dt_interval(0, 0, 0, pmod({made.hash()}, {past}L) / 1000BD)" if past else ""
    return f"(current_timestamp(){ago})"


def _timestamp(made: Made) -> str:
    return made.wall_clock(_instant(made))


def _date(made: Made) -> str:
    days = (parse_duration(made.option("max-past") or "0") or 0) // _DAY_MS
    return f"date_sub(current_date(), CAST(pmod({made.hash()}, {days + 1}L) AS INT))"


def _time(made: Made) -> str:
    return f"CAST(date_format(current_timestamp(), 'HH:mm:ss.SSS') AS {made.field.type.spark()})"


def _months(made: Made) -> str:
    low, high = _range(made, 0, _MONTHS)
    return f"make_ym_interval(0, CAST({low} + pmod({made.hash()}, {high - low + 1}L) AS INT))"


def _seconds(made: Made) -> str:
    low, high = _range(made, -(2**53), 2**53)
    return f"make_dt_interval(0, 0, 0, ({low}L + pmod({made.hash()}, {high - low + 1}L)) / 1000BD)"


def _array(made: Made) -> str:
    place = _place(made)
    return f"transform(sequence(1, {made.field.length}), {place} -> {made.part(0, place).value()})"


def _map(made: Made) -> str:
    place = _place(made)
    return _entries(made, place, made.part(1, place).value())


def _multiset(made: Made) -> str:
    place = _place(made)
    within = replace(made, places=(*made.places, place))
    return _entries(made, place, f"CAST(1 + pmod({within.hash('/count')}, {_MOST_OF_AN_ELEMENT}L) AS INT)")


def _entries(made: Made, place: str, value: str) -> str:
    """Return a map: of equal keys one is left."""
    key = made.part(0, place)
    if key.option("null-rate"):
        option = key.field.key("null-rate")
        raise OptionError("OPT-005", f"option '{option}': Spark's maps have no key that is NULL", option=option)
    keys = f"array_distinct(transform(sequence(1, {made.field.length}), {place} -> {key.value()}))"
    return f"map_from_entries(transform({keys}, (k, {place}) -> struct(k, {value})))"


def _row(made: Made) -> str:
    parts = (f"{string(f.name)}, {made.part(n).value()}" for n, f in enumerate(made.field.inner))
    return f"named_struct({', '.join(parts)})"


def _place(made: Made) -> str:
    return f"i{len(made.places)}"


_MAKERS: Mapping[str, Callable[[Made], str]] = {
    "BOOLEAN": _boolean,
    **dict.fromkeys(_RANGES, _integer),
    **dict.fromkeys(("FLOAT", "DOUBLE"), _float),
    "DECIMAL": _decimal,
    **dict.fromkeys(("CHAR", "VARCHAR"), _text),
    **dict.fromkeys(("BINARY", "VARBINARY"), _bytes),
    "DATE": _date,
    "TIME": _time,
    "TIMESTAMP": _timestamp,
    "TIMESTAMP_LTZ": _instant,
    "INTERVAL_YEAR_MONTH": _months,
    "INTERVAL_DAY_TIME": _seconds,
    "ARRAY": _array,
    "MAP": _map,
    "MULTISET": _multiset,
    "ROW": _row,
}
