"""Hold the columns of a Delta table against declared ones, and say what ALTER TABLE does to them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlext.connectors.delta.table import MERGE_SCHEMA
from sqlext.connectors.formats.conversions import stored_type, time_as_text
from sqlext.connectors.spec import Alteration, WriteSpec
from sqlext.errors import SqlExtError
from sqlext.quoting import identifier

MAPPING = "delta.columnMapping.mode"
_WIDENING = "delta.enableTypeWidening"
#: How many digits the integers have, narrowest first.
_DIGITS = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 20}
_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")


def stored_columns(spec: WriteSpec) -> list[tuple[str, str]]:
    """Return name and Spark type of each column, as the table holds it."""
    return [(c.name, stored_type(c.type, time_as_text)) for c in spec.columns]


def plain_type(text: str) -> str:
    """Return a type of Spark's in the form in which types are compared, as DDL or ``simpleString`` writes it."""
    return text.lower().replace(" ", "").replace("`", "")


def require_same(spec: WriteSpec, existing: Mapping[str, str]) -> None:
    """Hold the declared columns against those that are there, by their types in Spark's words.

    Raises:
        SqlExtError: SINK-091 for the first that differs.
    """
    wanted = {name: plain_type(type_) for name, type_ in stored_columns(spec)}
    found = {name: plain_type(type_) for name, type_ in existing.items()}
    for name in dict.fromkeys((*wanted, *found)):
        if wanted.get(name) != found.get(name):
            raise _mismatch(spec, name, wanted.get(name), found.get(name))


@dataclass(frozen=True, slots=True)
class ColumnChanges:
    """What is done to the columns of a Delta table.

    Attributes:
        added: name and type of columns that it gets.
        dropped: columns that it loses.
        renamed: old and new names.
        retyped: name and new type of columns that get a wider one.
    """

    added: tuple[tuple[str, str], ...] = ()
    dropped: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    retyped: tuple[tuple[str, str], ...] = ()

    def features(self, properties: Mapping[str, str]) -> dict[str, str]:
        """Return the properties that the table must be given first, for features that it has not."""
        wanted = {}
        if (self.dropped or self.renamed) and properties.get(MAPPING, "none") == "none":
            wanted[MAPPING] = "name"
        if self.retyped and properties.get(_WIDENING) != "true":
            wanted[_WIDENING] = "true"
        return wanted

    def statements(self, table: str) -> Iterator[str]:
        """Yield Delta's statements, each of which is one commit; ALTER TABLE of ours never needs two."""
        if self.added:
            columns = ", ".join(f"{identifier(n)} {t}" for n, t in self.added)
            yield f"ALTER TABLE {table} ADD COLUMNS ({columns})"
        if self.dropped:
            yield f"ALTER TABLE {table} DROP COLUMNS ({', '.join(map(identifier, self.dropped))})"
        for old, new in self.renamed:
            yield f"ALTER TABLE {table} RENAME COLUMN {identifier(old)} TO {identifier(new)}"
        if self.retyped:
            types = ", ".join(f"{identifier(n)} TYPE {t}" for n, t in self.retyped)
            yield f"ALTER TABLE {table} ALTER COLUMN {types}"

    def applied(self, existing: Mapping[str, str]) -> dict[str, str]:
        """Return the columns of the table after it."""
        names = dict(self.renamed)
        kept = {names.get(n, n): t for n, t in existing.items() if n not in self.dropped}
        return {**kept, **dict(self.retyped), **dict(self.added)}

    def described(self) -> Iterator[str]:
        """Yield it in words, a line for each column."""
        yield from (f"the Delta table gets `{name}`, NULL in its rows" for name, _ in self.added)
        yield from (f"the Delta table loses `{name}`, by column mapping" for name in self.dropped)
        yield from (f"`{old}` of the Delta table becomes `{new}`, by column mapping" for old, new in self.renamed)
        yield from (f"`{n}` of the Delta table becomes {t.upper()}, by type widening" for n, t in self.retyped)


def column_changes(alteration: Alteration, existing: Mapping[str, str]) -> ColumnChanges:
    """Return what an ALTER TABLE has still to do to the columns that are there, given by their types in Spark's words.

    A change that has been made already is not made again: so the same statement makes good what broke off.

    Raises:
        SqlExtError: DDL-033 for what Delta cannot do to rows that are there.
    """
    before, after = dict(stored_columns(alteration.before)), dict(stored_columns(alteration.after))
    for old, new in alteration.renamed:
        before[new] = before.pop(old)
    found = {name: plain_type(type_) for name, type_ in existing.items()}
    for old, new in alteration.renamed:
        if old in found and new in found:
            hint = "choose another name, or declare the column that is there"
            raise _impossible(alteration, f"has both `{old}` and `{new}`", hint)
    dropped = tuple(n for n in before if n not in after and n in found)
    if dropped and set(found) <= set(dropped):
        raise _impossible(alteration, "would have no column left", "DROP TABLE removes the table")
    retyped = tuple(
        (name, type_)
        for name, type_ in after.items()
        if name in before and plain_type(before[name]) != plain_type(type_) != found.get(name, plain_type(type_))
    )
    for name, type_ in retyped:
        if not is_wider(found[name], plain_type(type_)):
            raise _impossible(
                alteration,
                f"has `{name}` as {found[name].upper()}, and cannot have it as {type_.upper()}",
                "Delta widens integers, FLOAT to DOUBLE, integers to DOUBLE or DECIMAL, and DECIMAL;"
                " ADD another column for any other type",
            )
    return ColumnChanges(
        added=tuple((n, t) for n, t in after.items() if n not in before and n not in found),
        dropped=dropped,
        renamed=tuple((old, new) for old, new in alteration.renamed if old in found and new not in found),
        retyped=retyped,
    )


def is_wider(old: str, new: str) -> bool:
    """Return whether Delta's type widening makes one type into another, as ``plain_type`` has them.

    DATE to TIMESTAMP_NTZ is left out: a table needs another feature for it.
    """
    integers = list(_DIGITS)
    if old in _DIGITS and new in _DIGITS:
        return integers.index(old) < integers.index(new)
    if new == "double":
        return old in ("float", *integers[:3])
    wide = _DECIMAL.fullmatch(new)
    if wide is None:
        return False
    digits, scale = int(wide[1]), int(wide[2])
    narrow = _DECIMAL.fullmatch(old)
    if narrow is not None:
        own, own_scale = int(narrow[1]), int(narrow[2])
        return scale >= own_scale and digits - scale >= own - own_scale
    # Delta takes the digits of an INT for the shorter ones too.
    return old in _DIGITS and digits - scale >= max(_DIGITS[old], _DIGITS["int"])


def _impossible(alteration: Alteration, what: str, hint: str) -> SqlExtError:
    place = alteration.before.table or alteration.before.path
    return SqlExtError("DDL-033", f"the Delta table at `{place}` {what}", hint=hint)


def _mismatch(spec: WriteSpec, name: str, wanted: str | None, found: str | None) -> SqlExtError:
    place = spec.table or spec.path
    what = (
        f"declared {wanted.upper()}, but there it is {found.upper()}"
        if wanted and found
        else ("declared, but not there" if wanted else "there, but not declared")
    )
    message = f"the Delta table at `{place}` does not fit `{spec.name}`: column `{name}` is {what}"
    hint = "declare the columns that are there, or write to another path"
    if wanted and not found:
        hint = f"ALTER TABLE ... ADD or '{MERGE_SCHEMA}' = 'true' adds it to the Delta table; or {hint}"
    return SqlExtError("SINK-091", message, hint=hint)
