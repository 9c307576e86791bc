"""Describe in words how two definitions of one object differ, for the message about another definition."""

from __future__ import annotations

from collections.abc import Iterator

from sqlext.secrets import redact, redact_options
from sqlext_catalog.model import Column, Options, Relation, Table, View


def diff(old: Relation, new: Relation) -> list[str]:
    """Return what differs, each as ``what: old -> new``; empty if the definitions mean the same.

    The order of options does not count, nor do the values of secrets.
    """
    if isinstance(old, Table) and isinstance(new, Table):
        return list(_tables(old, new))
    if isinstance(old, View) and isinstance(new, View):
        return list(_views(old, new))
    return [_change("kind", _kind(old), _kind(new))]


def _tables(old: Table, new: Table) -> Iterator[str]:
    yield from _columns(old.columns, new.columns)
    yield from _value("watermark", _watermark(old), _watermark(new))
    yield from _value("primary key", _key(old), _key(new))
    yield from _value("partitioned by", _list(old.partitioned_by), _list(new.partitioned_by))
    yield from _options(old.options, new.options)
    yield from _common(old, new)


def _views(old: View, new: View) -> Iterator[str]:
    yield from _value("columns", _list(old.columns), _list(new.columns))
    yield from _value("query", redact_options(old.query, old.expressions), redact_options(new.query, new.expressions))
    yield from _value("names resolved in", f"{old.catalog}.{old.database}", f"{new.catalog}.{new.database}")
    yield from _common(old, new)


def _common(old: Relation, new: Relation) -> Iterator[str]:
    yield from _value("comment", old.comment, new.comment)
    yield from _value("sqlext.expressions", old.expressions, new.expressions)


def _columns(old: tuple[Column, ...], new: tuple[Column, ...]) -> Iterator[str]:
    before, after = {c.name: c for c in old}, {c.name: c for c in new}
    for name in before | after:
        yield from _value(f"column `{name}`", _column(before.get(name)), _column(after.get(name)))
    # With other columns the order differs anyway, which has been said already.
    if list(before) != list(after) and set(before) == set(after):
        yield _change("order of columns", _list(before), _list(after))


def changed_options(old: Options, new: Options) -> dict[str, tuple[str | None, str | None]]:
    """Return the values, old and new, of each option that differs; None for an option that is not there."""
    # Two literal secrets count as the same: the catalog knows only that there is one.
    before, after = dict(redact(old)), dict(redact(new))
    return {key: (before.get(key), after.get(key)) for key in before | after if before.get(key) != after.get(key)}


def _options(old: Options, new: Options) -> Iterator[str]:
    for key, (before, after) in changed_options(old, new).items():
        yield _change(f"option '{key}'", before, after)


def _value(what: str, old: str | None, new: str | None) -> Iterator[str]:
    if old != new:
        yield _change(what, old, new)


def _change(what: str, old: str | None, new: str | None) -> str:
    return f"{what}: {_shown(old)} -> {_shown(new)}"


def _shown(value: str | None) -> str:
    return "none" if value is None else value


def _column(c: Column | None) -> str | None:
    if c is None:
        return None
    kind = f" {c.kind}" if c.kind != "physical" else ""
    detail = c.expression if c.kind == "computed" else c.metadata_key
    virtual = " VIRTUAL" if c.virtual else ""
    comment = f" COMMENT '{c.comment}'" if c.comment is not None else ""
    return f"{c.type}{kind}{f' {detail}' if detail else ''}{virtual}{comment}"


def _watermark(t: Table) -> str | None:
    return f"FOR {t.watermark.column} AS {t.watermark.expression}" if t.watermark else None


def _key(t: Table) -> str | None:
    return f"{t.primary_key.name} ({_list(t.primary_key.columns)})" if t.primary_key else None


def _list(names: object) -> str:
    return ", ".join(names) if isinstance(names, tuple | dict) else str(names)


def _kind(item: Relation) -> str:
    return "table" if isinstance(item, Table) else "view"
