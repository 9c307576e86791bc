"""Record what real Flink answers: the expected files of a folder of cases.

    make .venv/flink/.installed
    .venv/flink/bin/python tests/conformance/record_flink.py tests/conformance/cases/own --only 'joins/*'

Each case is ``<area>/<name>/`` with ``script.sql``, ``meta.json`` and perhaps ``in/``; README.md says what the files
hold. One JVM runs all of them, each in a fresh environment: streaming mode, parallelism 1, UTC. A sink that refuses an
updating result is run again with the format debezium-json; its changelog is folded into the final rows.
Needs PyFlink alone, nothing of sqlext.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_SECONDS = 120
_QUOTES = "'`\""
_SINK = re.compile(r"\$\{OUT\}/([A-Za-z0-9_]+)")
_SET = re.compile(r"SET\s+'([^']+)'\s*=\s*'((?:[^']|'')*)'$", re.IGNORECASE | re.DOTALL)
_STARTS_A_JOB = re.compile(
    r"(INSERT|EXECUTE|CREATE\s+(OR\s+REPLACE\s+)?TABLE\b.*\bAS\s+(SELECT|WITH))", re.IGNORECASE | re.DOTALL
)
_SILENT = re.compile(r"(CREATE|DROP|ALTER|INSERT|USE|SELECT)\b", re.IGNORECASE)
_BEGINS_A_SET = re.compile(r"\s*EXECUTE\s+STATEMENT\s+SET\s+BEGIN\b", re.IGNORECASE)
_ENDS_A_SET = re.compile(r"\bEND\s*$", re.IGNORECASE)
_NO_UPDATES = re.compile(r"doesn't support consuming (update|delete)|consuming (update|delete)")
#: Exceptions that only carry another one.
_WRAPPERS = ("java.util.concurrent", "JobExecutionException", "JobException", "InvocationTargetException")


@dataclass
class Answer:
    """What Flink made of a script.

    Attributes:
        sinks: name -> rows as JSON lines, and the changelog (``+`` or ``-`` before a row) of an updating result.
        shown: statements that print something, with their columns and rows.
        phase: ``set``, ``plan`` or ``run``: where the last statement stood.
        error: class and message of each exception, outermost first; none if all went well.
    """

    sinks: dict[str, tuple[list[str], list[str] | None]] = field(default_factory=dict)
    shown: list[tuple[str, list[str], list[list[Any]]]] = field(default_factory=list)
    phase: str = "plan"
    statement: str = ""
    error: list[tuple[str, str]] = field(default_factory=list)

    @property
    def refuses_updates(self) -> bool:
        """Whether a sink took no updates."""
        return any(_NO_UPDATES.search(message) for _, message in self.error)

    @property
    def reason(self) -> str:
        """The innermost message that is not a wrapper's."""
        own = [m for c, m in self.error if m and not any(w in c for w in _WRAPPERS) and len(m) < 4000]
        return (own or [self.error[-1][1]])[-1].strip()


def statements(script: str) -> Iterator[str]:
    """Yield the statements of a script; a statement set stays whole."""
    begin = place = 0
    while place < len(script):
        char = script[place]
        if script.startswith("--", place):
            place = (script.find("\n", place) + 1 or len(script)) - 1
        elif script.startswith("/*", place):
            place = (script.find("*/", place) + 2 if "*/" in script[place:] else len(script)) - 1
        elif char in _QUOTES:
            place = script.index(char, place + 1)  # a doubled quote is two texts beside each other
        elif char == ";":
            text = script[begin:place]
            bare = without_comments(text)
            if not (_BEGINS_A_SET.match(bare) and not _ENDS_A_SET.search(bare)):
                if bare.strip():
                    yield text.strip()
                begin = place + 1
        place += 1
    if without_comments(script[begin:]).strip():
        yield script[begin:].strip()


def without_comments(text: str) -> str:
    """Return a text without comments; hints stay."""
    return re.sub(r"(?m)--.*?$", " ", re.sub(r"/\*(?!\+).*?\*/", " ", text, flags=re.DOTALL))


def ask(script: str, inputs: Path, *, shows: bool, changes: bool) -> Answer:
    """Run a script on Flink.

    Args:
        shows: whether what SHOW, DESCRIBE and EXPLAIN print is wanted.
        changes: whether sinks of json are written as debezium-json.
    """
    answer = Answer()
    out = Path(tempfile.mkdtemp(prefix="flink-"))
    places = {"${IN}": str(inputs.resolve()), "${OUT}": str(out)}
    try:
        environment = _environment()
        for statement in statements(script):
            answer.statement = statement
            _execute(environment, statement, places, answer, shows=shows, changes=changes)
        for sink in dict.fromkeys(_SINK.findall(without_comments(script))):
            lines = list(_written(out / sink))
            answer.sinks[sink] = _folded(lines) if changes else (lines, None)
    except Exception as error:  # noqa: BLE001 - whatever Flink says is the answer
        answer.error = [(c, _masked(m, places)) for c, m in _chain(error)]
    finally:
        shutil.rmtree(out, ignore_errors=True)
    return answer


def _environment() -> Any:
    from pyflink.datastream import StreamExecutionEnvironment
    from pyflink.table import StreamTableEnvironment

    streams = StreamExecutionEnvironment.get_execution_environment()
    streams.set_parallelism(1)
    environment = StreamTableEnvironment.create(streams)
    for key, value in (("table.local-time-zone", "UTC"), ("parallelism.default", "1")):
        environment.get_config().set(key, value)
    return environment


def _execute(
    environment: Any, statement: str, places: dict[str, str], answer: Answer, *, shows: bool, changes: bool
) -> None:
    text = statement
    if changes and "${OUT}/" in text:
        text = re.sub(r"'format'\s*=\s*'json'", "'format'='debezium-json'", text)
    for mark, place in places.items():
        text = text.replace(mark, place)
    bare = without_comments(text).strip()
    setting = _SET.match(bare)
    if setting:
        answer.phase = "set"
        environment.get_config().set(setting[1], setting[2].replace("''", "'"))
        return
    answer.phase = "plan"
    result = environment.execute_sql(text)
    if _STARTS_A_JOB.match(bare) and result.get_job_client() is not None:
        answer.phase = "run"
        result.wait(_SECONDS * 1000)
    elif shows and not _SILENT.match(bare):
        answer.phase = "run"
        with result.collect() as found:
            rows = [[_plain(value, places) for value in row] for row in found]
        answer.shown.append((statement, result.get_table_schema().get_field_names(), rows))


def _plain(value: Any, places: dict[str, str]) -> Any:
    return value if value is None or isinstance(value, (bool, int, float)) else _masked(str(value), places)


def _masked(text: str, places: dict[str, str]) -> str:
    for mark, place in places.items():
        text = text.replace(place, mark)
    return text


def _chain(error: Exception) -> list[tuple[str, str]]:
    """Return the exceptions behind one of PyFlink's, outermost first."""
    java = getattr(error, "java_exception", None) or getattr(error, "_e", None)
    found: list[tuple[str, str]] = []
    while java is not None and hasattr(java, "getClass"):
        found.append((java.getClass().getName(), java.getMessage() or ""))
        java = java.getCause()
    if found:
        return found
    for part in re.split(r"\n\s*Caused by: ", str(error)):  # PyFlink has made a text of it
        head = re.sub(r"^An error occurred while calling [^\n]*\n: ", "", re.split(r"\n\s+at ", part)[0].strip())
        named = re.match(r"([\w.$]+(?:Exception|Error|Throwable)[\w$]*)(?:: (.*))?$", head, re.DOTALL)
        found.append((named[1], named[2] or "") if named else ("", head))
    return found


def _written(folder: Path) -> Iterator[str]:
    """Yield the rows in a folder as JSON lines; values of partition folders become fields."""
    for file in sorted(p for p in folder.rglob("*") if p.is_file() and not p.name.startswith((".", "_"))):
        inside = file.relative_to(folder).parts[:-1]
        if any(part.startswith(".") for part in inside):
            continue
        fields = dict(part.split("=", 1) for part in inside if "=" in part)
        for line in file.read_text("utf-8").splitlines():
            if line:
                yield _dumped({**json.loads(line), **fields}) if fields else line


def _folded(lines: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the final rows of a changelog in debezium-json, and the changelog."""
    final: Counter[str] = Counter()
    log = []
    for line in lines:
        change = json.loads(line)
        gone = change["op"] == "d"
        row = _dumped(change["before" if gone else "after"])
        final[row] += -1 if gone else 1
        log.append(("-" if gone else "+") + row)
    return list(final.elements()), log


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def record(case: Path, out: Path) -> Answer:
    """Ask Flink for a case and write its expected files into ``out``."""
    meta = json.loads((case / "meta.json").read_text("utf-8"))
    script = (case / "script.sql").read_text("utf-8")
    shows, refused = bool(meta.get("record_statements")), bool(meta.get("expect_error"))
    answer = ask(script, case / "in", shows=shows, changes=False)
    again = answer.refuses_updates and not refused
    if again:
        answer = ask(script, case / "in", shows=shows, changes=True)
    if not refused:
        meta["append_only"] = not again
    _write(answer, out)
    if answer.error:
        meta["error_phase"] = answer.phase
    else:
        meta["rows"] = {sink: len(rows) for sink, (rows, _) in answer.sinks.items()}
    if out == case:
        (case / "meta.json").write_text(json.dumps(meta, indent=1, ensure_ascii=False), "utf-8")
    return answer


def _write(answer: Answer, out: Path) -> None:
    expected, refusal = out / "expected", out / "expected_error.txt"
    shutil.rmtree(expected, ignore_errors=True)
    refusal.unlink(missing_ok=True)
    out.mkdir(parents=True, exist_ok=True)
    if answer.error:
        chain = "".join(f"{c}: {m[:1500]}\n" for c, m in answer.error)
        parts = (
            answer.reason,
            "--- statement ---",
            answer.statement,
            f"--- phase: {answer.phase} ---",
            "--- chain ---",
        )
        refusal.write_text("\n".join(parts) + f"\n{chain}", "utf-8")
        return
    expected.mkdir()
    for sink, (rows, log) in answer.sinks.items():
        (expected / f"{sink}.json").write_text("".join(f"{row}\n" for row in sorted(rows)), "utf-8")
        if log is not None:
            (expected / f"{sink}.changelog.jsonl").write_text("".join(f"{row}\n" for row in log), "utf-8")
    for number, (statement, columns, rows) in enumerate(answer.shown):
        lines = [{"statement": statement, "columns": columns}, *rows]
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        (expected / f"stmt_{number:02d}.json").write_text(text, "utf-8")


def main() -> None:
    """Record the cases that the command line names."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("cases", type=Path)
    parser.add_argument("--only", action="append", help="fnmatch over area/name; may be given several times")
    parser.add_argument("--missing", action="store_true", help="only cases that have no answer yet")
    parser.add_argument("--out", type=Path, help="write below this folder instead of the case's own")
    asked = parser.parse_args()
    for meta in sorted(asked.cases.glob("*/*/meta.json")):
        case = meta.parent
        name = f"{case.parent.name}/{case.name}"
        known = (case / "expected").is_dir() or (case / "expected_error.txt").exists()
        if (asked.only and not any(fnmatch.fnmatch(name, g) for g in asked.only)) or (asked.missing and known):
            continue
        answer = record(case, asked.out / name if asked.out else case)
        counts = {sink: len(rows) for sink, (rows, _) in answer.sinks.items()}
        print(f"{name:45} {answer.reason[:200] if answer.error else counts}", flush=True)


if __name__ == "__main__":
    main()
