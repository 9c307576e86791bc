"""``sqlext shell`` at a real pseudo-terminal: one session of a user, from the first statement to the last."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .terminal import Terminal

pytestmark = pytest.mark.slow

SHELL = [sys.executable, "-m", "sqlext.cli.main", "shell"]
ORDERS = [("pen", 1.5, "00:00:01"), ("ink", 2.0, "00:00:02"), ("pen", 3.0, "00:01:00")]


def ready(text: str) -> bool:
    """Whether the prompt waits for a statement; what runs in the background may stand below it."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("running: ")]
    return bool(lines) and lines[-1].strip() == "sqlext>"


class User:
    """Somebody at the shell, who looks at what the last statement gave."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal

    def run(self, text: str) -> str:
        """Type a statement, wait for the prompt, and return what was shown between."""
        self.start(text)
        return self.shown_when(ready)

    def start(self, text: str) -> None:
        """Type a statement and Enter."""
        self.type(text)
        self.terminal.enter()

    def type(self, text: str) -> None:
        """Type the beginning of a statement."""
        lines = self.terminal.wait(ready).splitlines()
        self._begin = max(number for number, line in enumerate(lines) if line.strip() == "sqlext>")
        self.terminal.type(text)

    def shown_when(self, condition: Callable[[str], object]) -> str:
        """Return what the statement shows, once that fits a condition."""
        return self._since(self.terminal.wait(lambda text: condition(self._since(text))))

    def _since(self, text: str) -> str:
        return "\n".join(text.splitlines()[self._begin + 1 :])


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("user")
    (folder / "orders").mkdir()
    rows = [json.dumps({"item": i, "amount": a, "ts": f"2024-01-01 {t}"}) for i, a, t in ORDERS]
    (folder / "orders" / "a.json").write_text("\n".join(rows))
    return folder


@pytest.fixture(scope="module")
def user(home: Path) -> Iterator[User]:
    """Return somebody at a shell whose Spark has started and who has two tables."""
    arguments = ["--catalog", str(home / "catalog"), "-d", f"IN={home}"]
    with Terminal([*SHELL, *arguments], {"HOME": str(home)}) as terminal:
        user = User(terminal)
        user.run(
            "CREATE TABLE ticks (n BIGINT, at_time TIMESTAMP_LTZ(3), WATERMARK FOR at_time AS at_time)"
            " WITH ('connector' = 'rate', 'rows-per-second' = '10');"
        )
        user.run("CREATE TABLE nowhere (n BIGINT) WITH ('connector' = 'blackhole');")
        yield user


def test_spark_starts_while_somebody_is_typing(user: User) -> None:
    """So far there were definitions, which need none."""
    user.type("SELECT 2 AS")
    user.terminal.wait(lambda _: "java" in user.terminal.programs())
    user.terminal.ctrl_c()


def test_lines_until_a_semicolon(user: User) -> None:
    user.start("CREATE TABLE orders (item STRING, amount DOUBLE, ts TIMESTAMP(3),")
    user.terminal.wait("     ->")
    user.terminal.enter("WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) -- not yet;")
    user.terminal.enter("WITH ('connector' = 'filesystem', 'path' = '${IN}/orders', 'format' = 'json');")
    assert "ok (" in user.shown_when(ready)
    assert "orders" in user.run("SHOW TABLES;")


def test_keywords_and_strings_have_colours(user: User) -> None:
    user.run("SELECT 'a_string' AS a_name;")
    typed = user.terminal
    assert typed.colours("'a_string'").isdisjoint(typed.colours("a_name;"))


def test_tab_completes_from_the_catalog(user: User) -> None:
    user.type("SELECT item FROM ord")
    user.terminal.tab()
    user.terminal.wait("SELECT item FROM orders")
    user.terminal.type(" WHERE am")
    user.terminal.tab()
    user.terminal.wait("WHERE amount")
    user.terminal.enter(" > 2;")
    shown = user.shown_when(ready)
    assert "1 row (" in shown
    assert "pen" in shown


def test_a_mistake_is_shown_with_caret_and_hint(user: User) -> None:
    shown = user.run("SELECT itm FROM orders;")
    message, line, caret, hint = shown.splitlines()[:4]
    assert message.startswith("<sql>:1:8: NAME-003")
    assert caret.index("^") == line.index("itm")
    assert hint == "hint: did you mean `item`?"
    assert user.terminal.colours("NAME-003") == {"red"}
    assert user.terminal.colours("hint:") == {"cyan"}


def test_a_select_is_live_until_ctrl_c_ends_it(user: User) -> None:
    user.start(
        "SELECT window_start, COUNT(*) AS c FROM TABLE(TUMBLE(TABLE ticks, DESCRIPTOR(at_time), INTERVAL '1' SECOND))"
        " GROUP BY window_start, window_end;"
    )
    status = r"^[1-9]\d* rows \| watermark 2[-\d: ]+ \| lag \d+ (ms|s|min) \| batch \d+ \| Ctrl-C ends the query$"
    user.shown_when(re.compile(status, re.MULTILINE).search)
    user.terminal.ctrl_c()
    left = user.shown_when(ready)
    assert re.search(r"^\d+ rows? \(", left, re.MULTILINE)
    assert "Ctrl-C" not in left


def test_changes_come_line_by_line(user: User) -> None:
    user.run("SET 'sql-client.execution.result-mode' = 'changelog';")
    user.start("SELECT n % 2 AS odd, COUNT(*) AS c FROM ticks GROUP BY n % 2;")
    live = user.shown_when(lambda text: "+U" in text and "Ctrl-C ends" in text)
    assert "warning: nothing bounds the state of GROUP BY n % 2" in live
    assert ["op", "odd", "c"] in [line.split() for line in live.splitlines()]
    user.terminal.ctrl_c()
    operations = [line.split()[0] for line in user.shown_when(ready).splitlines() if line[:1] in "+-"]
    assert operations[0] == "+I"
    assert set(operations) == {"+I", "-U", "+U"}
    user.run("RESET;")


def test_ctrl_c_ends_the_query_and_no_job(user: User) -> None:
    assert "job `sql.nowhere` runs" in user.run("INSERT INTO nowhere SELECT n FROM ticks;")
    assert "running: sql.nowhere" in user.terminal.wait("running: ")
    user.start("SELECT COUNT(*) FROM range(100000000000) WHERE id % 7 = rand();")
    user.terminal.wait("running ... Ctrl-C ends it")
    user.terminal.ctrl_c()
    assert "interrupted" in user.shown_when(ready)
    user.start("SELECT n FROM ticks;")
    user.shown_when(lambda text: "Ctrl-C ends the query" in text)
    user.terminal.ctrl_c()
    user.shown_when(ready)
    assert "RUNNING" in user.run("SHOW JOBS;")
    assert "ok (" in user.run("STOP JOB 'sql.nowhere';")
    assert "STOPPED" in user.run("SHOW JOBS;")
    assert "RUN-025" in user.run("STOP JOB 'sql.nowhere';")


def test_ctrl_c_drops_what_is_typed(user: User) -> None:
    user.start("SELECT 'not")
    user.terminal.wait("     ->")
    user.terminal.ctrl_c()
    user.shown_when(ready)  # below what was typed, which is drawn once more before it
    assert "1 row (" in user.run("SELECT 2 AS two;")


def test_commands(user: User, home: Path) -> None:
    (home / "job.sql").write_text("SELECT 1 AS from_a_file;\nSELEC 2;\n")
    assert f"{home}/job.sql:2:1: PARSE-002" in user.run(f".read {home}/job.sql").replace("\n", "")
    user.run(".mode csv")
    assert user.run("SELECT 1 AS a, 2 AS b;").splitlines()[:2] == ["a,b", "1,2"]
    assert "OPT-011" in user.run(".mode xml")
    user.run(".mode table")
    assert "there is no command .nothing" in user.run(".nothing")
    assert "STOP JOB 'name';" in user.run("help")


def test_history_is_kept_and_leaving_stops_jobs(user: User, home: Path) -> None:
    user.run("INSERT INTO nowhere SELECT n FROM ticks;")
    user.start("quit")
    assert user.terminal.exit_code() == 0
    assert "stopping job `sql.nowhere`" in user.terminal.text
    assert "Traceback" not in user.terminal.text
    assert "+quit" in (home / ".sqlext_history").read_text().splitlines()
    with Terminal([*SHELL, "--catalog", str(home / "catalog")], {"HOME": str(home)}) as again:
        again.wait(ready)
        again.type("\x1b[A\x1b[A")
        again.wait("INSERT INTO nowhere SELECT n FROM ticks;")
        again.ctrl_c()
        again.wait(ready)
        again.ctrl_d()
        assert again.exit_code() == 0
