"""Refuse queries whose tables lack a secret, and tell which secrets end with the session."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

from sqlext.analysis.inserts.bound import BoundInsert
from sqlext.errors import SqlExtError
from sqlext.plan.base import PlanNode, walk
from sqlext.plan.nodes import Scan
from sqlext.source import Span
from sqlext.spark.notices import Notice
from sqlext_catalog.secrets import require_secrets
from sqlext_catalog.session_catalog import SessionCatalog


class SecretNotice(Notice):
    """A secret was written in a statement: it is not stored, and the next session does not have it."""


def check_secrets(plan: PlanNode, inserts: Iterable[BoundInsert], span: Span) -> None:
    """Refuse a query that reads or writes a table whose secret was given to another session.

    Args:
        plan: what is read.
        inserts: what is written, also beside the query's own rows.
        span: where the query stands.

    Raises:
        SqlExtError: OPT-093.
    """
    tables = [node.table for node in walk(plan) if isinstance(node, Scan)]
    tables += [table for i in inserts for table in (i.table, *(side.table for side in i.sides))]
    for table in tables:
        try:
            require_secrets(table.options, table.name.plain)
        except SqlExtError as error:
            raise error.at(span) from None


def tell_secrets(catalog: SessionCatalog) -> tuple[str, ...]:
    """Warn of secrets that this session alone has, once for each table; return the same texts."""
    told = tuple(_told(name, keys) for name, keys in catalog.untold().items())
    for text in told:
        warnings.warn(text, SecretNotice, stacklevel=2)
    return told


def _told(name: str, keys: tuple[str, ...]) -> str:
    options = ", ".join(f"'{key}'" for key in keys)
    ways = "the statement again, or 'env:NAME' or 'file:/path/to/secret' in its place"
    return f"the secret in {options} of `{name}` is used in this session, and not stored; later ones need {ways}"
