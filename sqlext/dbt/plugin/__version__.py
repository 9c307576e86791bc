"""Tell the version that ``dbt --version`` shows."""

from importlib.metadata import version as installed

version = installed("sqlext-spark")
