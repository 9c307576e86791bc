"""A project of dbt whose catalog, checkpoints, input and tables lie in an object store, run twice by the real dbt."""

from __future__ import annotations

import json
import uuid
from pathlib import Path

import pytest
from deltalake import DeltaTable

from sqlext.stores.location import Location
from tests.dbt.test_dbt import ask, project_in, run
from tests.ports import free_port
from tests.s3_server import BUCKET, S3Server
from tests.s3_spark import s3a_settings

pytestmark = [pytest.mark.slow, pytest.mark.costly]

FIRST = [("10:00 tea", 32.0), ("10:01 coffee", 15.0)]
LATER = """\
{"item": "tea", "amount": 40.0, "ts": "2024-01-01 10:02:50"}
{"item": "tea", "amount": 50.0, "ts": "2024-01-01 10:04:00"}
"""


def rows(url: str, s3: S3Server) -> list[tuple[str, float]]:
    """Return the rows of the model."""
    table = DeltaTable(url, storage_options=s3.environment).to_pyarrow_table()
    return sorted((f"{row['minute']:%H:%M} {row['item']}", row["total"]) for row in table.to_pylist())


def test_each_run_goes_on(tmp_path: Path, s3: S3Server) -> None:
    project, url = project_in(tmp_path), f"s3a://{BUCKET}/{uuid.uuid4().hex}"
    place = Location.of(url, s3.settings)
    place.put("in/orders/1.json", (project / "input" / "orders" / "1.json").read_text())
    settings = {"spark.sql.warehouse.dir": f"{url}/warehouse", **s3a_settings(s3)}
    output = {"type": "sqlext", "schema": "shop", "threads": 1, "catalog": f"{url}/catalog", "spark_settings": settings}
    # JSON is YAML too.
    (project / "profiles.yml").write_text(json.dumps({"shop": {"target": "s3", "outputs": {"s3": output}}}))
    command = ("dbt", "run", "--no-use-colors", "--select", "large_orders", "per_minute")
    table = f"s3{url.removeprefix('s3a')}/warehouse/shop.db/per_minute"

    run(project, *command, INPUT=f"{url}/in")
    assert rows(table, s3) == FIRST
    place.put("in/orders/2.json", LATER)
    run(project, *command, INPUT=f"{url}/in")
    assert rows(table, s3) == [*FIRST, ("10:02 cake", 11.0), ("10:02 tea", 40.0)]
    assert {name.partition("/")[0] for name in place.names("catalog/queries")} != set()
    assert not any((project / name).exists() for name in (".sqlext", ".spark/warehouse", "input/orders/2.json"))


@pytest.mark.parametrize("option", ["catalog", "spark_folder"])
def test_a_place_that_is_refused(option: str, tmp_path: Path) -> None:
    """By name and before Spark starts; it is no folder of the project."""
    project = project_in(tmp_path)
    output = {"type": "sqlext", "schema": "shop", "threads": 1, option: "dbfs:/x"}
    (project / "profiles.yml").write_text(json.dumps({"shop": {"target": "far", "outputs": {"far": output}}}))
    ended = ask(project, "dbt", "run", "--no-use-colors", "--select", "large_orders")
    wanted = "CAT-038: the catalog" if option == "catalog" else "RUN-014: the folder of a local Spark"
    assert ended.returncode != 0
    assert f"{wanted} cannot lie at `dbfs:/x`: that is a URL with the scheme `dbfs`" in " ".join(ended.stdout.split())
    assert not any((project / name).exists() for name in ("dbfs:", ".sqlext", ".spark"))


def test_a_catalog_that_cannot_be_reached(tmp_path: Path) -> None:
    """An error of dbt's, in our words and without a traceback."""
    project, port = project_in(tmp_path), free_port()
    output = {"type": "sqlext", "schema": "shop", "threads": 1, "catalog": "s3://nowhere/catalog"}
    (project / "profiles.yml").write_text(json.dumps({"shop": {"target": "far", "outputs": {"far": output}}}))
    reached = {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}", "AWS_ALLOW_HTTP": "true", "AWS_REGION": "us-east-1"}
    keys = {"AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s"}
    ended = ask(project, "dbt", "run", "--no-use-colors", "--select", "large_orders", **reached, **keys)
    assert ended.returncode != 0
    assert "RUN-015: the store of `s3://nowhere/catalog" in " ".join(ended.stdout.split())
    assert "Traceback" not in ended.stdout + ended.stderr
