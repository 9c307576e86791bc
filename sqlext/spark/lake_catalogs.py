"""Open catalogs of lakes in a Spark session, and ask them what they have."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from sqlext.connectors.lake.kinds import KINDS
from sqlext.connectors.spec import SparkCatalog
from sqlext.errors import SqlExtError
from sqlext.locations import local_path, near
from sqlext.quoting import identifier
from sqlext.secrets import redact
from sqlext.spark.failures import sentence
from sqlext.spark.quiet import quiet
from sqlext_catalog.secrets import resolve_options

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_NO_CLASS = ("Cannot find catalog plugin class", "ClassNotFoundException", "CATALOG_NOT_FOUND", "NoClassDefFoundError")

_NO_DATABASE = ("NoSuchNamespaceException", "SCHEMA_NOT_FOUND")


def open_catalog(spark: SparkSession, catalog: SparkCatalog) -> None:
    """Make a catalog known to a session; do nothing where it is open.

    Raises:
        SqlExtError: CAT-039 without its package on the class path, CAT-045 if it cannot be opened, or another one is
            open under its name.
    """
    wanted = {**_of_files(catalog), **resolve_options(catalog.settings)}
    (class_key, _) = catalog.settings[0]
    if spark.conf.get(class_key, None) is not None:
        _require_same(spark, catalog, wanted)
        return
    for key, value in wanted.items():
        spark.conf.set(key, value)
    try:
        with quiet():
            # Spark loads a catalog when something is asked of it.
            spark.catalog.tableExists(f"{identifier(catalog.name)}.{identifier('default')}.{identifier('none')}")
    except Exception as error:
        for key in wanted:
            spark.conf.unset(key)
        raise _refusal(catalog, error, spark.version) from error


def _require_same(spark: SparkSession, catalog: SparkCatalog, wanted: dict[str, str]) -> None:
    """Refuse a name that another catalog has: Spark keeps a catalog once it is loaded."""
    other = [key for key, value in wanted.items() if spark.conf.get(key, None) != value]
    if other:
        options = ", ".join(key.removeprefix(f"spark.sql.catalog.{catalog.name}.") for key in other)
        message = f"a catalog `{catalog.name}` is open in this Spark session already, with other options: {options}"
        raise SqlExtError("CAT-045", message, hint="give it another name, or begin a new session")


def _refusal(catalog: SparkCatalog, error: Exception, version: str) -> SqlExtError:
    text = str(error)
    if not any(mark in text for mark in _NO_CLASS):
        message = f"catalog `{catalog.name}` ({catalog.kind}) cannot be opened: {sentence(text)}"
        return SqlExtError("CAT-045", message, hint="its options say where it lies, and who keeps its names")
    message = f"Spark has no {catalog.kind} on its class path, and catalog `{catalog.name}` needs it"
    return SqlExtError("CAT-039", message, hint=package_line(catalog, version))


def package_line(catalog: SparkCatalog, version: str) -> str:
    """Return the lines that Spark is to be started with."""
    kind = KINDS[catalog.kind]
    package = kind.package(version)
    lines = " ".join(f"--conf {key}={value}" for key, value in redact(catalog.settings))
    if package is not None:
        return f"start Spark with `--packages {package}`; the script stays as it is. By hand: `{lines}`"
    short = ".".join(version.split(".")[:2])
    known = ", ".join(f"`--packages {p}` for Spark {v}" for v, p in kind.packages.items())
    others = f"there is {known}" if known else f"add one by `--packages` or `--jars` that has {kind.catalog_class}"
    return f"no package of {catalog.kind} is known for Spark {short}; {others}. By hand: `{lines}`"


def _of_files(catalog: SparkCatalog) -> dict[str, str]:
    """Return the settings of Hadoop's in files, as the catalog takes them.

    Raises:
        SqlExtError: CAT-045 for a folder that is not there, and a file that cannot be read.
    """
    found = {}
    for place in catalog.files:
        path = Path(local_path(place) or place)
        if not path.parent.is_dir():
            message = f"there is no folder `{path.parent}`, from which catalog `{catalog.name}` takes settings"
            raise SqlExtError("CAT-045", message, hint=near(path.parent))
        if not path.exists():
            continue
        try:
            root = ElementTree.fromstring(path.read_bytes())  # noqa: S314 - the user's own file of settings
        except (OSError, ElementTree.ParseError) as error:
            raise SqlExtError("CAT-045", f"the settings in `{place}` cannot be read: {error}") from error
        for one in root.iter("property"):
            name, value = one.findtext("name"), one.findtext("value")
            if name:
                found[f"spark.sql.catalog.{catalog.name}.hadoop.{name.strip()}"] = (value or "").strip()
    return found


def databases(spark: SparkSession, catalog: SparkCatalog) -> list[str]:
    """Return the names of a catalog's databases."""
    open_catalog(spark, catalog)
    try:
        with quiet():
            return [row[0] for row in spark.sql(f"SHOW NAMESPACES IN {identifier(catalog.name)}").collect()]
    except Exception as error:
        # Of a warehouse in which nothing was made yet.
        if any(mark in str(error) for mark in _NO_DATABASE):
            return []
        raise _refusal(catalog, error, spark.version) from error


def tables(spark: SparkSession, catalog: SparkCatalog, database: str) -> list[str]:
    """Return the names of a database's tables; none where there is no such database."""
    if database not in databases(spark, catalog):
        return []
    place = f"{identifier(catalog.name)}.{identifier(database)}"
    return [row["tableName"] for row in spark.sql(f"SHOW TABLES IN {place}").collect()]


def make_database(spark: SparkSession, catalog: SparkCatalog, name: str) -> None:
    """Make a database, if it is not there."""
    open_catalog(spark, catalog)
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {identifier(catalog.name)}.{identifier(name)}")


def drop_database(spark: SparkSession, catalog: SparkCatalog, name: str) -> None:
    """Drop a database without tables, if it is there."""
    open_catalog(spark, catalog)
    spark.sql(f"DROP NAMESPACE IF EXISTS {identifier(catalog.name)}.{identifier(name)}")
