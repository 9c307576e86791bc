"""``sqlext run --ui``: a page of an endless query that goes on by itself, and that stops it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import pytest

pytestmark = pytest.mark.slow

SCRIPT = """
CREATE TABLE orders (item INT, amount DOUBLE, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH ('connector' = 'datagen', 'rows-per-second' = '20', 'fields.item.min' = '1', 'fields.item.max' = '3');
CREATE TABLE per_second (item INT, since TIMESTAMP(3), total DOUBLE)
WITH ('connector' = 'delta', 'path' = '${OUT}/per_second');
INSERT INTO per_second SELECT item, window_start, SUM(amount)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' SECOND)) GROUP BY item, window_start, window_end;
"""
NAME = "live.per_second"


class Page:
    """A running process with a page."""

    def __init__(self, folder: Path) -> None:
        (folder / "live.sql").write_text(SCRIPT)
        command = [
            sys.executable,
            "-m",
            "sqlext.cli.main",
            "run",
            "live.sql",
            "-d",
            f"OUT={folder}/out",
            "--ui",
            "0",
            "--no-progress",
        ]
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
        with urlopen(f"{self.url}api/{what}?{urlencode(parameters)}", timeout=30) as answer:
            return json.load(answer)

    def stop(self, token: str) -> int:
        request = Request(f"{self.url}api/stop?{urlencode({'name': NAME})}", method="POST")
        request.add_header("X-Sqlext-Token", token)
        try:
            with urlopen(request, timeout=90) as answer:
                return int(answer.status)
        except HTTPError as error:
            return error.code

    def wait_for(self, question: Callable[[], Any]) -> Any:
        """Ask until the answer is something, for five minutes at most."""
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline:
            assert self.process.poll() is None, "it has ended"
            found = question()
            if found:
                return found
        raise AssertionError("nothing came")


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    page = Page(tmp_path)
    yield page
    page.process.terminate()
    page.process.wait(60)


def test_a_live_page(page: Page) -> None:
    def events() -> Iterator[tuple[str, Any]]:
        with urlopen(f"{page.url}api/events?{urlencode({'name': NAME})}", timeout=120) as stream:
            name = ""
            for line in stream:
                key, _, value = line.decode().rstrip("\n").partition(": ")
                if key == "event":
                    name = value
                elif key == "data":
                    yield name, json.loads(value)

    # Its record is there before its session knows that it runs.
    page.wait_for(lambda: [card for card in page.ask("queries")["queries"] if card["here"]])
    # Nobody asks: the page is told, again and again, while rows come.
    told = (value["card"] for name, value in events() if name == "query")
    seen: list[int] = []
    for card in told:
        assert (card["state"], card["here"]) == ("running", True)
        if card["rows_out"] > (seen[-1] if seen else 0):
            seen.append(card["rows_out"])
        if len(seen) == 3:
            break
    view = page.ask("query", name=NAME)
    assert [n["step"] for n in view["nodes"]] == ["Sink", "Aggregate", "AssignWindows", "Scan"]
    assert view["nodes"][-1]["rows"] > 0
    assert view["nodes"][1]["state_rows"] is not None
    assert view["windows"]
    assert "addBatch" in page.ask("history", name=NAME)["parts"]
    assert page.wait_for(lambda: page.ask("rows", name=NAME)["rows"])
    assert page.stop("guessed") == 403
    assert page.process.poll() is None
    assert page.stop(page.token) == 202
    assert page.process.wait(120) == 0
