"""Turn Spark's columns into Arrow's, with instants in UTC whatever the session's zone is."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType


def arrow_schema(schema: StructType) -> pa.Schema:
    """Return the Arrow schema of columns; TIMESTAMP is an instant of UTC.

    PySpark names the zone by an argument; PySparks that have no such argument write UTC by themselves.
    """
    from pyspark.sql.pandas.types import to_arrow_schema

    zoned = "timezone" in inspect.signature(to_arrow_schema).parameters
    return to_arrow_schema(schema, timezone="UTC") if zoned else to_arrow_schema(schema)
