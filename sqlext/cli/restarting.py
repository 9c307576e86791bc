"""Begin a job again that failed by something that may pass: after a second, two, four, and a minute at most."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from sqlext.errors import SqlExtError
from sqlext.spark.passing import may_pass

#: The first wait, the longest one, and how long a job has to run until it counts as well; in seconds.
_FIRST, _LONGEST, _WELL = 1, 60, 600


@dataclass(frozen=True)
class Restarts:
    """How often a job begins again.

    Attributes:
        most: failures in a row after which it does not.
        tell: is told each failure, with what is done about it.
        wait: lets so many seconds pass.
        clock: gives seconds.
    """

    most: int
    tell: Callable[[SqlExtError, str], None]
    wait: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic

    def run(self, job: Callable[[], None]) -> None:
        """Run a job until it ends by itself.

        Raises:
            SqlExtError: its failure, if that does not pass, or came too often in a row.
        """
        failures = 0
        while True:
            began = self.clock()
            try:
                job()
            except SqlExtError as error:
                failures = 1 if self.clock() - began >= _WELL else failures + 1
                if failures > self.most or not may_pass(error):
                    raise
                seconds = min(_LONGEST, _FIRST * 2 ** (failures - 1))
                self.tell(error, f"begins again in {seconds} s ({failures} of {self.most})")
                self.wait(seconds)
            else:
                return
