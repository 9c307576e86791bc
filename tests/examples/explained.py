"""Compute rows of the examples' results again, of the input rows alone that EXPLAIN ROW names.

Each query of an example fills a table. Each row of it can be asked for. The lines that are named are written into a
folder of their own, and the query runs over that: its result must have the row.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
from deltalake import write_deltalake

import sqlext
from sqlext import SqlExtError
from sqlext.dialect.ast import statements as ast
from sqlext.dialect.script import parse_script
from sqlext.session.api import Session
from sqlext.source import SourceText

from .examples import DATA

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_RESULT = "explained_result"
_PATH = re.compile(r"'path' = '([^']*)'")
_DEFINITIONS = (ast.CreateTable, ast.CreateView, ast.SetOption, ast.ResetOption, ast.Use, ast.CreateDatabase)
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Asked:
    """A query of an example whose result rows are explained.

    Attributes:
        script: the example.
        number: of its statement in it.
        text: the statement.
        table: what it writes.
    """

    script: Path
    number: int
    text: str
    table: str


@dataclass
class Explained:
    """An example that has run in this process.

    Attributes:
        script: the example.
        folder: where it has run.
        session: that has run it.
        spark: what runs its queries; None: this process.
        definitions: the statements that are no queries, with their place in the script.
        queries: its queries that have run.
        left: the queries that this process does not run, each with the reason.
    """

    script: Path
    folder: Path
    session: Session
    spark: SparkSession | None
    definitions: list[tuple[int, str]] = field(default_factory=list)
    queries: list[Asked] = field(default_factory=list)
    left: list[tuple[str, str]] = field(default_factory=list)

    def rows(self, query: Asked) -> tuple[list[str], list[Row]]:
        """Return the names and the rows of what a query has written."""
        result = self.session.sql(f"SELECT * FROM {query.table}")
        return list(result.columns), list(result.rows)

    def named(self, query: Asked, names: Sequence[str], row: Row) -> Mapping[str, Mapping[str, set[int]]]:
        """Return the lines that EXPLAIN ROW names for a row: by table and file."""
        lines: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
        condition = _condition(names, row)
        asked = self.session.sql(f"EXPLAIN ROW FROM {query.table}{condition and f' WHERE {condition}'}")
        for _, writer, table, place, number, *_ in asked.rows:
            if writer is not None and table is not None:  # no pane
                lines[table][place].add(number)
        return lines

    def has_lines(self, lines: Mapping[str, Mapping[str, set[int]]]) -> bool:
        """Whether the tables that are read lie where this module can copy them: not in the folder of the catalog."""
        return all(self._path(t).is_relative_to(DATA) or self._path(t).is_relative_to(self._out) for t in lines)

    def again(self, query: Asked, lines: Mapping[str, Mapping[str, set[int]]], folder: Path) -> list[Row]:
        """Return the rows of a query over some lines of its tables."""
        inputs = folder / "in"
        for own in DATA.iterdir():
            (inputs / own.name).mkdir(parents=True, exist_ok=True)
        for table, files in lines.items():
            own = self._path(table)
            for place, numbers in files.items():
                if place.endswith(".parquet"):  # a Delta table that another query of the example has filled
                    place = place.rpartition(": ")[2]  # its version stands before it
                    rows = pq.read_table(own / place).take(sorted(n - 1 for n in numbers))
                    target = folder / "out" / own.relative_to(self._out)
                    write_deltalake(target, rows, mode="append")
                else:
                    _copy(own / place, inputs / own.relative_to(DATA) / place, numbers)
        session = _session(folder, self.spark)
        variables = {"IN": str(inputs), "OUT": str(folder / "out")}
        for number, text in self.definitions:
            if number < query.number:
                session.run(text, variables=variables)
        session.run(query.text, variables=variables)
        return list(session.sql(f"SELECT * FROM {query.table}").rows)

    @property
    def _out(self) -> Path:
        return self.folder / "out"

    def _path(self, table: str) -> Path:
        found = self.session.sql(f"SHOW CREATE TABLE {table}").rows[0][0]
        return Path(_PATH.findall(found)[0])


def run_example(script: Path, folder: Path, spark: SparkSession | None = None) -> Explained:
    """Run each query of an example that this process, or Spark, can run; of SELECT a table takes the rows."""
    done = Explained(script, folder, _session(folder, spark), spark)
    variables = {"IN": str(DATA), "OUT": str(folder / "out")}
    source = SourceText.of(script.read_text("utf-8"))
    for number, statement in enumerate(_statements(source)):
        text = statement.span.text + ";"
        table = None
        if isinstance(statement, ast.SelectStatement):
            table = f"{_RESULT}_{number}"
            text = _filling(table, statement.span.text)
        elif isinstance(statement, ast.Insert) or (
            isinstance(statement, ast.CreateTable) and statement.query is not None
        ):
            table = ".".join(statement.name)
        elif not isinstance(statement, _DEFINITIONS):
            continue
        try:
            done.session.run(text, variables=variables)
        except SqlExtError as error:
            done.left.append((statement.span.one_line, f"{error.code}: {error.message}"))
            continue
        if table is None:
            done.definitions.append((number, text))
        else:
            done.queries.append(Asked(script, number, text, table))
    return done


def _copy(source: Path, target: Path, numbers: set[int]) -> None:
    """Write some lines of a file; those of two tables that lie in one folder stand beside each other."""
    target.parent.mkdir(parents=True, exist_ok=True)
    kept = set(target.read_text("utf-8").splitlines()) if target.exists() else set()
    lines = source.read_text("utf-8").splitlines()
    chosen = [line for number, line in enumerate(lines, 1) if number in numbers or line in kept]
    target.write_text("".join(f"{line}\n" for line in chosen), "utf-8")


def _filling(table: str, query: str) -> str:
    options = f"'connector' = 'filesystem', 'path' = '${{OUT}}/{table}', 'format' = 'json'"
    return f"SET 'sqlext.sink.updates' = 'final-state';\nCREATE TABLE {table} WITH ({options}) AS {query};"


def _statements(source: SourceText) -> Iterator[ast.Statement]:
    try:
        yield from parse_script(source)
    except SqlExtError:
        return


def _session(folder: Path, spark: SparkSession | None) -> Session:
    if spark is not None:
        return sqlext.connect(spark.newSession(), catalog=folder / "catalog")
    return sqlext.connect(catalog=folder / "catalog", settings={"sqlext.engine": "local"})


def _condition(names: Sequence[str], row: Row) -> str:
    parts = [_equal(f"`{name}`", value) for name, value in zip(names, row, strict=True)]
    return " AND ".join(p for p in parts if p)


def _equal(name: str, value: Any) -> str:
    if value is None:
        return f"{name} IS NULL"
    if isinstance(value, bool):
        return name if value else f"NOT {name}"
    if isinstance(value, str):
        return f"{name} = '{value.replace(chr(39), chr(39) * 2)}'"
    if isinstance(value, datetime):
        return f"{name} = TIMESTAMP '{value}'" if value.tzinfo is None else ""
    if isinstance(value, (int, Decimal)):
        return f"{name} = {value}"
    return ""


def same(one: Row, other: Row) -> bool:
    """Whether two rows are equal; sums of DOUBLEs may be added in another order."""
    return len(one) == len(other) and all(map(_same, one, other))


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9) or (math.isnan(one) and math.isnan(other))
    return bool(one == other)
