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
#: Types of catalogs that Spark has too, with a package: the package, and the class of the catalog.
_LAKES = {
    "iceberg": ("org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.11.0", "org.apache.iceberg.spark.SparkCatalog"),
    "paimon": ("org.apache.paimon:paimon-spark-4.0_2.13", "org.apache.paimon.spark.SparkCatalog"),
    "hudi": ("org.apache.hudi:hudi-spark4.0-bundle_2.13", "org.apache.spark.sql.hudi.catalog.HoodieCatalog"),
}
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


def _way_around(name: str, type_: str, options: Sequence[Option]) -> str:
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
    if type_ not in _LAKES:
        return "leave the type out, and declare each of its tables: WITH ('connector' = ...)"
    package, class_ = _LAKES[type_]
    key, place = f"spark.sql.catalog.{name}", given.get("warehouse", "...").rstrip("/")
    kind = given.get("catalog-type", given.get("metastore"))
    told = [("spark.jars.packages", package), (key, class_)]
    told += [(f"{key}.type", kind)] if kind else []
    told.append((f"{key}.warehouse", place))
    lines = " ".join(f"--conf {k}={v}" for k, v in told)
    with_ = f"WITH ('connector' = 'spark', 'format' = '{type_}', 'path' = '{name}.db.t')"
    return f"open it as a catalog of Spark, `{lines}`; leave the type out, and declare each of its tables: {with_}"


def check_catalog(name: str, options: Sequence[Option]) -> None:
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
                hint=_way_around(name, option.value, options),
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
