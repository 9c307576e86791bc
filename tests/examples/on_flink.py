"""Ask real Flink: run the examples that say so on PyFlink and compare with the output beside them.

    python tests/examples/on_flink.py [NN ...]       (a Python with apache-flink==2.3.0; not part of the test run)

What is computed by Spark's batch or by hand is in test_examples.py.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

# This Python has Flink, and not what sqlext needs: the module is imported alone.
sys.path.insert(0, str(Path(__file__).parents[2] / "sqlext" / "testing"))
from render import is_ordered, result_title, section

FOLDER = Path(__file__).parents[2] / "sql_examples"
UNCHANGED = "-- Flink 2.3 runs this file unchanged"
_STATEMENT = re.compile(r"(?:'(?:[^']|'')*'|`[^`]*`|--[^\n]*|/\*.*?\*/|[^;'`])+", re.DOTALL)
_COMMENT = re.compile(r"--[^\n]*|/\*(?!\+).*?\*/", re.DOTALL)


def statements(text: str) -> list[str]:
    """Return a script's statements; a statement set is one."""
    found: list[str] = []
    in_set = False
    for match in _STATEMENT.finditer(text):
        bare = _COMMENT.sub("", match.group()).strip()
        if in_set and found:
            found[-1] += f";\n{match.group().strip()}"
            in_set = bare.upper() != "END"
        elif bare:
            found.append(match.group().strip())
            in_set = bool(re.match(r"EXECUTE\s+STATEMENT\s+SET", bare, re.IGNORECASE))
    return found


def run(script: Path, out: str) -> str:
    """Run a script on Flink and return its output in the form of the ``.out`` files."""
    from pyflink.datastream import StreamExecutionEnvironment
    from pyflink.table import StreamTableEnvironment

    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    tables = StreamTableEnvironment.create(env)
    tables.get_config().set("table.local-time-zone", "UTC")
    shown: list[str] = []
    sinks: dict[str, None] = {}
    replaced = script.read_text("utf-8").replace("${IN}", str(FOLDER / "data")).replace("${OUT}", out)
    for statement in statements(replaced):
        bare = _COMMENT.sub("", statement).strip()
        setting = re.fullmatch(r"SET\s+'([^']+)'\s*=\s*'([^']*)'", bare, re.IGNORECASE)
        if setting:
            tables.get_config().set(*setting.groups())
            continue
        targets = re.findall(r"INSERT\s+(?:INTO|OVERWRITE)\s+([\w.`]+)", bare, re.IGNORECASE)
        targets += re.findall(r"^CREATE\s+TABLE\s+(\w+)\b.*\bAS\s+SELECT", bare, re.IGNORECASE | re.DOTALL)
        result = tables.execute_sql(statement)
        if targets:
            sinks.update(dict.fromkeys(targets))
            result.wait()
        elif not re.match(r"CREATE|DROP|ALTER|USE|RESET", bare, re.IGNORECASE):
            shown.append(shown_section(len(shown) + 1, bare, result))
    shown += [shown_section(None, f"table {name}", tables.execute_sql(f"SELECT * FROM {name}")) for name in sinks]
    return "\n".join(shown).replace(str(FOLDER / "data"), "${IN}").replace(out, "${OUT}")


def shown_section(number: int | None, text: str, result: Any) -> str:
    """Return a result as a section; of an updating one the rows that stand at its end."""
    columns = result.get_table_schema().get_field_names()
    rows: list[list[Any]] = []
    with result.collect() as found:
        for row in found:
            values = list(row)
            if row.get_row_kind().name in ("INSERT", "UPDATE_AFTER"):
                rows.append(values)
            else:
                rows.remove(values)
    title = text if number is None else result_title(number, text)
    return section(title, columns, rows, ordered=number is not None and is_ordered(text))


def main(numbers: list[str]) -> int:
    """Compare the examples of these numbers, or all that Flink runs; return how many differ."""
    wrong = 0
    for script in sorted(FOLDER.glob("*.sql")):
        if (numbers and script.name[:2] not in numbers) or UNCHANGED not in script.read_text("utf-8"):
            continue
        out = tempfile.mkdtemp(prefix="flink_")
        try:
            actual = run(script, out)
        except Exception as error:  # noqa: BLE001 - whatever Flink says is the answer
            actual = f"{type(error).__name__}: {error}"
        shutil.rmtree(out, ignore_errors=True)
        expected = script.with_suffix(".out")
        same = expected.is_file() and expected.read_text("utf-8") == actual
        wrong += not same
        print(script.stem, "same" if same else f"DIFFERS:\n{actual[:6000]}", flush=True)
    return wrong


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
