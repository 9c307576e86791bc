"""Asks a real Flink 2.3 (make .venv/flink/.installed) what DESCRIBE says: rewrites the .jsonl beside it.

    .venv/flink/bin/python tests/unit/analysis/definitions/described/record.py

Each line has a ``script`` over the tables of ``tables.sql``: statements that make tables ``t``, ``u`` or a view ``w``,
the last one a DESCRIBE or SHOW. Its answer is ``rows``, or ``refused``: the innermost message. To ask more, add lines
with a script.
"""

from __future__ import annotations

import json
from pathlib import Path

from pyflink.table import EnvironmentSettings, TableEnvironment

HERE = Path(__file__).parent


def cause(error):
    """Return the innermost message of a Java error."""
    message, java = str(error), getattr(error, "java_exception", None)
    while java is not None:
        message, java = java.getMessage() or message, java.getCause()
    return message[:160].replace("\n", " ")


def ask(env, script):
    """Run a script and drop what it made; return what its last statement gives."""
    try:
        for statement in statements(script)[:-1]:
            env.execute_sql(statement)
        with env.execute_sql(statements(script)[-1]).collect() as rows:
            return {"rows": [list(row) for row in rows]}
    except Exception as error:  # noqa: BLE001
        return {"refused": cause(error)}
    finally:
        for made in ("VIEW IF EXISTS w", "TABLE IF EXISTS u", "TABLE IF EXISTS t"):
            env.execute_sql(f"DROP {made}")


def statements(script):
    """Return the statements of a script in which no text holds a semicolon."""
    return [s.strip() for s in script.split(";") if s.strip()]


def main():
    """Ask for every script of the file."""
    path = HERE / "described.jsonl"
    scripts = [json.loads(line)["script"] for line in path.read_text("utf-8").splitlines()]
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.get_config().set("table.local-time-zone", "UTC")
    for statement in statements((HERE / "tables.sql").read_text("utf-8")):
        env.execute_sql(statement)
    answers = [{"script": script, **ask(env, script)} for script in dict.fromkeys(scripts)]
    path.write_text("".join(json.dumps(a, ensure_ascii=False) + "\n" for a in answers), "utf-8")


if __name__ == "__main__":
    main()
