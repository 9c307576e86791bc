"""Bytes of files that are changed anyhow: queries without Spark give rows with NULLs where the Arrow reader has them,
or refuse the file as it does.

``tests/sources/test_mutated_bytes.py`` holds the Arrow reader against Spark's. ``READERS_SEED`` and ``READERS_FILES``
are the same.
"""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest

import sqlext
from sqlext import SqlExtError
from tests.sources.both_paths import by_arrow, table_of
from tests.sources.mutated import LINES, columns_of, text_file

SEED = int(os.environ.get("READERS_SEED", "1"))
FILES = int(os.environ.get("READERS_FILES", "80"))
#: Of json: nobody reads them, and our readers could not.
UNREAD = "l ARRAY<INT>, x MAP<STRING, ARRAY<ROW<a INT>>>"


def by_query(folder: Path, form: str, columns: dict[str, Any], read: list[str]) -> list[tuple[str, ...]] | None:
    """Return which values a query of some columns gives as NULL, as texts; None if it refuses the file."""
    session = sqlext.connect(catalog=folder.parent / f"catalog-{folder.name}", settings={"sqlext.engine": "local"})
    declared = [*(f"`{name}` {of}" for name, of in columns.items()), *([UNREAD] if form == "json" else [])]
    options = f"'connector' = 'filesystem', 'path' = '{folder}', 'format' = '{form}'"
    session.run(f"CREATE TABLE t ({', '.join(declared)}) WITH ({options});")
    items = ", ".join(f"`{name}` IS NULL AS `{name}`" for name in read)
    try:
        return sorted(tuple(map(str, row)) for row in session.run(f"SELECT {items} FROM t;")[-1].rows)
    except SqlExtError as error:
        assert error.code == "RUN-066", error  # noqa: PT017 - the code is part of the answer
        return None


@pytest.mark.parametrize("form", ["json", "csv"])
def test_texts(tmp_path: Path, form: str) -> None:
    chance = random.Random(f"local {form} {SEED}")
    differ = []
    for number in range(FILES):
        columns = columns_of(form, chance)
        folder, data = tmp_path / str(number), text_file(form, chance)
        folder.mkdir()
        (folder / f"a.{form}").write_bytes(data)
        # Whatever the table declares, the reader is asked for these columns alone. It takes a line of csv as a whole.
        read = chance.sample(list(columns), chance.randint(1, len(columns)) if form == "json" else len(columns))
        of = {name: columns[name] for name in read} if form == "json" else columns
        rows = by_arrow(table_of(folder, form, of), tmp_path / f"log-{number}")
        places = [list(of).index(name) for name in read]
        wanted = None if rows is None else sorted(tuple(str(row[p] in (None, "None")) for p in places) for row in rows)
        found = by_query(folder, form, columns, read)
        differ += [] if found == wanted else [f"{data!r} of {read}: {found}, the reader {wanted}"]
    assert differ == []


@pytest.mark.parametrize("form", ["json", "csv"])
def test_a_line_of_20_megabytes_is_a_row(tmp_path: Path, form: str) -> None:
    folder, long = tmp_path / "in", "a" * 20_000_100
    folder.mkdir()
    lines = (f'{{"s":"{long}"}}', '{"s":"b"}') if form == "json" else (long, "b")
    (folder / f"a.{form}").write_text("\n".join(lines), "utf-8")
    session = sqlext.connect(catalog=tmp_path / "catalog", settings={"sqlext.engine": "local"})
    options = f"'connector' = 'filesystem', 'path' = '{folder}', 'format' = '{form}'"
    rows = session.run(f"CREATE TABLE t (s STRING) WITH ({options}); SELECT CHAR_LENGTH(s) FROM t;")[-1].rows
    assert sorted(row[0] for row in rows) == [1, len(long)]


def test_good_lines_are_read(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.json").write_text("\n".join(LINES["json"]), "utf-8")
    columns = columns_of("json", random.Random(SEED))
    assert len(by_query(tmp_path / "in", "json", columns, list(columns)) or ()) == len(LINES["json"])
