"""The product over Spark Connect: the same rows as over a classic session, and refusals where it cannot."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import one_script

pytestmark = [pytest.mark.slow, pytest.mark.costly]

HERE = Path(__file__).parent
SQL = HERE.parents[1] / "sql_examples"
#: Native windows, upserts by MERGE, operators of ours.
EXAMPLES = ("04_tumble", "14_upsert", "42_cumulate_distinct")


@pytest.fixture(scope="module")
def gave(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return what each part gave, run by one server."""
    folder = tmp_path_factory.mktemp("connect")
    one_script.laid_out(folder / "one_script")
    command = [sys.executable, str(HERE / "client.py"), str(folder), *EXAMPLES]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    lines = (line for line in done.stdout.splitlines() if line.startswith('{"part"'))
    found = {told["part"]: told["gave"] for told in map(json.loads, lines)}
    assert found, done.stderr[-3000:]
    return found | {"folder": folder}


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_give_the_same(gave: dict[str, Any], example: str) -> None:
    assert gave[example] == (SQL / f"{example}.out").read_text("utf-8")


def test_the_script_that_all_faces_run(gave: dict[str, Any]) -> None:
    assert gave["same_script"] == 1
    assert one_script.rows(gave["folder"] / "one_script" / "panes") == one_script.ROWS


def test_dataframes_of_the_clients_session_are_tables(gave: dict[str, Any]) -> None:
    assert gave["registered"] == [
        [["Ada", 1], ["Ada", 2], ["Bo", 4]],
        [["a", 3], ["b", 4]],
        2,
        [],
    ]


def test_results_are_dataframes_of_the_clients_session(gave: dict[str, Any]) -> None:
    # The watermark is at 10 s: the window of `b` stays open.
    assert gave["handed_on"] == [True, [["a", 3]]]


def test_install(gave: dict[str, Any]) -> None:
    streaming, described, plain, left = gave["installed"]
    assert streaming
    assert described == ["STRING", "INT", "TIMESTAMP(3) *ROWTIME*"]
    assert plain == 1
    assert not left


def test_print_is_refused(gave: dict[str, Any]) -> None:
    assert gave["printed"] == "SINK-012"
