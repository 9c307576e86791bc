"""The product over Spark Connect: the same rows as over a classic session, and refusals where it cannot."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests import one_script
from tests.cluster.standalone import packages_without, python_with
from tests.conftest import CORES
from tests.connect.server import connect_server
from tests.examples.examples import DEMO, examples, expected_file, servers
from tests.refusals import answered

pytestmark = pytest.mark.slow

CLIENT = Path(__file__).with_name("client.py")
#: How long a part may take, in seconds.
PATIENCE = 300
#: In every run: an upsert by MERGE, and late rows that are kept.
SAMPLE = ("14_upsert", "36_late_rows")
#: Where they say who reads a stream, or name the line of a bad row: that is our reader, which older ones do not take.
BY_OUR_READER = ("24_show_describe_explain", "53_bad_rows")

RUN = [script for script in examples() if script.stem != DEMO and not servers(script)]


class Client:
    """A client of the server at ``url`` in its own process; ``folder`` is where it works."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        self.folder = folder
        self._log = folder / "client.log"
        self._process = self._started()

    def _started(self) -> subprocess.Popen[str]:
        with self._log.open("ab") as log:
            return subprocess.Popen(
                [sys.executable, str(CLIENT), self.url, str(self.folder), str(PATIENCE - 10)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )

    def ask(self, part: str) -> Any:
        """Return what a part gives: an example, or a function of ``client.py``; of a refusal code, message and hint."""
        if self._process.poll() is not None:  # a part before took too long; what comes is no worse for it
            self._process = self._started()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{part}\n")
        self._process.stdin.flush()
        patience = threading.Timer(PATIENCE, self._process.kill)
        patience.start()
        try:
            answer = self._process.stdout.readline()
        finally:
            patience.cancel()
        if not answer:
            self._process.wait()
            pytest.fail(f"no answer in {PATIENCE} s:\n{self._log.read_text(errors='replace')[-6000:]}")
        return answered(json.loads(answer))

    def close(self) -> None:
        """Let nothing of it be left."""
        self._process.kill()
        self._process.wait()


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """Return the client of a server that all share."""
    folder = tmp_path_factory.mktemp("connect")
    with connect_server(folder / "server", CORES) as url:
        client = Client(url, folder)
        try:
            yield client
        finally:
            client.close()


def _expected(script: Path) -> str:
    """Return what an example prints; a bounded query that is explained is a stream over Connect, with its own text."""
    own = CLIENT.with_name("expected") / f"{script.stem}.out"
    return (own if own.is_file() else expected_file(script)).read_text("utf-8")


def _marked(script: Path) -> Any:
    costly = [] if script.stem in SAMPLE else [pytest.mark.costly]
    newest = [pytest.mark.newest] if script.stem in BY_OUR_READER else []
    return pytest.param(script, marks=[*costly, *newest], id=script.stem)


@pytest.mark.parametrize("script", [_marked(script) for script in RUN])
def test_an_example_gives_the_same(client: Client, script: Path) -> None:
    assert client.ask(script.stem) == _expected(script)


@pytest.mark.costly
def test_the_script_that_all_faces_run(client: Client) -> None:
    one_script.laid_out(client.folder / "one_script")
    assert client.ask("same_script") == 1
    assert one_script.rows(client.folder / "one_script" / "panes") == one_script.ROWS


@pytest.mark.costly
def test_dataframes_of_the_clients_session_are_tables(client: Client) -> None:
    assert client.ask("registered") == [
        [["Ada", 1], ["Ada", 2], ["Bo", 4]],
        [["a", 3], ["b", 4]],
        2,
        [],
    ]


@pytest.mark.costly
def test_results_are_dataframes_of_the_clients_session(client: Client) -> None:
    # The watermark is at 10 s: the window of `b` stays open.
    assert client.ask("handed_on") == [True, [["a", 3]]]


@pytest.mark.costly
def test_install(client: Client) -> None:
    streaming, described, plain, left = client.ask("installed")
    assert streaming
    assert described == ["STRING", "INT", "TIMESTAMP(3) *ROWTIME*"]
    assert plain == 1
    assert not left


@pytest.mark.costly
def test_what_is_printed_is_printed_by_the_client(client: Client) -> None:
    assert client.ask("printed") == ["+I[a]", "+I[a]", "+I[b]"]


@pytest.mark.costly
def test_a_client_is_killed_and_another_goes_on(client: Client) -> None:
    """The server goes on with the query of the first one until the second takes it over."""
    rows = client.folder / "endless_in"
    rows.mkdir()
    (rows / "1.csv").write_text("a,1,2024-01-01 00:00:01\na,2,2024-01-01 00:00:03\nb,4,2024-01-01 00:00:14\n")
    first, second = (Client(client.url, client.folder) for _ in range(2))
    try:
        assert first.ask("endless") == [["a", 3]]
        first.close()
        (rows / "2.csv").write_text("b,5,2024-01-01 00:00:15\na,7,2024-01-01 00:00:33\n")
        assert second.ask("endless") == [["a", 3], ["b", 9]]
    finally:
        first.close()
        second.close()


@pytest.mark.costly
def test_a_server_without_sqlext(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its workers get sqlext; where it writes batches itself the start is refused."""
    python = python_with(tmp_path / "python", packages_without(tmp_path / "packages", ()))
    with ExitStack() as running:
        with monkeypatch.context() as apart:
            apart.delenv("PYTHONPATH", raising=False)  # the server's alone
            url = running.enter_context(connect_server(tmp_path / "server", CORES, str(python)))
        client = Client(url, tmp_path)
        running.callback(client.close)
        told = client.ask("bare")
    assert isinstance(told, list), told
    at_once, code, message, hint = told
    assert at_once == [["a", 2], ["b", 4]]
    answered({"code": code, "message": message, "hint": hint})
    assert code == "ENV-018"
    assert message.startswith("a Python that Spark started has no module `sqlext")
    assert "where the driver or the server of Spark runs" in hint
