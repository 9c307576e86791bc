"""Keep the time of a query of this process."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from sqlext.jobs.progress import InputsRead
from sqlext.jobs.timekeeping import KeptTime
from sqlext.local.streams import InputRows
from sqlext.watermarks.keeper import Seen
from sqlext.watermarks.sketch import Arrived


class StreamTime(KeptTime):
    """Keeps the time of a query of this process: it is told of each micro-batch, and asked what follows."""

    def await_looks(self, more: int, alive: Callable[[], bool]) -> None:
        """Return at once: what follows from a micro-batch is done before the next one."""

    def settle(self, inputs: InputsRead) -> None:
        """Write what is known when the query has ended."""
        self.save()

    def meet(self, splits: Mapping[str, Collection[str]], clock: int) -> None:
        """Take which splits inputs have: one that has given no row yet holds the watermark back, as in Flink.

        Args:
            splits: by the names of inputs.
            clock: what time it is, in ms.
        """
        for name, found in splits.items():
            known = self.keeper.known[name].splits
            new = [Seen(None, 0, split) for split in found if split not in known]
            if new:
                self.keeper.saw(name, new, clock)

    def take(self, number: int, inputs: Mapping[str, InputRows], clock: int, judged: int | None) -> None:
        """Take what a micro-batch had of inputs.

        Args:
            number: of the micro-batch.
            inputs: what it had, by their names.
            clock: what time it is, in ms.
            judged: the watermark by which its rows are late.
        """
        for name, rows in inputs.items():
            self.keeper.saw(name, rows.seen, clock)
            self.keeper.arrived(Arrived(number, name, clock, judged, rows.parts))
