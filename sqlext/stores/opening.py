"""Choose the store of a place: a local folder, or a URL for which there is a store."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from sqlext.errors import SqlExtError
from sqlext.locations import PathOrText, is_object_store, local_path
from sqlext.stores.base import ByteStore
from sqlext.stores.folder import FolderStore
from sqlext.stores.objects import ObjectStore


def has_store(place: PathOrText) -> bool:
    """Return whether there is a store for a place: it is local, or a URL of S3, Google Cloud or Azure."""
    return local_path(place) is not None or is_object_store(place)


def remove_all(place: PathOrText, settings: Mapping[str, str] | None = None) -> None:
    """Remove all that lies at a place; raises as ``open_store`` for a URL."""
    path = local_path(place)
    if path is not None:
        shutil.rmtree(path, ignore_errors=True)
    else:
        ObjectStore(os.fspath(place), settings).clear()


def open_store(place: PathOrText, settings: Mapping[str, str] | None = None) -> ByteStore:
    """Return the store of a place.

    Args:
        settings: Spark's, or Hadoop's; see ``ObjectStore``.

    Raises:
        SqlExtError: ENV-011 without the package of object stores; RUN-015 if there is no store for the place, or the
            URL or its settings are wrong.
    """
    path = local_path(place)
    if path is not None:
        return FolderStore(Path(path))
    if not has_store(place):
        scheme = os.fspath(place).partition(":")[0].strip()
        hint = "a local folder, or s3://, s3a://, gs://, abfss:// with a bucket or container"
        raise SqlExtError("RUN-015", f"there is no store for a URL of {scheme}", hint=hint)
    return ObjectStore(os.fspath(place), settings)
