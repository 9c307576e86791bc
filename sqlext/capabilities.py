"""List what Spark versions differ in, and find what the installed Spark can do.

A capability is found in the text of PySpark's own modules, never by a version's number: platforms carry features of
later versions. Nothing is imported for it, and no JVM starts. Where no PySpark is installed, the newest is meant.
A Spark Connect server is taken to be of its client's version.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from importlib.abc import ResourceLoader
from importlib.util import find_spec
from typing import cast

from sqlext.errors import SqlExtError


@dataclass(frozen=True, slots=True)
class Capability:
    """Something that not every Spark can do.

    Attributes:
        name: what it is called in messages.
        purpose: what needs it, as the message begins.
        since: the first version of open-source Spark that has it; for messages alone.
        module: the file of the package ``pyspark`` that shows it.
        mark: the text in that file; empty where the file alone shows it.
        instead: what serves where it is missing; empty where nothing does, and the need is refused.
    """

    name: str
    purpose: str
    since: str
    module: str
    mark: str = ""
    instead: str = ""


ADMISSION = Capability(
    "admission control of Python data sources",
    "a stream read by a reader of ours",
    "4.2",
    "sql/streaming/datasource.py",
    "class SupportsTriggerAvailableNow",
)
STATE = Capability(
    "transformWithState",
    "a stream with an operator of ours (EMIT, Top-N, MATCH_RECOGNIZE, ...)",
    "4.0",
    "sql/pandas/group_ops.py",
    "def transformWithState",
)
CONNECT_STATE = Capability(
    "transformWithState over Spark Connect",
    "a stream with an operator of ours (EMIT, Top-N, MATCH_RECOGNIZE, ...) over Spark Connect",
    "4.1",
    "sql/connect/group.py",
    "def transformWithState",
)
ROW_STATE = Capability(
    "transformWithState on rows",
    "the quicker form of an operator of ours",
    "4.1",
    STATE.module,
    "def transformWithState(",
    "`transformWithStateInPandas`, with the same rows,",
)
#: No module of Python's shows the grammar of SQL or a class of the JVM. Both came with rows. Where the clause is there
#: without them, ``DataFrame.withWatermark`` does the same.
WATERMARK_SQL = Capability(
    "WATERMARK ... DELAY OF in SQL",
    "the SQL of a watermark",
    "4.1",
    ROW_STATE.module,
    ROW_STATE.mark,
    "`DataFrame.withWatermark`",
)
CHECKPOINTING = Capability(
    "the package `checkpointing`",
    "the files of checkpoints of a local Spark",
    "4.1",
    ROW_STATE.module,
    ROW_STATE.mark,
    "the package that had them before",
)
TIME_TYPE = Capability("the type TIME", "a TIME", "4.1", "sql/types.py", "class TimeType(")
TIME_MILLIS = Capability(
    "milliseconds of a TIME", "a TIME in Avro", "4.2", "sql/functions/builtin.py", "def time_from_millis("
)
CLONE = Capability(
    "a session that is cloned over Spark Connect",
    "a session of our own over Spark Connect",
    "4.1",
    "sql/connect/session.py",
    "def cloneSession",
    "the session that was given",
)
UNIX_SOCKETS = Capability(
    "Unix domain sockets",
    "the way from Spark to its Python processes",
    "4.1",
    "daemon.py",
    "PYTHON_UNIX_DOMAIN_ENABLED",
    "TCP",
)
REAL_TIME = Capability(
    "real-time mode",
    "`'sqlext.trigger.real-time'`",
    "4.1",
    "sql/streaming/readwriter.py",
    "realTime",
    "micro-batches",
)
PIPELINES = Capability("declarative pipelines", "`sqlext.pipelines`", "4.1", "pipelines/__init__.py")

#: All of them.
CAPABILITIES = (
    ADMISSION,
    STATE,
    CONNECT_STATE,
    ROW_STATE,
    WATERMARK_SQL,
    CHECKPOINTING,
    TIME_TYPE,
    TIME_MILLIS,
    CLONE,
    UNIX_SOCKETS,
    REAL_TIME,
    PIPELINES,
)


def installed() -> bool:
    """Return whether a PySpark is installed here."""
    return find_spec("pyspark") is not None


@cache
def has(capability: Capability) -> bool:
    """Return whether the installed Spark can do this; yes where none is installed."""
    found = find_spec("pyspark")
    if found is None:
        return True
    loader = cast(ResourceLoader, found.loader)  # of files or of a zip: both have ``get_data``
    return any(_shows(loader, folder, capability) for folder in found.submodule_search_locations or ())


def _shows(loader: ResourceLoader, folder: str, capability: Capability) -> bool:
    try:
        text = loader.get_data(os.path.join(folder, *capability.module.split("/")))  # noqa: PTH118
    except OSError:
        return False
    return capability.mark.encode() in text


def require(capability: Capability) -> None:
    """Refuse what the installed Spark cannot do.

    Raises:
        SqlExtError: ENV-014, with the first version that can.
    """
    if not has(capability):
        raise missing(capability)


def missing(capability: Capability) -> SqlExtError:
    """Return the refusal (ENV-014)."""
    message = f"{capability.purpose} needs {capability.name}, which this Spark has not"
    return SqlExtError(
        "ENV-014", message, hint=f"Spark {capability.since} is the first open-source version that has it"
    )
