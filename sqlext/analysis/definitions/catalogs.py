"""Check the options of catalogs and databases."""

from __future__ import annotations

from collections.abc import Sequence

from sqlext.connectors.lake.kinds import LakeKind, kind_of
from sqlext.connectors.options import OWN_PREFIX
from sqlext.dialect.ast.statements import Option
from sqlext.errors import SqlExtError, did_you_mean
from sqlext.locations import local
from sqlext_catalog.model import CATALOG_TYPE

#: Options of other systems' catalogs that say where they lie. Ours lie in the session's, so no URL is taken for one.
_CATALOG_PLACES = frozenset({"location", "path", "warehouse"})
_CATALOG_OPTIONS = frozenset({"type", "default-database", "property-version", *_CATALOG_PLACES})
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


def _way_around(type_: str, options: Sequence[Option]) -> str:
    """Return how tables of another system's catalog are reached."""
    given, type_ = {o.key: o.value for o in options}, type_.lower()
    if type_ == "jdbc":
        base = given.get("base-url", "jdbc:...").partition("?")[0].rstrip("/")
        # What stands before a @ is a login.
        url = f"{'jdbc:...' if '@' in base else base}/{given.get('default-database', '...')}"
        with_ = f"WITH ('connector' = 'jdbc', 'url' = '{url}', 'table-name' = '...', 'username' = '...')"
        return f"leave the type out, and declare each of its tables: {with_}"
    if type_ == "hive":
        return (
            "start Spark with `--conf spark.sql.catalogImplementation=hive`, and leave the statement out: SELECT reads "
            "its tables by their names"
        )
    if type_ == "hudi":
        return (
            "Spark has Hudi in its own catalog alone; leave the type out, and declare each of its tables: "
            "WITH ('connector' = 'spark', 'format' = 'hudi', 'path' = '...')"
        )
    return "leave the type out, and declare each of its tables: WITH ('connector' = ...)"


def _check_lake(kind: LakeKind, options: Sequence[Option]) -> None:
    """Refuse options that a catalog of a lake cannot be opened with.

    Raises:
        SqlExtError: OPT-004, OPT-005.
    """
    wrong = kind.wrong({o.key: o.value for o in options})
    if wrong is None:
        return
    code, key, hint = wrong
    at = next(o for o in options if o.key == (key or "type"))
    what = f"option '{key}' of a catalog cannot be '{at.value}'" if key else "a catalog of a lake needs 'warehouse'"
    raise SqlExtError(code, what, span=at.value_span, hint=hint)


def check_catalog(options: Sequence[Option], *, altered: bool = False) -> None:
    """Refuse options of a catalog that is a connection to another system, places that are none, and unknown keys.

    Args:
        altered: whether the catalog is there: then it becomes none of a lake.

    Raises:
        SqlExtError: CAT-039 for another type, CAT-038 for a place, OPT-003 for a key that is not known here, OPT-004
            and OPT-005 for a catalog of a lake.
    """
    kind = kind_of((o.key, o.value) for o in options)
    if kind is not None and not altered:
        _check_lake(kind, options)
        return
    for option in options:
        if option.key == "type" and option.value.lower() != CATALOG_TYPE:
            raise SqlExtError(
                "CAT-039",
                f"a catalog of the type `{option.value}` cannot be opened",
                span=option.value_span,
                hint=_way_around(option.value, options),
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
