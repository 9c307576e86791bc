"""Small catalogs to test with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sqlext.types import INT
from sqlext_catalog.model import DEFAULT_CATALOG, DEFAULT_DATABASE, Column, ObjectName, Table
from sqlext_catalog.store import CatalogStore


@pytest.fixture
def store(tmp_path: Path) -> CatalogStore:
    """Return a store in a folder that does not exist yet."""
    return CatalogStore(tmp_path / "catalog")


@pytest.fixture
def make_table() -> Callable[..., Table]:
    """Return a builder of tables in the default database."""

    def build(name: str, **values: object) -> Table:
        full = ObjectName(DEFAULT_CATALOG, DEFAULT_DATABASE, name)
        return Table(**({"name": full, "columns": (Column("a", INT),)} | values))  # type: ignore[arg-type]

    return build
