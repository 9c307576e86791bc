"""Bind LIKE: what the new table takes of the base table (Flink: MergeTableLikeUtil, SqlTableLike).

The default is INCLUDING ALL OVERWRITING OPTIONS. ``EXCLUDING PARTITIONS`` leaves the partitions out, as documented
(Flink 2.3.0 leaves them in).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sqlext.analysis.definitions.elements import find
from sqlext.dialect.ast.statements import ColumnDef, CreateTable, LikeClause, PrimaryKeyDef, WatermarkDef
from sqlext.errors import SqlExtError, did_you_mean
from sqlext.source import Span
from sqlext_catalog.model import Column, Options, PrimaryKey, Table, Watermark
from sqlext_catalog.session_catalog import SessionCatalog

_INCLUDING, _EXCLUDING, _OVERWRITING = "INCLUDING", "EXCLUDING", "OVERWRITING"
_DEFAULTS = {
    **dict.fromkeys(("CONSTRAINTS", "PARTITIONS", "DISTRIBUTION", "GENERATED", "WATERMARKS", "METADATA"), _INCLUDING),
    "OPTIONS": _OVERWRITING,
}
_FEATURE = {"computed": "GENERATED", "metadata": "METADATA"}


class Inherited(NamedTuple):
    """What comes from the base table; columns that the new table overwrites are its own already."""

    columns: tuple[Column, ...] = ()
    watermark: Watermark | None = None
    primary_key: PrimaryKey | None = None
    partitioned_by: tuple[str, ...] = ()
    options: Options = ()
    expressions: str | None = None

    @property
    def has_expressions(self) -> bool:
        """Whether any expression came along."""
        return self.watermark is not None or any(c.kind == "computed" for c in self.columns)


def base_table(like: LikeClause, catalog: SessionCatalog) -> Table:
    """Return the table that LIKE names.

    Raises:
        SqlExtError: NAME-002 if there is none, DDL-010 for a view.
    """
    found = catalog.lookup(like.table)
    if isinstance(found, Table):
        return found
    name = ".".join(like.table)
    if found is not None:
        raise SqlExtError("DDL-010", f"LIKE needs a table, and `{name}` is a view", span=like.span)
    hint = did_you_mean(like.table[-1], catalog.candidates())
    raise SqlExtError("NAME-002", f"there is no table `{name}`", span=like.name_span, hint=hint)


def strategies_of(like: LikeClause) -> Mapping[str, str]:
    """Return what is done per feature.

    Raises:
        SqlExtError: DDL-012 for a feature named twice.
    """
    result = dict(_DEFAULTS)
    seen: set[str] = set()
    for option in like.options:
        if option.feature in seen:
            raise SqlExtError("DDL-012", f"LIKE names {option.feature} twice", span=option.span)
        seen.add(option.feature)
        if option.feature == "ALL":
            result = dict.fromkeys(result, option.strategy)
    # ALL is a default for every feature: one that is named beside it wins, in whatever order they stand.
    return result | {o.feature: o.strategy for o in like.options if o.feature != "ALL"}


def inherit(statement: CreateTable, like: LikeClause, base: Table, own: Sequence[Column]) -> Inherited:
    """Return what a table takes from its base, given the columns that it defines itself.

    Raises:
        SqlExtError: DDL-011 where both define the same thing and nothing says which counts.
    """
    strategies = strategies_of(like)
    columns = tuple(c for c in base.columns if strategies.get(_FEATURE.get(c.kind, "")) != _EXCLUDING)
    for definition, column in zip(statement.columns, own, strict=True):
        _check_column(definition, column, find(columns, column.name), strategies)
    mark = base.watermark if strategies["WATERMARKS"] != _EXCLUDING else None
    for written in statement.watermarks:
        mark = _without_overwritten(mark, written, strategies["WATERMARKS"])
    key = base.primary_key if strategies["CONSTRAINTS"] != _EXCLUDING else None
    _check_key(key, statement, own)
    partitions = base.partitioned_by if strategies["PARTITIONS"] != _EXCLUDING else ()
    if partitions and statement.partitioned_by:
        raise _both("has partitions", "EXCLUDING PARTITIONS", statement.span)
    options = base.options if strategies["OPTIONS"] != _EXCLUDING else ()
    if strategies["OPTIONS"] == _INCLUDING:
        _check_options(options, statement)
    overwritten = {c.name: c for c in own}
    merged = tuple(overwritten.get(c.name, c) for c in columns)
    return Inherited(merged, mark, key, partitions, options, base.expressions)


def _check_column(
    definition: ColumnDef, column: Column, inherited: Column | None, strategies: Mapping[str, str]
) -> None:
    if inherited is None:
        return
    # No strategy covers physical columns: Flink never overwrites one.
    if column.kind == "physical" or inherited.kind != column.kind:
        raise SqlExtError(
            "DDL-011",
            f"the base table has a column `{column.name}` too",
            span=definition.span,
            hint=_way_out(inherited),
        )
    feature = _FEATURE[column.kind]
    if strategies[feature] != _OVERWRITING:
        hint = f"EXCLUDING {feature} or OVERWRITING {feature}"
        raise _both(f"has a {column.kind} column `{column.name}`", hint, definition.span)


def _way_out(inherited: Column) -> str:
    feature = _FEATURE.get(inherited.kind)
    return f"write LIKE ... (EXCLUDING {feature})" if feature else "give it another name"


def _without_overwritten(mark: Watermark | None, definition: WatermarkDef, strategy: str) -> Watermark | None:
    if mark is None:
        return None
    if strategy == _OVERWRITING and definition.column == (mark.column,):
        return None
    same = definition.column == (mark.column,)
    # OVERWRITING replaces the watermark of the same column alone, and a table has only one.
    hint = "EXCLUDING WATERMARKS or OVERWRITING WATERMARKS" if same else "EXCLUDING WATERMARKS"
    raise _both(f"has a watermark for `{mark.column}`", hint, definition.span)


def _check_key(key: PrimaryKey | None, statement: CreateTable, own: Sequence[Column]) -> None:
    written: list[PrimaryKeyDef | ColumnDef] = [*statement.primary_keys]
    written += [c for c in statement.columns if c.inline_primary_key]
    if key is not None and written:
        raise _both("has a primary key", "EXCLUDING CONSTRAINTS", written[0].span)


def _check_options(options: Options, statement: CreateTable) -> None:
    inherited = dict(options)
    for option in statement.options:
        if option.key in inherited:
            hint = "EXCLUDING OPTIONS or OVERWRITING OPTIONS"
            raise _both(f"has an option '{option.key}'", hint, option.key_span)


def _both(what: str, hint: str, span: Span) -> SqlExtError:
    return SqlExtError("DDL-011", f"the base table {what} too", span=span, hint=f"write LIKE ... ({hint})")
