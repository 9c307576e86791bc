"""Option keys from before 'connector': csv files are read by them, as Flink 2.3 still does."""

from __future__ import annotations

import pytest

from sqlext.session.offline.checking import errors_of
from sqlext.session.offline.compilation import new_state
from sqlext.source import SourceText

TABLE = "CREATE TABLE side (k BIGINT, v STRING) WITH ({})"
FILES = "'connector.type' = 'filesystem', 'connector.path' = '/in/side', 'format.type' = 'csv'"
STREAM = """CREATE TABLE bids (id BIGINT, pt AS PROCTIME())
WITH ('connector' = 'filesystem', 'path' = '/in/bids', 'format' = 'json');
SELECT * FROM bids AS b JOIN side FOR SYSTEM_TIME AS OF b.pt AS s ON b.id = s.k"""


def test_it_can_be_looked_up() -> None:
    assert list(errors_of(SourceText.of(f"{TABLE.format(FILES)}; {STREAM};"), new_state(None).fork())) == []


@pytest.mark.parametrize(
    "more",
    [
        "'format.field-delimiter' = '|'",
        "'format.quote-character' = '\"'",
        "'format.ignore-parse-errors' = 'true'",
        "'connector.property-version' = '1', 'update-mode' = 'append', 'format.ignore-first-line' = 'false'",
    ],
)
def test_taken(more: str) -> None:
    assert list(errors_of(SourceText.of(f"{TABLE.format(f'{FILES}, {more}')};"), new_state(None).fork())) == []


@pytest.mark.parametrize(
    ("options", "code", "at"),
    [
        ("'connector.type' = 'kafka', 'format.type' = 'json'", "OPT-002", "'connector.type'"),
        ("'connector.type' = 'filesystem', 'format.type' = 'json'", "OPT-002", "'format.type'"),
        (f"{FILES}, 'format.ignore-first-line' = 'true'", "OPT-003", "'format.ignore-first-line'"),
        (f"{FILES}, 'format.nope' = '1'", "OPT-003", "'format.nope'"),
    ],
)
def test_refused(options: str, code: str, at: str) -> None:
    text = TABLE.format(options)
    (error,) = errors_of(SourceText.of(f"{text};"), new_state(None).fork())
    assert (error.code, error.column) == (code, text.index(at) + 1)
    assert error.hint
