"""Made-up rows on Spark: an endless table as a stream, the types of its columns, and what fails."""

from __future__ import annotations

import pytest

from sqlext.errors import SqlExtError
from tests.workspace import Workspace

PEOPLE = """
CREATE TABLE people (name STRING, age SMALLINT, born DATE, wage DECIMAL(8, 2), seen TIMESTAMP(3), at TIMESTAMP_LTZ(3),
  marks MAP<STRING, INT>, WATERMARK FOR seen AS seen - INTERVAL '5' SECOND
) WITH ('connector' = 'faker', 'rows-per-second' = '200',
  'fields.name.expression' = '#{Name.fullName}', 'fields.age.expression' = '#{number.numberBetween ''18'',''80''}',
  'fields.born.expression' = '#{date.birthday}', 'fields.wage.expression' = '#{number.randomDouble ''3'',''1'',''9''}',
  'fields.seen.expression' = '#{date.past ''5'',''SECONDS''}', 'fields.at.expression' = '#{date.past ''1'',''DAYS''}',
  'fields.marks.key.expression' = '#{Lorem.word}', 'fields.marks.value.expression' = '#{number.randomDigit}');
CREATE TABLE kept (name STRING, age SMALLINT, born DATE, wage DECIMAL(8, 2), seen TIMESTAMP(3), at TIMESTAMP_LTZ(3),
  marks MAP<STRING, INT>) WITH ('connector' = 'delta', 'path' = '${OUT}/kept');
"""


def test_an_endless_table_is_a_stream(workspace: Workspace) -> None:
    (result,) = workspace.run(PEOPLE, "INSERT INTO kept SELECT * FROM people;")[-1:]
    assert result.query is not None
    workspace.until(lambda: len(workspace.delta("kept")) > 100)
    result.query.stop()
    found = workspace.delta("kept")
    assert len(set(found)) == len(found)
    assert all(18 <= int(row[1]) < 80 and 1 <= float(row[3]) <= 9 for row in found)
    assert len({row[4] for row in found}) > 50


def test_a_value_of_another_type_fails_with_its_column(workspace: Workspace) -> None:
    script = """
    CREATE TABLE f (n INT) WITH ('connector' = 'faker', 'number-of-rows' = '1', 'fields.n.expression' = 'one');
    SELECT n FROM f;
    """
    with pytest.raises(SqlExtError, match="column `n` that is no INT") as raised:
        workspace.run(script)
    assert raised.value.code == "RUN-072"
