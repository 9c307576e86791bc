"""Name the folders of a query that reading needs: a job's place has them (``jobs.checkpoint.QueryHome``)."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol


class QueryFolders(Protocol):
    """The folders of one query."""

    @property
    def heartbeat(self) -> Path:
        """The folder of the row that ends a bounded input."""

    @property
    def sources(self) -> Path:
        """The folder of what readers of ours must remember, a folder for each."""

    @property
    def time(self) -> Path:
        """The folder of its time keeper."""
