"""Settings that a session begins with: Spark's, by their prefix, and those of SET."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sqlext.errors import SqlExtError
from sqlext.session.state import SessionState

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SPARK = "spark."


def of_spark(settings: Mapping[str, str]) -> dict[str, str]:
    """Return those that are Spark's."""
    return {key: value for key, value in settings.items() if key.startswith(_SPARK)}


def set_options(state: SessionState, settings: Mapping[str, str]) -> None:
    """Set those that are ours.

    Raises:
        SqlExtError: OPT-010, OPT-011 as SET.
    """
    for key, value in settings.items():
        if not key.startswith(_SPARK):
            state.settings = state.settings.with_value(key, value)


def apply_to_spark(spark: SparkSession, settings: Mapping[str, str]) -> None:
    """Give a session its settings of Spark.

    Raises:
        SqlExtError: ENV-010 for one that must be there when Spark starts, and is not.
    """
    for key, value in settings.items():
        if spark.conf.isModifiable(key):
            spark.conf.set(key, value)
        elif not _has(spark.conf.get(key, None) or "", value):
            raise SqlExtError("ENV-010", f"`{key}` counts when Spark starts, and this process already runs a Spark")


def _has(found: str, wanted: str) -> bool:
    """Whether a setting has the value; a list of packages may have more than those that were asked for."""
    return set(wanted.split(",")) <= set(found.split(","))
