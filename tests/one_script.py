"""One script for every face: as SQL for those that take scripts, as models for dbt; and the rows that it gives."""

from __future__ import annotations

from pathlib import Path

from deltalake import DeltaTable

#: A source, a view and a query: what is between the words that dbt has models in place of.
EVENTS = """(k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv')"""
POSITIVE = "SELECT * FROM {events} WHERE v > 0"
PANES = """SELECT k, window_start AS w, COUNT(DISTINCT v) AS n, PANE_INDEX() AS pane
FROM TABLE(TUMBLE(TABLE {positive}, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end"""
EMIT = "AFTER WATERMARK EARLY EVERY 2 ROWS"

IN = "${IN}"
SCRIPT = f"""
CREATE TABLE events {EVENTS.format(path=IN)};
CREATE TABLE panes (k STRING, w TIMESTAMP(3), n BIGINT, pane BIGINT) WITH ('connector' = 'delta', 'path' = '${{OUT}}');
CREATE VIEW positive AS {POSITIVE.format(events="events")};
INSERT INTO panes {PANES.format(positive="positive")} EMIT {EMIT};
"""
ROWS = ("a 00:00 n=1 pane=0", "a 00:00 n=2 pane=1", "b 00:00 n=1 pane=0")
#: The last row's time closes the window of the others, also for a run that leaves open windows open.
INPUT = """\
a,1,2024-01-01 00:00:01
a,1,2024-01-01 00:00:02
b,3,2024-01-01 00:00:04
a,2,2024-01-01 00:00:03
b,-1,2024-01-01 00:00:05
c,0,2024-01-01 00:00:30
"""


def laid_out(folder: Path) -> tuple[Path, dict[str, str]]:
    """Write the script and its input into a folder; return the script, and the variables that it needs."""
    (folder / "in").mkdir(parents=True)
    (folder / "in" / "1.csv").write_text(INPUT)
    script = folder / "script.sql"
    script.write_text(SCRIPT)
    return script, {"IN": str(folder / "in"), "OUT": str(folder / "panes")}


def as_models(project: Path) -> None:
    """Add the script's source, view and query to a dbt project, as models of their own folder; and its input."""
    _, variables = laid_out(project / "one_script")
    models = project / "models" / "one_script"
    models.mkdir()
    source, view = "{{ config(materialized='stream_source') }}\n", "{{ config(materialized='stream_view') }}\n"
    (models / "events.sql").write_text(source + EVENTS.format(path=variables["IN"]))
    (models / "positive.sql").write_text(view + POSITIVE.format(events="{{ ref('events') }}"))
    config = f"{{{{ config(emit='{EMIT}') }}}}\n"
    (models / "panes.sql").write_text(config + PANES.format(positive="{{ ref('positive') }}"))


def rows(table: Path) -> tuple[str, ...]:
    """Return the rows of the Delta table ``panes`` as ``ROWS`` has them."""
    found = DeltaTable(str(table)).to_pyarrow_table().to_pylist()
    return tuple(sorted(f"{row['k']} {row['w']:%M:%S} n={row['n']} pane={row['pane']}" for row in found))
