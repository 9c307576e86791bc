"""Keep the micro-batches that this process has done: how far each has read, what time it was, and the state after it.

<query's folder>/
    local/<n>      micro-batch n is begun: up to where it reads, and its time; whoever repeats it does the same
    commits/<n>    it is done: the place from which the next one goes on, and the state of operators
    levels/<id>    a level of a large state (``local.states``)

A sink writes between the two. So a micro-batch that is begun and not done may be in the sink.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from sqlext.connectors.splits import Offset
from sqlext.errors import SqlExtError
from sqlext.jobs.checkpoint import QueryHome
from sqlext.jobs.query_files import COMMITS, HERE, LEVELS, last_number
from sqlext.local.sealed import sealed, unsealed
from sqlext.local.states import KeptState
from sqlext.local.streams import Places
from sqlext.stores.location import Location
from sqlext_udfs.kernel.operator import Wakeup

_FACTS = b"sqlext.commit"
#: How many commits stay, and how many micro-batches stay noted as begun: EXPLAIN ROW reads those, as Spark's.
_COMMITS_KEPT, _BEGUN_KEPT = 2, 100
#: After how many micro-batches older ones are removed.
_EVERY = 20


@dataclass(frozen=True)
class Moment:
    """What a micro-batch goes by.

    Attributes:
        number: of the micro-batch.
        places: up to where it reads each table (``streams.Places``).
        clock: processing time, in ms since 1970 UTC.
        watermark: that of its rows and of all before, in ms; None while there is none.
        late: the watermark by which its rows are late.
    """

    number: int
    places: Places
    clock: int
    watermark: int | None
    late: int | None

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return asdict(self)


@dataclass(frozen=True)
class StreamCommit:
    """What stands after a micro-batch; by default, before the first.

    Attributes:
        number: of the micro-batch; -1 before the first.
        places: how far each table was read.
        watermark: how far time is, in ms; None while there is no watermark.
        time: what the time keeper knows (``TimeKeeper.to_json``).
        states: of operators, in their order.
    """

    number: int = -1
    places: Mapping[str, Offset] = field(default_factory=dict)
    watermark: int | None = None
    time: Mapping[str, Any] = field(default_factory=dict)
    states: Sequence[KeptState] = ()

    def encoded(self) -> bytes:
        """Return it as bytes, a checksum in front."""
        facts = {
            "number": self.number,
            "places": {view: dict(place) for view, place in self.places.items()},
            "watermark": self.watermark,
            "time": self.time,
            "states": [[s.data is not None, s.wakeup, s.now, s.open_groups] for s in self.states],
        }
        # With one more, so that there is a cell where there are no operators.
        values = [*(s.data or b"" for s in self.states), b""]
        return sealed(values, {_FACTS: json.dumps(facts)})

    @staticmethod
    def decoded(data: bytes) -> StreamCommit:
        """Return what ``encoded`` gave.

        Raises:
            ValueError: if it is damaged, or of another version.
        """
        values, metadata = unsealed(data)
        facts = json.loads(metadata[_FACTS])
        states = tuple(
            KeptState(bytes(value) if there else None, Wakeup(*wakeup), now, open_groups)
            for (there, wakeup, now, open_groups), value in zip(facts["states"], values[:-1], strict=True)
        )
        return StreamCommit(facts["number"], facts["places"], facts["watermark"], facts["time"], states)


class Commits:
    """The micro-batches of a query.

    Args:
        home: the query's folder, this driver's own.
    """

    def __init__(self, home: QueryHome) -> None:
        self._home = home
        self._store = home.location.store

    @property
    def levels(self) -> Location:
        """The folder of the levels of large states."""
        return self._home.location.below(LEVELS)

    def last(self) -> StreamCommit:
        """Return what stands now.

        Raises:
            SqlExtError: RUN-023 if it cannot be read.
        """
        number = self._home.last_batch()
        if number < 0:
            # The first of them may have been begun, and no other.
            if last_number(self._home.location, HERE) > 0:
                raise self._damaged(COMMITS, "nothing is there")
            return StreamCommit()
        found = self._store.read(f"{COMMITS}/{number}")
        try:
            return StreamCommit.decoded(found.data if found is not None else b"")
        except (ValueError, KeyError, TypeError, OSError) as error:
            raise self._damaged(f"{COMMITS}/{number}", str(error)) from None

    def begun(self, number: int) -> Moment | None:
        """Return what a micro-batch went by that was begun and is not done; None if there is none.

        Raises:
            SqlExtError: RUN-023 if it cannot be read.
        """
        try:
            noted = self._home.begun_batch(number)
            return Moment(**noted["moment"]) if noted is not None else None
        except (ValueError, KeyError, TypeError) as error:
            raise self._damaged(f"{HERE}/{number}", str(error)) from None

    def begin(self, moment: Moment, ends: Mapping[str, Offset], tables: Mapping[str, Mapping[str, object]]) -> None:
        """Note that a micro-batch is begun; raises RUN-029 if the folder has become another driver's.

        Args:
            ends: its places, by the names of tables.
            tables: what tells each from another one in its place.
        """
        self._home.begin_batch(moment.number, ends, {"moment": moment.to_json(), "tables": tables})

    def end(self, commit: StreamCommit) -> None:
        """Note that a micro-batch is done; raises RUN-029 if the folder has become another driver's."""
        self._home.fence.check()
        self._store.write(f"{COMMITS}/{commit.number}", commit.encoded())
        if commit.number % _EVERY == 0:
            self._remove(COMMITS, commit.number - _COMMITS_KEPT)
            self._remove(HERE, commit.number - _BEGUN_KEPT)

    def leave_state(self) -> None:
        """Go on from the place alone, under a new run, whose ``QueryHome.begin`` follows.

        Raises:
            SqlExtError: RUN-023 if the place cannot be read.
        """
        last = self.last()
        self._home.set_aside()
        if last.number >= 0:
            self.end(StreamCommit(last.number, last.places))

    def _remove(self, folder: str, until: int) -> None:
        for name in list(self._home.location.names(folder)):
            if name.isdecimal() and int(name) <= until:
                self._store.delete(f"{folder}/{name}")

    def _damaged(self, file: str, why: str) -> SqlExtError:
        return self._home.damaged(
            f"the place of query `{self._home.name}` is damaged: `{file}`: {why or 'it is empty'}"
        )
