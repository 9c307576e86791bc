"""Say what of a script's statements may not be meant, although each of them runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache

from sqlext.analysis.definitions.cautions import table_cautions
from sqlext.analysis.expressions.untrue import never_true
from sqlext.connectors.base import written_columns
from sqlext.dialect.ast import statements as ast
from sqlext.dialect.pieces import pieces
from sqlext.errors import SqlExtError
from sqlext.plan.cautions import cautions
from sqlext.rewrite.script.model import Compiled
from sqlext.secrets import holds_secret, is_reference, is_secret, secret_ranges
from sqlext.session.state import SessionState
from sqlext.source import Span
from sqlext_catalog.model import Table

#: A name may be a word that is a keyword elsewhere.
_NAMES = ("name", "quoted", "function", "keyword")
_REFERENCE = "'env:NAME' or 'file:/path/to/secret' in its place, or '${NAME}' with --define"
_PART = "'${NAME}' with --define, or an option of its own with 'env:NAME'"


def statement_cautions(
    statement: ast.Statement, compiled: Iterable[Compiled], state: SessionState
) -> Iterator[SqlExtError]:
    """Yield the warnings of a statement that has no error.

    Args:
        compiled: its queries.
        state: with what it defines.
    """
    if isinstance(statement, ast.CreateTable):
        table = state.catalog.lookup(statement.name)
        yield from table_cautions(statement, table) if isinstance(table, Table) else ()
    yield from _plain_secrets(statement)
    yield from never_true(statement)
    for query in compiled:
        yield from cautions(query.plan, query.insert.span if query.insert is not None else statement.span)


def unused_tables(
    statements: Sequence[ast.Statement], shown: Collection[int], state: SessionState
) -> Iterator[SqlExtError]:
    """Yield WARN-008 for tables that no other statement of a script names, and that could take rows of a SELECT.

    Args:
        shown: how many columns the SELECTs have whose rows are only shown.
    """
    if not shown:
        return
    names = {id(s): _names(s.span.text, state.settings.expressions) for s in statements}
    for made in statements:
        if not isinstance(made, ast.CreateTable) or made.query is not None:
            continue
        name, table = made.name[-1], state.catalog.lookup(made.name)
        fits = isinstance(table, Table) and len(written_columns(table)) in shown
        if fits and not any(name.lower() in names[id(other)] for other in statements if other is not made):
            message = f"no statement writes to `{name}` or reads it, and rows of a SELECT are only shown"
            hint = f"INSERT INTO {made.name_span.text} SELECT ... writes them"
            yield SqlExtError("WARN-008", message, span=made.name_span, hint=hint)


def _plain_secrets(statement: ast.Statement) -> Iterator[SqlExtError]:
    """Yield WARN-007 for secrets that the script itself has; what stands for one in it is none."""
    if isinstance(statement, ast.SetOption):
        yield from _plain(statement.key or "", statement.value or "", _secret_in(statement.span))
    elif isinstance(statement, (ast.CreateTable, ast.AlterTable)):
        for option in statement.options:
            yield from _plain(option.key, option.value, option.value_span)


def _plain(key: str, value: str, at: Span) -> Iterator[SqlExtError]:
    if value and holds_secret(key, value) and not is_reference(value) and not at.variables:
        message = f"the secret in '{key}' stands in the script in plain text"
        yield SqlExtError("WARN-007", message, span=at, hint=_REFERENCE if is_secret(key) else _PART)


def _secret_in(span: Span) -> Span:
    """Return where the first secret of a statement stands, or the statement."""
    for start, end in secret_ranges(span.text)[:1]:
        return span.source.span(span.start + start, span.start + end)
    return span


@lru_cache(maxsize=2048)
def _names(text: str, mode: str) -> frozenset[str]:
    """Return the names in a text, in lower case; an editor asks again about each statement when one has changed."""
    return frozenset(p.text.strip("`").lower() for p in pieces(text, mode) if p.kind in _NAMES)
