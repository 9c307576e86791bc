"""What a job writes with: each of its writes may be the last one of its driver."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from sqlext.connectors.delta.local_sink import LocalDelta
from sqlext.connectors.delta.sink.tables import DeltaSink
from sqlext.connectors.filesystem.local_sink import LocalFileSink
from sqlext.connectors.filesystem.sink import commit
from sqlext.connectors.jdbc import sink as jdbc
from sqlext.connectors.kafka import transactions
from sqlext.jobs import in_process
from sqlext.jobs.batches import BatchWriter
from sqlext.sinks.sides import Side
from sqlext.stores.folder import FolderStore
from sqlext_catalog.store import CatalogStore

#: The store of a query's folder and of leases, sinks, the catalog.
WRITES: tuple[tuple[type, str], ...] = (
    (FolderStore, "write"),
    (FolderStore, "create"),
    (FolderStore, "replace"),
    (FolderStore, "delete"),
    (FolderStore, "remove"),
    (FolderStore, "move"),
    (BatchWriter, "__call__"),
    (DeltaSink, "write"),
    (DeltaSink, "write_new"),
    (LocalDelta, "write"),
    (LocalFileSink, "write"),
    (Side, "write"),
    (CatalogStore, "commit"),
)
#: Modules that mark the steps of a write of their own; the last two run in workers of Spark's.
STEPS = (commit, in_process, jdbc, transactions)


def watch(at_write: Callable[[str], None], put: Callable[[Any, str, Any], None] = setattr) -> None:
    """Let a function be called, with a name, before and behind each write, and at each step of one.

    Args:
        at_write: may raise, or end the process.
        put: replaces an attribute; tests give one that puts the old one back.
    """
    for owner, name in WRITES:
        put(owner, name, _watched(getattr(owner, name), at_write, f"{owner.__name__}.{name}"))
    for module in STEPS:
        put(module, "at_step", functools.partial(_at_step, at_write, module.__name__.split(".")[-1]))


def _at_step(at_write: Callable[[str], None], module: str, step: str) -> None:
    at_write(f"{module}: {step}")


def _watched(original: Callable[..., Any], at_write: Callable[[str], None], name: str) -> Callable[..., Any]:
    @functools.wraps(original)
    def watched(*args: Any, **kwargs: Any) -> Any:
        at_write(f"before {name}")
        result = original(*args, **kwargs)
        at_write(f"behind {name}")
        return result

    return watched
