"""Checkpoints that an earlier engine made: each query goes on from there, with the rows that it had in state.

They were made by ``python -m tests.restore.kept.make``, which says what lies in ``kept``. What had been read before is
changed here: who reads it again, or begins anew, has other rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.restore.kept.queries import CHANGED, QUESTIONS
from tests.restore.kept.runs import ROOT, Kept, all_kept, alone, number_of_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_KEPT = all_kept()

pytestmark = pytest.mark.skipif(
    ROOT.parent.resolve() != ROOT.parent, reason="paths in the checkpoints begin with /tmp, which is a link here"
)


@pytest.fixture(scope="module")
def folders() -> Iterator[None]:
    """Have the folders in which they go on alone."""
    with alone():
        yield


def test_every_query_is_kept() -> None:
    """Of each version; one that is added gets its checkpoint by ``make``."""
    assert {kept.name for kept in _KEPT} >= QUESTIONS.keys()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kept", _KEPT, ids=lambda kept: f"{kept.version}-{kept.name}")
def test_it_goes_on(spark: SparkSession, folders: None, kept: Kept) -> None:
    kept.unpack()
    run, offsets = kept.run_id(), kept.offsets()
    kept.change_what_was_read(CHANGED)
    kept.put(kept.later, kept.files)
    rows = number_of_rows(kept.later)
    progress = kept.run(spark, rows, answer=kept.answer)

    assert kept.run_id() == run
    after = kept.offsets()
    assert {number: after.get(number) for number in offsets} == offsets
    assert len(after) > len(offsets)
    # Fewer where WHERE is asked while files are read.
    assert 0 < progress["rows_in"] <= rows
    assert kept.rows() == kept.answer
    kept.clear()
