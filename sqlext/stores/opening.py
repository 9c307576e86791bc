"""Choose the store of a place: a local folder, or a URL for which there is a store."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sqlext.locations import PathOrText, local_path, scheme_of
from sqlext.stores.base import Store
from sqlext.stores.folder import FolderStore
from sqlext.stores.objects import ObjectStore

#: The schemes of URLs for which there is a store.
SCHEMES = frozenset({"s3", "s3a", "gs", "abfs", "abfss"})


def has_store(place: PathOrText) -> bool:
    """Return whether there is a store for a place: it is local, or its scheme is one of ``SCHEMES``."""
    return local_path(place) is not None or scheme_of(place) in SCHEMES


def open_store(place: PathOrText, settings: Mapping[str, str] | None = None) -> Store:
    """Return the store of a place for which there is one.

    Args:
        settings: Spark's, or Hadoop's; see ``ObjectStore``.

    Raises:
        SqlExtError: ENV-011 without the package of object stores; RUN-015 if the URL or its settings are wrong.
    """
    path = local_path(place)
    return FolderStore(Path(path)) if path is not None else ObjectStore(str(place), settings)
