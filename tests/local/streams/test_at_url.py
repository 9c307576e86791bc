"""The place of a query without an end in this process may lie in an object store."""

from __future__ import annotations

import uuid
from datetime import datetime

import pytest

import sqlext
from sqlext.jobs.local import running
from sqlext.stores.location import Location
from tests.local.streams.stream_desk import COUNTS, Desk
from tests.local.streams.test_killed import DiedError
from tests.s3_server import BUCKET, S3Server


@pytest.mark.parametrize("step", ["batch begun", "batch written", "batch done"])
def test_a_place_at_a_url(desk: Desk, s3: S3Server, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    url = f"s3://{BUCKET}/{uuid.uuid4().hex}"
    script = "SET 'sqlext.take-over' = 'true';\n" + desk.script(COUNTS)

    def run() -> None:
        session = sqlext.connect(catalog=str(desk.root / "catalog"), settings=s3.settings)
        query = session.run(script, checkpoint=url, trigger_interval=1)[-1].query
        assert query is not None
        try:
            query.process_available()
        finally:
            query.stop()

    def at_step(name: str) -> None:
        if name == step:
            raise DiedError

    desk.put("events", "a.json", [("a", 1, 1), ("b", 2, 2)])
    run()
    desk.put("events", "b.json", [("a", 3, 12)])
    with monkeypatch.context() as patched:
        patched.setattr(running, "at_step", at_step)
        with pytest.raises(Exception, match=r"."):
            run()
    desk.put("events", "c.json", [("a", 4, 25)])
    run()
    first, second = datetime(2024, 1, 1), datetime(2024, 1, 1, 0, 0, 10)
    assert desk.rows() == [("a", first, 1, 1), ("a", second, 1, 3), ("b", first, 1, 2)]
    kept = {key.split("/")[1] for key in Location.of(url, s3.settings).names()}
    assert kept >= {"commits", "local", "run.json"}
    assert list((desk.root / "catalog").glob("queries/*/commits")) == []
