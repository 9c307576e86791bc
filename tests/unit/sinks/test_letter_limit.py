"""How many dead letters a query bears."""

from __future__ import annotations

import pytest

from sqlext import SqlExtError
from sqlext.settings import Settings
from sqlext.sinks.base import RefusedRow
from sqlext.sinks.letter_limit import LetterLimit
from sqlext.sinks.sides import told

COUNT, PERCENT = "sqlext.dead-letters.limit", "sqlext.dead-letters.max-percent"


@pytest.mark.parametrize(
    ("key", "value", "batches", "fails_at"),
    [
        (COUNT, "3", [(1, 5), (2, 0), (1, 9)], 2),
        (COUNT, "0", [(0, 5), (1, 100)], 1),
        (PERCENT, "10", [(1, 9), (1, 9), (1, 8)], 2),
        (PERCENT, "100", [(7, 0)], None),
        ("sqlext.bad-rows", "drop", [(1000, 0)], None),
    ],
)
def test_it_counts_over_batches(key: str, value: str, batches: list[tuple[int, int]], fails_at: int | None) -> None:
    limit = LetterLimit.of(Settings().with_value(key, value))
    for number, (letters, rows) in enumerate(batches):
        if number != fails_at:
            limit.take(letters, rows, "q")
            continue
        with pytest.raises(SqlExtError) as failed:
            limit.take(letters, rows, "q")
        assert failed.value.code == "RUN-081"
        assert f"'{key}' = {value}" in failed.value.message


@pytest.mark.parametrize(
    ("key", "value"), [(COUNT, "-1"), (PERCENT, "101"), ("sqlext.dead-letters.causes", "decode, weather")]
)
def test_values_of_the_options(key: str, value: str) -> None:
    with pytest.raises(SqlExtError) as refused:
        Settings().with_value(key, value)
    assert refused.value.code == "OPT-011"


def test_causes_say_what_the_table_takes() -> None:
    every = Settings().with_value("sqlext.dead-letters.table", "t")
    some = every.with_value("sqlext.dead-letters.causes", "Decode, expression")
    assert [every.dead_letters(cause) for cause in ("decode", "late")] == ["t", "t"]
    assert [some.dead_letters(cause) for cause in ("decode", "late")] == ["t", None]
    assert Settings().dead_letters("decode") is None


def test_what_a_server_says_of_a_row_holds_no_login() -> None:
    said = "server jdbc:postgresql://me:hunter2@h/d refuses it"
    (row,) = told([RefusedRow('{"password":"its own"}', "RUN-070", said)])
    assert row == ('{"password":"its own"}', "RUN-070", "server jdbc:postgresql://******@h/d refuses it")
