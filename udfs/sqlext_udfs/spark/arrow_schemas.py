"""Turn Spark's columns into Arrow's and back, alike in all versions of PySpark; instants are in UTC."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import DataType, StructType


def arrow_schema(schema: StructType) -> pa.Schema:
    """Return the Arrow schema of columns; TIMESTAMP is an instant of UTC.

    PySpark names the zone by an argument; PySparks that have no such argument write UTC by themselves.
    """
    from pyspark.sql.pandas.types import to_arrow_schema

    zoned = "timezone" in inspect.signature(to_arrow_schema).parameters
    return to_arrow_schema(schema, timezone="UTC") if zoned else to_arrow_schema(schema)


def spark_type(of: pa.DataType) -> DataType:
    """Return Spark's type of an Arrow type; a timestamp without a zone is TIMESTAMP_NTZ, also inside others.

    The default of this differs between versions of PySpark.
    """
    from pyspark.sql.pandas.types import from_arrow_type

    return from_arrow_type(of, prefer_timestamp_ntz=True)
