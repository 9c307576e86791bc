"""Register the adapter: dbt imports ``dbt.adapters.sqlext`` for ``type: sqlext`` in a profile."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dbt.adapters.base.plugin import AdapterPlugin

import sqlext.dbt
from sqlext.dbt.adapter import SqlextAdapter
from sqlext.dbt.connections import SqlextCredentials

_ADAPTER: Any = SqlextAdapter  # dbt's own protocol for adapters does not fit SparkAdapter

Plugin = AdapterPlugin(
    adapter=_ADAPTER,
    credentials=SqlextCredentials,
    include_path=str(Path(sqlext.dbt.__file__).parent / "include"),
    dependencies=["spark"],
    project_name="dbt_sqlext",
)
