"""``sqlext run --ui``: a page of endless queries that is told how they go, and that stops them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import pytest

import sqlext

pytestmark = pytest.mark.slow

SCRIPT = """
CREATE TABLE orders (item INT, amount DOUBLE, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH ('connector' = 'datagen', 'rows-per-second' = '20', 'fields.item.min' = '1', 'fields.item.max' = '3');
CREATE TABLE per_second (item INT, since TIMESTAMP(3), total DOUBLE)
WITH ('connector' = 'delta', 'path' = '${OUT}/per_second');
INSERT INTO per_second SELECT item, window_start, SUM(amount)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' SECOND)) GROUP BY item, window_start, window_end;
CREATE TABLE numbers (n BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '5');
CREATE TABLE nowhere (n BIGINT) WITH ('connector' = 'blackhole');
INSERT INTO nowhere SELECT n FROM numbers;
"""
NAME, OTHER = "live.per_second", "live.nowhere"


class Page:
    """A running process with a page."""

    def __init__(self, folder: Path) -> None:
        self.catalog = folder / ".sqlext"
        (folder / "live.sql").write_text(SCRIPT)
        options = ["-d", f"OUT={folder}/out", "--ui", "0", "--no-progress"]
        command = [sys.executable, "-m", "sqlext.cli.main", "run", "live.sql", *options]
        self.process = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True)
        self.url, self.token = self._address()

    def _address(self) -> tuple[str, str]:
        assert self.process.stderr is not None
        said = []
        for line in self.process.stderr:
            said.append(line)
            found = re.search(r"(http://127\.0\.0\.1:\d+/)#token=(\S+)", line)
            if found:
                return found[1], found[2]
        raise AssertionError("".join(said))

    def ask(self, what: str, **parameters: str) -> Any:
        with urlopen(f"{self.url}api/{what}?{urlencode(parameters)}", timeout=60) as answer:
            return json.load(answer)

    def told(self) -> Iterator[dict[str, Any]]:
        """Yield what the page is told of the first query, or of none while it is not there."""
        with urlopen(f"{self.url}api/events?{urlencode({'name': NAME})}", timeout=300) as stream:
            name = ""
            for line in stream:
                key, _, value = line.decode().rstrip("\n").partition(": ")
                if key == "event":
                    name = value
                elif key == "data" and name == "query":
                    yield json.loads(value)

    def states(self) -> dict[str, str]:
        return {card["name"]: card["state"] for card in self.ask("queries")["queries"]}

    def stop(self, token: str) -> int:
        request = Request(f"{self.url}api/stop?{urlencode({'name': NAME})}", method="POST")
        request.add_header("X-Sqlext-Token", token)
        try:
            with urlopen(request, timeout=90) as answer:
                return int(answer.status)
        except HTTPError as error:
            return error.code


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    page = Page(tmp_path)
    yield page
    page.process.terminate()
    page.process.wait(60)


def test_a_live_page(page: Page) -> None:
    # Nobody asks: the page is told, again and again, while rows come out.
    seen: list[int] = []
    for view in page.told():
        if view["card"]["here"] and view["card"]["rows_out"] > (seen[-1] if seen else 0):
            seen.append(view["card"]["rows_out"])
        if len(seen) >= 3 and view["windows"] and len(page.states()) == 2:
            break
    assert [n["step"] for n in view["nodes"]] == ["Sink", "Aggregate", "AssignWindows", "Scan"]
    assert (view["nodes"][0]["rows"], view["nodes"][-1]["activity"]) == (view["card"]["rows_out"], "active")
    assert view["nodes"][-1]["rows"] > 0
    assert view["nodes"][1]["state_rows"] is not None
    assert "addBatch" in page.ask("history", name=NAME)["parts"]
    assert len(page.ask("rows", name=NAME)["rows"]) > 0
    assert page.stop("guessed") == 403
    assert page.states() == {NAME: "running", OTHER: "running"}
    assert page.stop(page.token) == 202
    assert page.states() == {NAME: "stopped", OTHER: "running"}
    # A page of another process stops the other one.
    elsewhere = sqlext.connect(catalog=page.catalog).monitor
    elsewhere.stop(OTHER)
    assert page.process.wait(120) == 0
    assert {card.name: card.state for card in elsewhere.queries()} == {NAME: "stopped", OTHER: "stopped"}
