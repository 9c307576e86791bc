"""Texts that are joined by a separator without Spark; the values are those of Flink 2.3."""

from __future__ import annotations

from pathlib import Path

import pytest

import sqlext

_VALUES = {
    "CONCAT_WS('-', s, 'x', t)": ["a-x-b", "x-b", "a-x"],
    "CONCAT_WS(t, s, 'x')": ["abx", "x", None],
    "CONCAT(s, 'x', t)": ["axb", None, None],
    "JSON_OBJECT('k' VALUE n, 'l' VALUE n)": ['{"k":1,"l":1}', '{"k":null,"l":null}', '{"k":3,"l":3}'],
    "JSON_OBJECT('k' VALUE n ABSENT ON NULL)": ['{"k":1}', "{}", '{"k":3}'],
    "JSON_ARRAY(n, 2)": ["[1,2]", "[2]", "[3,2]"],
}


@pytest.mark.parametrize("expression", _VALUES)
def test_the_separator_stands_between(expression: str, tmp_path: Path) -> None:
    lines = '{"n": 1, "s": "a", "t": "b"}\n{"n": null, "s": null, "t": "b"}\n{"n": 3, "s": "a", "t": null}\n'
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.json").write_text(lines, "utf-8")
    settings = {"sqlext.engine": "local", "sqlext.expressions": "flink"}
    session = sqlext.connect(catalog=tmp_path / "catalog", settings=settings)
    source = f"WITH ('connector' = 'filesystem', 'path' = '{tmp_path / 'in'}', 'format' = 'json')"
    session.run(f"CREATE TABLE made (n INT, s STRING, t STRING) {source}")
    rows = session.run(f"SELECT {expression} FROM made")[-1].rows
    assert [row[0] for row in rows] == _VALUES[expression]
