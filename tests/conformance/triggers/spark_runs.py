"""A recorded case as a query that goes on a micro-batch at a time."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deltalake import DeltaTable

from tests.stepped_queries import END_OF_TIME, EPOCH, JsonRow, Move, SteppedQuery, text_of

from .clauses import Tree
from .spark_text import by_clock, script, shift

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class CaseQuery(SteppedQuery):
    """A case on Spark, its times moved away from 1970."""

    def __init__(self, case: Tree, spark: SparkSession, folder: Path) -> None:
        self.shift = shift(case)
        moves = [self._move(step, case) for step in case["steps"]]
        if moves[0].clock is None:
            moves[0] = Move(moves[0].rows, moves[0].watermark, clock=self.shift)
        super().__init__(spark, folder, script(case), moves)

    def shown(self, row: tuple[Any, ...]) -> list[Any]:
        """Return a row of the query with times as those of the case."""
        return [self._time(value) if isinstance(value, datetime) else value for value in row]

    def late(self) -> list[Tree]:
        """Return the rows of the late table."""
        path = self.folder / "out"
        rows = DeltaTable(path).to_pyarrow_table().to_pylist() if path.exists() else []
        return [{**row, "ts": self._time(row["ts"].replace(tzinfo=None))} for row in rows]

    def _time(self, time: datetime) -> int:
        return (time - EPOCH) // timedelta(milliseconds=1) - self.shift

    def _move(self, step: Tree, case: Tree) -> Move:
        if step["op"] == "watermark":
            return Move(watermark=END_OF_TIME if step["to"] == "MAX" else step["to"] + self.shift)
        if step["op"] == "clock":
            return Move(clock=step["to"] + self.shift)
        elements = step.get("elements", [step] if step["op"] == "element" else [])
        return Move([self._row(element, case) for element in elements])

    def _row(self, element: Tree, case: Tree) -> JsonRow:
        key, value = element["key"], element["value"]
        gap = _gap(case.get("assigner", {}).get("gap_rule"), key, value)
        time = 0 if by_clock(case) else element.get("ts") or 0
        return {"key": key, "value": value, "ts": text_of(time + self.shift), "gap": gap}


def _gap(rule: Tree | None, key: str, value: Any) -> int | None:
    if rule is None:
        return None
    of_key = rule[key]
    return int(of_key.get(str(value), of_key["default"]) if isinstance(of_key, dict) else of_key)
