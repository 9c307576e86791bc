"""Say what Databricks takes, from its documents alone: nothing of it was tried there.

What tells it, all of it public:

- ``DATABRICKS_RUNTIME_VERSION`` in the environment: ``17.3`` on a cluster, ``client.4`` and the like on serverless.
- ``IS_SERVERLESS`` in the environment of serverless compute.
- ``DATABRICKS_SERVERLESS_COMPUTE_ID`` where databricks-connect is told to use serverless compute.
- the setting ``spark.databricks.clusterUsageTags.sparkVersion`` of a cluster, for a client elsewhere.

Standard access mode and serverless compute give sessions of Spark Connect. A plain path means DBFS to Spark there and
the driver's disk to Python, so a place that both see is a volume or a URL.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from sqlext.errors import SqlExtError
from sqlext.locations import PathOrText, is_remote, scheme_of

RUNTIME = "DATABRICKS_RUNTIME_VERSION"
_IS_SERVERLESS = "IS_SERVERLESS"
_SERVERLESS_ID = "DATABRICKS_SERVERLESS_COMPUTE_ID"
#: The setting of a cluster that tells its runtime.
RUNTIME_TAG = "spark.databricks.clusterUsageTags.sparkVersion"
#: What a session of serverless compute may set.
_SERVERLESS_SETTINGS = frozenset(
    {
        "spark.databricks.execution.timeout",
        "spark.sql.ansi.enabled",
        "spark.sql.files.maxPartitionBytes",
        "spark.sql.legacy.timeParserPolicy",
        "spark.sql.session.timeZone",
        "spark.sql.shuffle.partitions",
    }
)
_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
#: From this runtime on, state lies in RocksDB without being told.
_ROCKSDB = (17, 3)
_VOLUMES = "/Volumes/"


@dataclass(frozen=True, slots=True)
class PlatformRules:
    """What the platform under a Spark session takes, capability by capability. The default takes all.

    Attributes:
        platform: what it is called in messages, empty where there are no rules.
        endless: whether a query may run without end; else it takes what is there, and ends.
        local: whether Spark and this process see the same folders.
        settings: the settings of Spark that a session may set, None for all.
        rocksdb: whether the platform keeps state in RocksDB of its own accord.
    """

    platform: str = ""
    endless: bool = True
    local: bool = True
    settings: frozenset[str] | None = None
    rocksdb: bool = False

    def settable(self, wanted: Mapping[str, str]) -> dict[str, str]:
        """Return those of some settings that are to be set here; a state store of the platform's own stays."""
        return {
            key: value
            for key, value in wanted.items()
            if (self.settings is None or key in self.settings) and not (self.rocksdb and key == _PROVIDER)
        }

    def require_place(self, place: PathOrText, what: str) -> None:
        """Refuse a place that Spark and this process do not both see.

        Args:
            what: lies there, as the message begins: ``the catalog``.

        Raises:
            SqlExtError: ENV-020.
        """
        if self.local or is_volume(place) or (is_remote(place) and scheme_of(place) not in ("dbfs", "file")):
            return
        message = f"{what} cannot lie at `{os.fspath(place)}`: {self.platform} sees no folder of this machine"
        raise SqlExtError("ENV-020", message, hint=f"give a volume: {_VOLUMES}catalog/schema/volume/folder")


def is_volume(place: PathOrText) -> bool:
    """Return whether a place is in a volume of Unity Catalog, which Python and Spark see under one path."""
    return os.fspath(place).removeprefix("dbfs:").startswith(_VOLUMES)


def rules_of(environment: Mapping[str, str], settings: Mapping[str, str], *, connect: bool) -> PlatformRules:
    """Return the rules of the Databricks that an environment and a session's settings tell of; else those of none.

    Args:
        environment: the variables of this process.
        settings: of the Spark session; ``RUNTIME_TAG`` counts.
        connect: whether the session is one of Spark Connect.
    """
    runtime = environment.get(RUNTIME) or settings.get(RUNTIME_TAG)
    if connect and _is_serverless(environment, runtime):
        name = "Databricks serverless compute"
        return PlatformRules(name, endless=False, local=False, settings=_SERVERLESS_SETTINGS, rocksdb=True)
    if not runtime:
        return PlatformRules()
    found = re.match(r"(\d+)\.(\d+)", runtime)
    number = (int(found[1]), int(found[2])) if found else _ROCKSDB
    name = f"Databricks {found[0] if found else runtime}, {'a session of Spark Connect' if connect else 'classic'}"
    return PlatformRules(name, local=False, rocksdb=number >= _ROCKSDB)


def _is_serverless(environment: Mapping[str, str], runtime: str | None) -> bool:
    said = environment.get(_IS_SERVERLESS, "").lower() in ("true", "1")
    return said or (runtime or "").startswith("client.") or bool(environment.get(_SERVERLESS_ID))
