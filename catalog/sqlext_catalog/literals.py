"""Take the literal secrets out of a definition before it is stored, and put them back for the session that gave them.

Stars stand in the stored definition, so the catalog keeps that there was a secret, and where.
"""

from __future__ import annotations

from dataclasses import replace

from sqlext.secrets import redact, redact_options, redact_text, redact_value
from sqlext_catalog.model import Catalog, CatalogObject, Options, QueryRecord, Relation, Table, View


def without_secrets(item: CatalogObject) -> CatalogObject:
    """Return what may be stored of an object; the object itself if it holds no literal secret."""
    if isinstance(item, View):
        query = redact_options(item.query, item.expressions)
        return item if query == item.query else replace(item, query=query)
    if isinstance(item, QueryRecord):
        safe = replace(item, statement=redact_text(item.statement), details=redact(item.details))
        return item if safe == item else safe
    options = redact(item.options)
    return item if options == item.options else replace(item, options=options)


def with_secrets(stored: CatalogObject, given: Relation | Catalog) -> CatalogObject:
    """Return a stored definition with the secrets of the one that was given, where it still says the same.

    An option that has changed meanwhile stays as it is stored.
    """
    if isinstance(stored, Table) and isinstance(given, Table):
        options = _restored(stored.options, dict(given.options))
        return stored if options == stored.options else replace(stored, options=options)
    if isinstance(stored, View) and isinstance(given, View):
        same = redact_options(given.query, given.expressions) == stored.query
        return replace(stored, query=given.query) if same and given.query != stored.query else stored
    if isinstance(stored, Catalog) and isinstance(given, Catalog):
        return replace(stored, options=_restored(stored.options, dict(given.options)))
    return stored


def literal_secrets(item: Relation | Catalog) -> tuple[str, ...]:
    """Return the options of a table or a catalog that hold literal secrets; of a view it is ``OPTIONS``."""
    if isinstance(item, Table | Catalog):
        return tuple(key for key, value in item.options if redact_value(key, value) != value)
    return ("OPTIONS",) if without_secrets(item) is not item else ()


def _restored(stored: Options, given: dict[str, str]) -> Options:
    # A key that was not given has no literal, and its own value stays.
    literals = ((key, value, given.get(key, value)) for key, value in stored)
    return tuple((key, literal if redact_value(key, literal) == value else value) for key, value, literal in literals)
