"""Say of each kind of lake how Spark opens a catalog of it: one table of kinds, by the name that Flink has for them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from sqlext.connectors.spec import SparkCatalog
from sqlext.errors import did_you_mean
from sqlext.locations import absolute, scheme_of
from sqlext_catalog.model import Options

#: Before the options of its catalog, among those of a table that was made in one: its own stand beside them.
OF_CATALOG = "lake."
#: Options by which a table says which catalog it is in, and which table there.
CATALOG_NAME, CATALOG_DATABASE, CATALOG_TABLE = "catalog-name", "catalog-database", "catalog-table"
_IDENTITY = frozenset({"connector", CATALOG_NAME, CATALOG_DATABASE, CATALOG_TABLE})
#: Folders of Flink's cluster with settings of Hadoop and Hive; the files in them that Spark's catalog is given.
CONFIGURATION = MappingProxyType(
    {"hive-conf-dir": ("hive-site.xml",), "hadoop-conf-dir": ("core-site.xml", "hdfs-site.xml")}
)


@dataclass(frozen=True, slots=True)
class LakeKind:
    """A kind of lake.

    Attributes:
        name: the type of its catalogs, the connector of its tables, and its format in Spark.
        catalog_class: what Spark loads.
        packages: version of Spark -> the package of Maven that has the class.
        default_database: what a catalog has from its start.
        type_key: the option that says who keeps the names of tables.
        types: what that option can be; the first one is meant without it.
        unplaced: those of the types that need no ``warehouse``.
        renamed: options of Flink's that Spark's catalog has under another name.
        own: a pattern of options that are a table's, and none of its catalog.
        reading: options of a read, Flink's -> Spark's.
        endless: whether a table is read without end where nothing says otherwise.
        narrow: types that it has not -> what it holds instead.
        marks: whether a commit can carry a name of ours, which the metadata table ``snapshots`` lists.
        key_property: the property of a table that names the columns of its key; empty where it has none.
    """

    name: str
    catalog_class: str
    packages: Mapping[str, str]
    default_database: str
    type_key: str
    types: tuple[str, ...]
    unplaced: frozenset[str]
    renamed: Mapping[str, str]
    own: re.Pattern[str]
    reading: Mapping[str, str] = field(default_factory=dict)
    endless: bool = False
    narrow: Mapping[str, str] = field(default_factory=dict)
    marks: bool = False
    key_property: str = ""

    def package(self, version: str) -> str | None:
        """Return the package for a version of Spark, None if there is none that is known."""
        return self.packages.get(".".join(version.split(".")[:2]))

    def wrong(self, options: Mapping[str, str]) -> tuple[str, str | None, str] | None:
        """Return what is wrong with the options of a catalog: code, the option (None: a missing one), the hint."""
        if "catalog-impl" in options:
            return None
        kind = options.get(self.type_key, self.types[0]).lower()
        if kind not in self.types:
            return "OPT-005", self.type_key, did_you_mean(kind, self.types) or f"it is one of {', '.join(self.types)}"
        if kind not in self.unplaced and "warehouse" not in options:
            return "OPT-004", None, f"add 'warehouse' = '/folder or URL': a catalog of type '{kind}' lies there"
        return None

    def catalog(self, name: str, options: Options) -> SparkCatalog:
        """Return the catalog of Spark's that options of Flink's mean.

        Args:
            name: as SQL calls it; a name that settings of Spark cannot have is replaced.
        """
        if not re.fullmatch(r"[A-Za-z0-9_-]+", name):
            name = _digested("lake", options)
        prefix = f"spark.sql.catalog.{name}"
        found = {f"{prefix}.{self.renamed.get(k, k)}": _value(k, v) for k, v in options if k not in _FLINKS}
        found.setdefault(f"{prefix}.{_CACHE}", "false")
        if "catalog-impl" not in dict(options):
            found.setdefault(f"{prefix}.{self.renamed.get(self.type_key, self.type_key)}", self.types[0])
        files = tuple(f"{v.rstrip('/')}/{f}" for k, v in options for f in CONFIGURATION.get(k, ()))
        return SparkCatalog(name, self.name, ((prefix, self.catalog_class), *found.items()), files)

    def split(self, options: Options) -> tuple[Options, Options]:
        """Return the options of a table's catalog, and those of the table itself."""
        given = tuple((k.removeprefix(OF_CATALOG), v) for k, v in options if k.startswith(OF_CATALOG))
        rest = tuple((k, v) for k, v in options if k not in _IDENTITY and not k.startswith(OF_CATALOG))
        if given:
            return given, rest
        return tuple(o for o in rest if not self._is_own(o[0])), tuple(o for o in rest if self._is_own(o[0]))

    def _is_own(self, key: str) -> bool:
        return key in self.reading or key in TAKEN or bool(self.own.match(key))

    def catalog_of_table(self, options: Options) -> SparkCatalog:
        """Return the catalog that a table's options name."""
        stated = dict(options)
        given, _ = self.split(options)
        name = stated.get(CATALOG_NAME, self.name)
        # Two tables that name a catalog for themselves may mean two.
        in_catalog = any(key.startswith(OF_CATALOG) for key in stated)
        return self.catalog(name if in_catalog else _digested(name, given), given)


#: Both kinds keep a table as it was when a session saw it first, and each query runs in a session of its own:
#: without an error a later SELECT would lack what an INSERT before it has written. Their own option turns that on.
_CACHE = "cache-enabled"
#: Options of a catalog that say nothing to Spark's.
_FLINKS = frozenset({"type", "property-version", *CONFIGURATION})
#: Options of a read or a write of Flink's operators that have no meaning here, or one of our own.
TAKEN = frozenset(
    {
        *("streaming", "monitor-interval", "scan.mode", "scan.parallelism", "sink.parallelism", "case-sensitive"),
        *("include-column-stats", "max-planning-snapshot-count", "upsert-enabled", "overwrite-enabled", "write-format"),
        *("write-parallelism", "distribution-mode", "target-file-size-bytes", "compression-codec"),
    }
)
_ICEBERG = "org.apache.iceberg:iceberg-spark-runtime-"
#: The kinds of lakes of which Spark opens catalogs beside its own one.
KINDS: Mapping[str, LakeKind] = {
    kind.name: kind
    for kind in (
        LakeKind(
            "iceberg",
            "org.apache.iceberg.spark.SparkCatalog",
            {"4.0": f"{_ICEBERG}4.0_2.13:1.11.0", "4.1": f"{_ICEBERG}4.1_2.13:1.11.0"},
            "default",
            "catalog-type",
            ("hive", "hadoop", "rest", "glue", "jdbc", "nessie"),
            frozenset({"hive", "rest", "glue", "nessie"}),
            {"catalog-type": "type", "default-database": "default-namespace"},
            re.compile(r"(write|read|commit|history|gc|schema|engine|format|compatibility|encryption)[.-]|scan\."),
            {
                "snapshot-id": "snapshot-id",
                "as-of-timestamp": "as-of-timestamp",
                "start-snapshot-timestamp": "stream-from-timestamp",
                "branch": "branch",
                "tag": "tag",
                "split-size": "split-size",
                "split-lookback": "lookback",
                "split-file-open-cost": "file-open-cost",
            },
            narrow={"TINYINT": "INT", "SMALLINT": "INT"},
            marks=True,
        ),
        LakeKind(
            "paimon",
            "org.apache.paimon.spark.SparkCatalog",
            {},
            "default",
            "metastore",
            ("filesystem", "hive", "jdbc", "rest"),
            frozenset({"hive", "rest"}),
            {"default-database": "defaultDatabase"},
            re.compile(
                r"(bucket|file|merge-engine|changelog-producer|sequence|snapshot|partition|scan|sink|write|compaction"
                r"|ignore-delete|fields|lookup|manifest|num-|tag|branch|primary-key|deletion-vectors|log|consumer|full-)"
            ),
            {"scan.snapshot-id": "scan.snapshot-id", "scan.timestamp-millis": "scan.timestamp-millis"},
            endless=True,
            key_property="primary-key",
        ),
    )
}


def kind_of(options: Iterable[tuple[str, str]]) -> LakeKind | None:
    """Return the kind of lake that the options of a catalog name, None if they name none."""
    return KINDS.get(dict(options).get("type", "").lower())


def _digested(name: str, options: Options) -> str:
    plain = re.sub(r"\W", "_", name)
    return f"{plain}_{hashlib.sha256(repr(sorted(options)).encode()).hexdigest()[:8]}"


def _value(key: str, value: str) -> str:
    """Return an option's value; a warehouse that is a folder of this machine becomes an absolute one."""
    is_path = key == "warehouse" and scheme_of(value) is None and "/" in value
    return (absolute(value) or value) if is_path else value
