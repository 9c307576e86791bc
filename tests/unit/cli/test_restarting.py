"""A job that failed by something that may pass begins again, later and later; any other failure ends it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from sqlext.cli.restarting import Restarts
from sqlext.errors import SqlExtError
from sqlext.spark.passing import may_pass

AWAY = SqlExtError("RUN-060", "Kafka at h:9092 does not answer: Connection refused")
WRONG = SqlExtError("RUN-046", "'a' cannot be cast to INT")


class Life:
    """A job whose runs last so many seconds and fail so; its clock is its own."""

    def __init__(self, *runs: tuple[float, SqlExtError | None]) -> None:
        self._runs = list(runs)
        self.now = 0.0
        self.waits: list[float] = []
        self.told: list[str] = []

    def job(self) -> None:
        lasts, error = self._runs.pop(0)
        self.now += lasts
        if error is not None:
            raise error

    def wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds

    def live(self, most: int) -> None:
        Restarts(most, lambda _, done: self.told.append(done), self.wait, lambda: self.now).run(self.job)
        assert self._runs == []


def test_it_waits_longer_and_longer() -> None:
    life = Life(*[(1, AWAY)] * 8, (1, None))
    life.live(8)
    assert life.waits == [1, 2, 4, 8, 16, 32, 60, 60]
    assert life.told[0] == "begins again in 1 s (1 of 8)"


def test_so_many_failures_in_a_row_end_it() -> None:
    life = Life(*[(1, AWAY)] * 3)
    with pytest.raises(SqlExtError) as ended:
        life.live(2)
    assert (ended.value, life.waits) == (AWAY, [1, 2])


def test_who_ran_well_begins_to_count_anew() -> None:
    life = Life((1, AWAY), (1, AWAY), (600, AWAY), (1, AWAY), (1, None))
    life.live(2)
    assert life.waits == [1, 2, 1, 2]


@pytest.mark.parametrize("runs", [[(1, WRONG)], [(1, AWAY), (1, WRONG)]])
def test_what_does_not_pass_ends_it_at_once(runs: Sequence[tuple[float, SqlExtError]]) -> None:
    life = Life(*runs)
    with pytest.raises(SqlExtError) as ended:
        life.live(9)
    assert ended.value is WRONG


def test_by_itself_it_does_not_begin_again() -> None:
    life = Life((1, AWAY))
    with pytest.raises(SqlExtError):
        life.live(0)


def with_cause(error: SqlExtError, cause: Exception) -> SqlExtError:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "passes"),
    [
        (AWAY, True),
        (SqlExtError("RUN-060", "there is no topic `t` at h:9092"), False),
        (SqlExtError("RUN-062", "records of topic t did not come in 30 s"), True),
        (SqlExtError("RUN-070", "database at h: connection to server at h failed: Connection refused"), True),
        (SqlExtError("RUN-070", "database at h: FATAL: password authentication failed for user me"), False),
        (SqlExtError("RUN-070", "database at h: the database system is starting up"), True),
        (SqlExtError("RUN-070", "database at h: null value violates not-null constraint"), False),
        (SqlExtError("RUN-070", "database at shop.db: database is locked"), True),
        (SqlExtError("RUN-073", "nobody listens at h:1"), True),
        (SqlExtError("RUN-015", "the store of `s3://b` does not answer as it should: 503 Slow Down"), True),
        (SqlExtError("RUN-015", "the store of `s3://b` does not answer as it should: 403 Forbidden"), False),
        (SqlExtError("RUN-076", "opensearch at h: it refuses document 7: mapping"), False),
        (SqlExtError("RUN-100", "OSError: [Errno 28] No space left on device: '/x/y'"), True),
        (SqlExtError("RUN-100", "Python worker exited unexpectedly (crashed)"), True),
        (
            with_cause(SqlExtError("RUN-100", "write failed"), ConnectionResetError(104, "Connection reset by peer")),
            True,
        ),
        (with_cause(SqlExtError("RUN-100", "write failed"), PermissionError(13, "Permission denied")), False),
        (SqlExtError("RUN-100", "[UNRESOLVED_COLUMN] no column `x`"), False),
        (SqlExtError("RUN-047", "ConnectionError: the service is away"), True),
        (SqlExtError("RUN-047", "ValueError: no price"), False),
        (SqlExtError("RUN-023", "the checkpoint of query `q` is damaged: timeout"), False),
        (WRONG, False),
    ],
)
def test_what_may_pass(error: SqlExtError, passes: bool) -> None:
    assert may_pass(error) is passes
