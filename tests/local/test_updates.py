"""Results whose rows change, of queries without Spark: what stands at the end reaches files, tables and SELECT."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from deltalake import DeltaTable, write_deltalake
from deltalake.exceptions import CommitFailedError

import sqlext
from sqlext import SqlExtError
from sqlext.jobs import in_process
from sqlext.session.notices import TakenOverNotice
from sqlext.stores.lease import Lease

_ORDERS = """
CREATE TABLE orders (id INT, item STRING, amount DOUBLE, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${IN}', 'format' = 'json');
CREATE TABLE returned (id INT) WITH ('connector' = 'filesystem', 'path' = '${BACK}', 'format' = 'json');
"""
_KEYED = """
CREATE TABLE totals (Item STRING, n BIGINT, total DOUBLE, PRIMARY KEY (Item) NOT ENFORCED)
WITH ('connector' = 'delta', 'path' = '${OUT}');
"""
_TOTALS = """
INSERT INTO totals SELECT COALESCE(item, '-'), COUNT(*), SUM(amount) FROM orders GROUP BY COALESCE(item, '-');
"""
#: An order that came back is taken out of what was counted.
_KEPT = """
INSERT INTO totals SELECT item, COUNT(*), SUM(amount)
FROM (SELECT o.* FROM orders AS o LEFT JOIN returned AS r ON o.id = r.id WHERE r.id IS NULL) GROUP BY item;
"""


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    """Some orders, of which one came back, and where results go."""
    orders = [(1, "pen", 1.5), (2, "ink", 7.0), (3, "pen", 3.0), (4, None, 2.0), (5, "cap", 1.0)]
    lines = [json.dumps({"id": n, "item": i, "amount": a, "ts": f"2024-01-01 10:00:0{n}"}) for n, i, a in orders]
    for name, texts in (("in", lines), ("back", ['{"id": 5}'])):
        (tmp_path / name).mkdir()
        (tmp_path / name / "1.json").write_text("\n".join(texts) + "\n", "utf-8")
    return {"IN": str(tmp_path / "in"), "BACK": str(tmp_path / "back"), "OUT": str(tmp_path / "out")}


def _run(tmp_path: Path, script: str, variables: dict[str, str], **settings: str) -> list[sqlext.Result]:
    catalog = tmp_path / "catalog"
    session = sqlext.connect(catalog=catalog, settings={"sqlext.engine": "local", **settings})
    return session.run(script, variables=variables)


def _in_delta(out: str) -> list[tuple[str, int, float]]:
    rows = DeltaTable(out).to_pyarrow_table().to_pylist()
    return sorted((str(r["Item"]), r["n"], r["total"]) for r in rows)


def test_a_select_shows_what_stands(tmp_path: Path, variables: dict[str, str]) -> None:
    *_, grouped, whole, first, joined = _run(
        tmp_path,
        f"{_ORDERS}SELECT item, COUNT(*) AS n FROM orders GROUP BY item; SELECT MAX(amount) FROM orders;"
        "SELECT item, amount FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY amount DESC) AS r FROM orders) WHERE r <= 2;"
        "SELECT o.id FROM orders AS o LEFT JOIN returned AS r ON o.id = r.id WHERE r.id IS NULL;",
        variables,
    )
    assert sorted(grouped.rows, key=str) == [("cap", 1), ("ink", 1), ("pen", 2), (None, 1)]
    assert whole.rows == [(7.0,)]
    assert sorted(first.rows) == [("ink", 7.0), ("pen", 3.0)]
    assert sorted(joined.rows) == [(1,), (2,), (3,), (4,)]


_NOTHING = [
    "SELECT item, COUNT(*) FROM orders WHERE id > 99 GROUP BY item",
    "SELECT o.id FROM orders AS o LEFT JOIN orders AS r ON o.id = r.id WHERE r.id IS NULL",
    "SELECT item, COUNT(*) FROM orders GROUP BY item LIMIT 0",
]


@pytest.mark.parametrize("query", _NOTHING)
def test_nothing_may_stand(tmp_path: Path, variables: dict[str, str], query: str) -> None:
    *_, selected = _run(tmp_path, f"{_ORDERS}{query};", variables)
    assert selected.rows == []


def test_a_sink_may_get_nothing(tmp_path: Path, variables: dict[str, str]) -> None:
    _run(tmp_path, f"{_ORDERS}{_KEYED}{_TOTALS.replace('FROM orders', 'FROM orders WHERE id > 99')}", variables)
    assert _in_delta(variables["OUT"]) == []


def test_a_key_of_numbers_with_a_point_is_for_spark(tmp_path: Path, variables: dict[str, str]) -> None:
    """Spark takes both zeros for one key, and delta-rs does not."""
    sink = "CREATE TABLE totals (z DOUBLE, id INT, PRIMARY KEY (z) NOT ENFORCED) "
    script = f"{_ORDERS}{sink} WITH ('connector' = 'delta', 'path' = '${{OUT}}'); "
    script += "INSERT INTO totals SELECT amount, id FROM orders;"
    with pytest.raises(SqlExtError, match="column `z` of type double of a Delta table") as refused:
        _run(tmp_path, script, variables)
    assert refused.value.code == "OPT-036"
    assert not Path(variables["OUT"]).exists()


def test_files_get_what_stands(tmp_path: Path, variables: dict[str, str]) -> None:
    sink = (
        "CREATE TABLE totals (item STRING, n BIGINT, total DOUBLE) "
        "WITH ('connector' = 'filesystem', 'path' = '${OUT}', 'format' = 'json');"
    )
    _run(tmp_path, f"{_ORDERS}{sink}{_KEPT}", variables, **{"sqlext.sink.updates": "final-state"})
    lines = [line for file in Path(variables["OUT"]).glob("*.json") for line in file.read_text("utf-8").splitlines()]
    found = [json.loads(line) for line in lines]
    assert sorted((str(r.get("item")), r["n"], r["total"]) for r in found) == [
        ("None", 1, 2.0),
        ("ink", 1, 7.0),
        ("pen", 2, 4.5),
    ]


class _CrashError(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("step", ["batch begun", "batch written", "sink finished"])
def test_a_table_by_key_gets_each_key_once(
    tmp_path: Path, variables: dict[str, str], step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(name: str) -> None:
        if name == step:
            raise _CrashError

    script = f"{_ORDERS}{_KEYED}{_TOTALS}"
    with monkeypatch.context() as patched:
        patched.setattr(in_process, "at_step", crash)
        with pytest.raises(_CrashError):
            _run(tmp_path, script, variables)
    _run(tmp_path, script, variables)
    assert _in_delta(variables["OUT"]) == [("-", 1, 2.0), ("cap", 1, 1.0), ("ink", 1, 7.0), ("pen", 2, 4.5)]


def test_keys_that_a_table_has_are_replaced(tmp_path: Path, variables: dict[str, str]) -> None:
    last = "CREATE TABLE last_one (k INT, item STRING, PRIMARY KEY (k) NOT ENFORCED) "
    script = f"{_ORDERS}{last} WITH ('connector' = 'delta', 'path' = '${{OUT}}');"
    _run(tmp_path, f"{script}INSERT INTO last_one SELECT id, item FROM orders WHERE id < 4;", variables)
    _run(tmp_path, f"{script}INSERT INTO last_one SELECT id - 3, item FROM orders WHERE id > 3;", variables)
    rows = DeltaTable(variables["OUT"]).to_pyarrow_table().to_pylist()
    assert sorted((r["k"], r["item"]) for r in rows) == [(1, None), (2, "cap"), (3, "pen")]


def test_panes_before_the_last_one_are_left_to_spark(tmp_path: Path, variables: dict[str, str]) -> None:
    script = f"{_ORDERS}SELECT item, COUNT(*) FROM orders GROUP BY item EMIT EVERY 2 ROWS DISCARDING;"
    with pytest.raises(sqlext.SqlExtError) as refused:
        _run(tmp_path, script, variables)
    assert refused.value.code == "OPT-036"


def test_a_table_stays_as_it_is_where_a_query_is_taken_over(
    tmp_path: Path, variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its metadata are committed, so that a commit fails that was begun before; nothing in them is new."""
    last = "CREATE TABLE last_one (k INT, ts TIMESTAMP(3), PRIMARY KEY (k) NOT ENFORCED) "
    script = f"{_ORDERS}{last} WITH ('connector' = 'delta', 'path' = '${{OUT}}');"
    insert = "INSERT INTO last_one SELECT id, ts FROM orders;"

    def crash(_: Lease) -> None:
        raise _CrashError

    with monkeypatch.context() as patched:
        patched.setattr(Lease, "release", crash)  # a driver that nobody knows to be dead
        with pytest.raises(_CrashError):
            _run(tmp_path, script + insert, variables)
    before = DeltaTable(variables["OUT"])
    with pytest.warns(TakenOverNotice):
        _run(tmp_path, f"SET 'sqlext.take-over' = 'true';{script}{insert}", variables)
    after = DeltaTable(variables["OUT"])
    assert after.version() > before.version()
    assert after.protocol() == before.protocol()
    assert after.metadata().configuration == before.metadata().configuration
    with pytest.raises(CommitFailedError, match="Metadata changed"):
        write_deltalake(before, before.to_pyarrow_table(), mode="append")


def test_a_key_of_two_columns(tmp_path: Path, variables: dict[str, str]) -> None:
    best = "CREATE TABLE best (item STRING, r BIGINT, id INT, PRIMARY KEY (item, r) NOT ENFORCED) "
    ranked = "SELECT *, ROW_NUMBER() OVER (PARTITION BY COALESCE(item, '-') ORDER BY {order}) AS r FROM orders"
    script = f"{_ORDERS}{best} WITH ('connector' = 'delta', 'path' = '${{OUT}}');INSERT INTO best "
    for order in ("id", "id DESC"):
        query = f"SELECT COALESCE(item, '-'), r, id FROM ({ranked.format(order=order)}) WHERE r <= 2;"
        _run(tmp_path, script + query, variables)
    rows = DeltaTable(variables["OUT"]).to_pyarrow_table().to_pylist()
    assert sorted((r["item"], r["r"], r["id"]) for r in rows) == [
        ("-", 1, 4),
        ("cap", 1, 5),
        ("ink", 1, 2),
        ("pen", 1, 3),
        ("pen", 2, 1),
    ]
