"""Expressions that this process computes have the values that Flink gave, over values at the edges of their types."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import sqlext
from sqlext import Session, SqlExtError

sys.path.insert(0, str(Path(__file__).parents[1] / "expressions"))

#: Columns that this process does not read, so that no query over the table would run here.
_LEFT_OUT = {"y", "m", "ai", "au", "mp", "ro", "ar"}
_COLUMNS = """id INT, t TINYINT, h SMALLINT, i INT, l BIGINT, f FLOAT, x DOUBLE, p DECIMAL(5, 2), q DECIMAL(20, 10),
  r DECIMAL(38, 18), w DECIMAL(38, 0), s STRING, b BOOLEAN, d DATE, a TIMESTAMP(3), g TIMESTAMP(6), k TIMESTAMP_LTZ(3),
  c AS CAST(s AS CHAR(4)), v AS CAST(s AS VARCHAR(3))"""
#: What refuses an expression: it is for Spark, or over a column that was left out.
_NOT_HERE = {"OPT-036", "NAME-003"}
_LEAST = 300


@pytest.fixture
def edges(tmp_path: Path) -> Session:
    """Return a session with the recorded table, as far as this process reads it."""
    from recorded_flink import EDGES, RECORDED

    folder = tmp_path / "edges"
    folder.mkdir()
    lines = (RECORDED / EDGES.file).read_text("utf-8").splitlines()
    # The texts of numbers stay as they are: a float has too few digits.
    rows = [json.loads(line, parse_float=_Number) for line in lines]
    made = ["{" + ", ".join(f'"{n}": {_text(v)}' for n, v in r.items() if n not in _LEFT_OUT) + "}\n" for r in rows]
    (folder / "1.json").write_text("".join(made), "utf-8")
    settings = {"sqlext.engine": "local", "sqlext.expressions": "flink"}
    session = sqlext.connect(catalog=tmp_path / "catalog", settings=settings)
    session.run(
        f"CREATE TABLE edges ({_COLUMNS}) WITH ('connector' = 'filesystem', 'path' = '{folder}', 'format' = 'json')"
    )
    return session


class _Number(str):
    """A number as it is written."""

    __slots__ = ()


def _text(value: object) -> str:
    return str(value) if isinstance(value, _Number) else json.dumps(value)


def test_values_are_flink_s(edges: Session) -> None:
    from recorded_flink import differences, recorded
    from test_recorded_values import plain, same_rows

    skipped = {**differences("values"), **differences("types"), **differences("fails")}
    same, wrong = 0, []
    for record in recorded("meetings"):
        if "rows" not in record or record["expression"] in skipped:
            continue
        try:
            rows = edges.run(f"SELECT id, {record['expression']} AS e FROM edges")[-1].rows
        except SqlExtError as error:
            if error.code not in _NOT_HERE:
                wrong.append(f"{record['expression']}: {error}")
            continue
        ours = [plain(value) for _, value in sorted(rows, key=lambda row: row[0])]
        if same_rows(record, ours):
            same += 1
        else:
            wrong.append(f"{record['expression']}\n  ours   {ours}\n  Flink's {record['rows']}")
    assert not wrong, "\n".join(wrong)
    assert same >= _LEAST
