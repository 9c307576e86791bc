"""Let statements of a deployment define again what the catalog has."""

from __future__ import annotations

from dataclasses import replace

from sqlext.dialect.ast import statements as ast
from sqlext.session.state import SessionState
from sqlext_catalog import ddl
from sqlext_catalog.model import keeping_query


def redefining(statement: ast.Statement, state: SessionState, *, everything: bool) -> ast.Statement:
    """Return a statement whose definition may differ from the catalog's: that of a materialized view, or everything.

    Args:
        state: its catalog is a copy, which forgets a materialized view of that name.
    """
    if isinstance(statement, ast.CreateView) and statement.materialized:
        name = state.catalog.resolve(statement.name)
        there = keeping_query(state.catalog.lookup(statement.name)) is not None and name.plain not in state.created
        if there and not statement.or_replace and not statement.if_not_exists:
            state.catalog.apply(ddl.drop_table(name), f"DEPLOY {name.plain}")  # in the copy
    elif everything and isinstance(statement, (ast.CreateTable, ast.CreateView)) and not _is_filled(statement):
        return replace(statement, or_replace=True, if_not_exists=False)
    return statement


def _is_filled(statement: ast.CreateTable | ast.CreateView) -> bool:
    return isinstance(statement, ast.CreateTable) and statement.query is not None
