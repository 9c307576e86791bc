"""Samples as rates: restarts count anew, silence is silence, and slow micro-batches are no silence."""

from __future__ import annotations

from dataclasses import replace

from sqlext.session.monitor.series import rate, series
from sqlext.watermarks.history import SPACING, Sample
from sqlext.watermarks.inputs import END_OF_TIME

NOW = 1_000_000_000


def sample(at: int, rows: int, batch: int = 0, began: int = NOW - 1000) -> Sample:
    spent = {"addBatch": batch * 150}
    return Sample(at, at - 5000, {}, 0, rows, 0, 0, 0, began=began, batch=batch, busy_ms=batch * 200, spent=spent)


def test_rates_and_parts() -> None:
    found = series([sample(NOW, 100, 1), sample(NOW + 2000, 300, 3)])
    assert found.at == [NOW, NOW + 2000]
    assert found.rows_in == [100, 100]  # the first since it was started
    assert found.lag == [5000, 5000]
    assert (found.batch_ms, found.parts) == ([200, 200], {"addBatch": [150, 150]})


def test_a_restart_counts_from_nothing() -> None:
    later = NOW + 600_000
    found = series([sample(NOW, 5000, 50), sample(later, 10, 1, began=later - 1000)])
    assert found.rows_in[-1] == 10
    assert found.batch_ms[-1] == 200
    # It did not run in between, so nobody was behind, and nobody kept anything.
    assert found.at == [NOW, NOW + SPACING, later - 1001, later]
    assert found.ran == [True, False, False, True]
    for line in (found.lag, found.rows_in, found.rows_out, found.batch_ms, found.state_rows, found.state_bytes):
        assert [value is None for value in line] == [False, True, True, False]


def test_a_restart_at_once() -> None:
    found = series([sample(NOW, 5000, 50), sample(NOW + 400, 10, 1, began=NOW + 200)])
    assert found.at == [NOW, NOW + 199, NOW + 400]
    assert found.ran == [True, False, True]


def test_silence() -> None:
    found = series([sample(NOW, 100, 1), sample(NOW + 300_000, 200, 2)])
    assert found.rows_in == [100, 0, 0, 100]
    assert found.lag == [5000, 5000 + SPACING, 304_000, 5000]


def test_slow_batches_are_no_silence() -> None:
    found = series([sample(NOW, 100, 1), sample(NOW + 20_000, 2100, 2)])
    assert found.rows_in == [100, 100]


def test_the_present() -> None:
    samples = [sample(NOW, 100, 1), sample(NOW + 1000, 200, 2)]
    assert series(samples, now=NOW + 11_000).rows_in == [100, 100, None]  # a batch may be under way
    assert series(samples, now=NOW + 11_000).lag[-1] == 15_000
    assert series(samples, now=NOW + 100_000).rows_in == [100, 100, 0, 0]
    assert rate(samples, NOW + 1000) == 100
    assert rate(samples, NOW + 100_000) == 0
    assert rate([], NOW) == 0


def test_the_end_of_time_is_behind_nothing() -> None:
    found = series([replace(sample(NOW, 1), watermark=END_OF_TIME)])
    assert (found.watermark, found.lag) == ([None], [None])
