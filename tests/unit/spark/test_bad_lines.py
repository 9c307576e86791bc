"""The line that Spark could not read is found in the file that it names."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.errors import AnalysisException

from sqlext.session.offline.compilation import compile_source, new_state
from sqlext.source import SourceText
from sqlext.spark.failures import run_error
from sqlext.spark.reading.bad_lines import bad_line
from sqlext_catalog.model import Table

COLUMNS = "k STRING, v INT, w ARRAY<INT>, file STRING METADATA FROM 'file.name', twice AS v * 2"


def table(folder: Path, form: str, *options: str, columns: str = COLUMNS) -> Table:
    with_ = ", ".join(["'connector' = 'filesystem'", f"'path' = '{folder}'", f"'format' = '{form}'", *options])
    state = new_state(None)
    list(compile_source(SourceText.of(f"CREATE TABLE t ({columns}) WITH ({with_});"), state))
    found = state.catalog.lookup(["t"])
    assert isinstance(found, Table)
    return found


def failure(file: Path) -> str:
    named = file.as_uri()
    return (
        f"[FAILED_READ_FILE.NO_HINT] Encountered error while reading file {named}. SQLSTATE: KD001\n"
        "Caused by: [MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION] Malformed records are detected in record parsing"
    )


@pytest.mark.parametrize("name", ["a.json", "a file.json", "sub/b.json"])
def test_the_line_of_the_file(name: str, tmp_path: Path) -> None:
    file = tmp_path / "in" / name
    file.parent.mkdir(parents=True)
    file.write_text('{"k": "a", "v": 1}\n{"k": "b", "v": \n')
    tables = [table(tmp_path / "other", "json"), table(tmp_path / "in", "json")]
    found = bad_line(failure(file), tables)
    assert found is not None
    assert f"{file}:2: " in found.message
    error = run_error(AnalysisException(failure(file)), None, tables)
    told = "a row cannot be decoded: " + found.message.partition("] ")[2].strip()
    assert (error.code, error.message) == ("RUN-066", told)
    assert error.hint is not None
    assert "'drop'" in error.hint


def test_the_line_in_a_folder_of_a_partition(tmp_path: Path) -> None:
    csv = "day STRING, k STRING, v INT) PARTITIONED BY (day"
    (tmp_path / "day=1").mkdir()
    file = tmp_path / "day=1" / "a.csv"
    file.write_text("b,1\nb\n")
    found = bad_line(failure(file), [table(tmp_path, "csv", columns=csv)])
    assert found is not None
    assert f"{file}:2: it has 1 fields, not 2 in b" in found.message


def test_the_line_of_a_value(tmp_path: Path) -> None:
    csv = "k STRING, v INT, w INT"
    failed = (
        '[CAST_INVALID_INPUT] The value \'x\' of the type "STRING" cannot be cast to "INT" because it is malformed.'
    )
    (tmp_path / "a.csv").write_text("x,1,1\n")
    (tmp_path / "b.csv").write_text("b,1,2\n\nb,1,x\nc,y,1\n")
    read = table(tmp_path, "csv", columns=csv)
    found = bad_line(failed, [read])
    assert found is not None
    assert f"{tmp_path / 'b.csv'}:3: The value 'x' of column `w`" in found.message
    assert bad_line(failed.replace("'x'", "'z'"), [read]) is None
    assert bad_line(failed, [table(tmp_path, "csv", columns="k STRING, v STRING, w STRING")]) is None


def test_where_nothing_is_found(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text('{"k": "a", "v": 1}\n')
    read = table(tmp_path, "json")
    assert bad_line(failure(file), [read]) is None
    assert bad_line(failure(tmp_path / "gone.json"), [read]) is None
    assert bad_line("Malformed records are detected in record parsing", [read]) is None
    file.write_text('{"k": ')
    assert bad_line(failure(file), []) is None
    packed = tmp_path / "a.json.snappy"
    packed.write_bytes(b"no")
    assert bad_line(failure(packed), [read]) is None
    assert bad_line(failure(file), [table(tmp_path, "json", "'json.ignore-parse-errors' = 'true'")]) is None
    assert bad_line(failure(file), [table(tmp_path / "other", "json")]) is None
