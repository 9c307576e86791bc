"""Let nobody but the owner of a place write, in any process."""

from __future__ import annotations

from dataclasses import dataclass

from sqlext.errors import SqlExtError
from sqlext.stores.lease import FencedError, Term, check_owner
from sqlext.stores.location import Location


@dataclass(frozen=True)
class Fence:
    """What a driver asks before each commit; a plain value that can be pickled.

    Attributes:
        query: the query's name.
        place: where its lease lies.
        term: its lease, as it was when it began.
        taken_over: whether a driver may still live that had the place before, and be amid a commit.
    """

    query: str
    place: Location
    term: Term
    taken_over: bool = False

    def check(self) -> None:
        """Return if the place is still its owner's.

        Raises:
            SqlExtError: RUN-029 if it is not.
        """
        try:
            check_owner(self.place.store, self.term)
        except FencedError as fenced:
            raise lost(self.query, fenced) from None


def lost(query: str, fenced: FencedError) -> SqlExtError:
    """Return the failure of a query whose place is another's by now, or gone."""
    if fenced.term is None:
        why = f"the folder of query `{query}` was removed while it ran"
        hint = "nothing more was written; DROP QUERY is for queries that do not run"
    else:
        why = f"query `{query}` was taken over by {fenced.term.owner} while this driver was away"
        hint = "nothing more was written here, and the other driver goes on"
    return SqlExtError("RUN-029", why, hint=hint)
