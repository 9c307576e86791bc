"""Check the options of catalogs and databases."""

from __future__ import annotations

from collections.abc import Sequence

from sqlext.connectors.options import OWN_PREFIX
from sqlext.dialect.ast.statements import Option
from sqlext.errors import SqlExtError, did_you_mean
from sqlext.locations import local
from sqlext_catalog.model import CATALOG_TYPE

#: Options of other systems' catalogs that say where they lie. Ours lie in the session's, so no URL is taken for one.
_CATALOG_PLACES = frozenset({"location", "path", "warehouse"})
_CATALOG_OPTIONS = frozenset({"type", "default-database", "property-version", *_CATALOG_PLACES})
#: Types of catalogs whose tables a package of Spark's reads and writes by their paths.
_LAKES = ("iceberg", "paimon", "hudi")
_IN_THE_SESSIONS = (
    "leave it out: it lies in the session's catalog, for which --catalog or connect(catalog=...) name a URL"
)


def check_properties(options: Sequence[Option]) -> None:
    """Refuse keys of our own among the properties of a database, which may be any words else.

    Raises:
        SqlExtError: OPT-003 at the option.
    """
    for option in options:
        if option.key.startswith(OWN_PREFIX):
            message = f"a database has no option '{option.key}'"
            place = option.key_span.to(option.value_span)
            raise SqlExtError("OPT-003", message, span=place, hint="leave it out, or SET it for the session")


def _declaration(type_: str, options: Sequence[Option]) -> str:
    """Return the clause of CREATE TABLE that reaches a table of another system's catalog."""
    given = {o.key: o.value for o in options}
    place = given.get("warehouse", "...").rstrip("/")
    if type_.lower() == "jdbc":
        base = given.get("base-url", "jdbc:...").partition("?")[0].rstrip("/")
        # What stands before a @ is a login.
        url = f"{'jdbc:...' if '@' in base else base}/{given.get('default-database', '...')}"
        return f"WITH ('connector' = 'jdbc', 'url' = '{url}', 'table-name' = '...', 'username' = '...')"
    if type_.lower() in _LAKES:
        name = type_.lower()
        return (
            f"WITH ('connector' = 'spark', 'format' = '{name}', 'path' = '{place}/...'), with Spark's package of {name}"
        )
    return "WITH ('connector' = ...)"


def check_catalog(options: Sequence[Option]) -> None:
    """Refuse options of a catalog that is a connection to another system, places that are none, and unknown keys.

    Raises:
        SqlExtError: CAT-039 for another type, CAT-038 for a place, OPT-003 for a key that is not known here.
    """
    for option in options:
        if option.key == "type" and option.value.lower() != CATALOG_TYPE:
            raise SqlExtError(
                "CAT-039",
                f"a catalog of the type `{option.value}` cannot be opened",
                span=option.value_span,
                hint=f"leave the type out, and declare each of its tables: {_declaration(option.value, options)}",
            )
        if option.key in _CATALOG_PLACES:
            try:
                local(option.value, "CAT-038", "a catalog of CREATE CATALOG", _IN_THE_SESSIONS)
            except SqlExtError as error:
                raise error.at(option.value_span) from None
    # Last: of a catalog that is a connection this is not what stands in the way. Other keys are kept as notes.
    for option in options:
        hint = None if option.key in _CATALOG_OPTIONS else did_you_mean(option.key, _CATALOG_OPTIONS)
        if hint is not None or option.key.startswith(OWN_PREFIX):
            hint = hint or f"it takes {', '.join(sorted(_CATALOG_OPTIONS))}"
            place = option.key_span.to(option.value_span)
            raise SqlExtError("OPT-003", f"a catalog has no option '{option.key}'", span=place, hint=hint)
