"""SHOW WATERMARKS and EXPLAIN WHY of queries that other processes run: from their records, and what keepers wrote."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from sqlext import SqlExtError
from sqlext.cli.main import main
from sqlext.dialect.script import parse_script
from sqlext.jobs.checkpoint import QueryHome
from sqlext.jobs.query import Query
from sqlext.session.introspection.watermarks import Watermarks, timed
from sqlext.session.offline.commands import check_file
from sqlext.session.offline.compilation import new_state
from sqlext.source import SourceText
from sqlext.watermarks.ends import Ends
from sqlext.watermarks.inputs import Input
from sqlext.watermarks.keeper import Seen, TimeKeeper
from sqlext.watermarks.report import TimeReport
from sqlext_catalog import ddl
from sqlext_catalog.model import QueryRecord

MINUTE = 60_000


def keeper() -> TimeKeeper:
    local = Input("b", idle=MINUTE, ends=(Ends(MINUTE),), zone="Europe/Berlin")
    kept = TimeKeeper([Input("a", ends=(Ends(MINUTE),)), local], 0)
    kept.saw("a", [Seen(150_000, 3, "0", 1000), Seen(130_000, 2, "1", 2000)], 0)
    kept.saw("b", [Seen(0, 1, smallest=0)], 0)
    kept.decide(MINUTE)
    return kept


def watermarks(folder: Path, *running: Query) -> Watermarks:
    return Watermarks(running, new_state(folder))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of a catalog with a running and a stopped query, both of other processes."""
    catalog = new_state(tmp_path).catalog
    for name, status in (("etl.minutes", "running"), ("etl.old", "stopped")):
        with QueryHome(tmp_path, name) as home:
            record = QueryRecord(name, "INSERT ...", ("a", "b"), "c", home.checkpoint, "f", status, None, 5)
            kept = keeper()
            state = {"known": kept.to_json(), "report": TimeReport.of(kept).to_json()}
            home.time.put("keeper.json", json.dumps(state))
        catalog.apply(ddl.record_query(record), "INSERT")
    return tmp_path


def test_rows(folder: Path) -> None:
    assert watermarks(folder).rows() == [
        ("etl.minutes", "a", "0", at("00:02:30"), at("00:02:10"), None, False, False, 3),
        ("etl.minutes", "a", "1", at("00:02:10"), at("00:02:10"), None, False, True, 2),
        ("etl.minutes", "b", None, at("01:00:00"), at("01:02:10"), at("00:00:00"), False, False, 1),
    ]
    assert {row[0] for row in watermarks(folder).rows("etl.old")} == {"etl.old"}


def test_why(folder: Path) -> None:
    lines = watermarks(folder).why("etl.minutes").splitlines()
    assert lines[0].startswith("Query `etl.minutes` is running in another process, or was; ")
    assert lines[2] == "The next window ends at 1970-01-01 00:03:00; it closes when the watermark is there."
    assert watermarks(folder).why("etl.old").splitlines()[1].startswith("Nothing comes out while it does not run")


def test_a_query_that_nobody_knows(folder: Path) -> None:
    running = Query("hourly", {}, streaming=True, bounded=False)
    with pytest.raises(SqlExtError) as caught:
        watermarks(folder, running).why("etl.minute")
    assert (caught.value.code, caught.value.hint) == ("CAT-002", "did you mean `etl.minutes`?")
    with pytest.raises(SqlExtError) as caught:
        watermarks(folder).rows("xyz")
    assert caught.value.hint == "SHOW QUERIES lists the queries"


@pytest.mark.parametrize(
    ("text", "column"),
    [("SHOW WATERMARKS FOR", 17), ("SHOW WATERMARKS FOR QUERY", 26), ("EXPLAIN WHY", 12), ("EXPLAIN WHY a b", 15)],
)
def test_misreading(text: str, column: int) -> None:
    with pytest.raises(SqlExtError) as caught:
        list(parse_script(SourceText.of(text)))
    assert (caught.value.code, caught.value.column) == ("PARSE-002", column)


def test_a_check_asks_nobody() -> None:
    assert check_file("EXPLAIN WHY started_before;\nSHOW WATERMARKS FOR QUERY started_before;\n") == []


def test_what_another_version_wrote_is_not_known(folder: Path) -> None:
    for file in folder.glob("queries/*/time/keeper.json"):
        state = json.loads(file.read_text())
        del state["report"]["inputs"][0]["delay"]
        file.write_text(json.dumps(state))
    assert watermarks(folder).rows() == []
    assert "No watermark is kept for it" in watermarks(folder).why("etl.minutes")


def test_the_command_line(folder: Path) -> None:
    def said(*arguments: str) -> str:
        result = CliRunner().invoke(main, ["watermarks", *arguments, "--catalog", str(folder)])
        assert not isinstance(result.exception, Exception), result.exception
        return result.output

    assert "etl.minutes" in said()
    assert "etl.old" not in said()
    assert "holds the query back" in said("etl.old", "--why")
    page = folder / "page.html"
    assert said("etl.old", "--html", str(page)).strip() == str(page)
    assert "nothing to draw" in page.read_text()
    assert "CAT-002: there is no query `nobody`" in said("nobody")
    assert "need the name of a query" in said("--why")


def at(time: str) -> datetime:
    return datetime.fromisoformat(f"1970-01-01 {time}")


def test_a_store_that_does_not_answer_hides_no_other_query(folder: Path) -> None:
    catalog = new_state(folder).catalog
    away = QueryRecord("away", "INSERT ...", ("a",), "c", "s3a://b/ck/away-1/checkpoint", "f", "running", None, 5)
    catalog.apply(ddl.record_query(away), "INSERT")
    stores = {"fs.s3a.endpoint": "http://[::1", "fs.s3a.access.key": "k", "fs.s3a.secret.key": "s"}
    found = timed(catalog.snapshot(), folder, stores).queries()
    assert {q.name for q in found} == {"etl.minutes", "etl.old", "away"}
    state = new_state(folder)
    state.stores = stores
    with pytest.raises(SqlExtError) as refused:
        Watermarks((), state).why("away")
    assert refused.value.code == "RUN-015"
