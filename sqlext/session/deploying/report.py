"""Hold what a deployment has found and done; as text, and as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field

from sqlext.jobs.comparison import RowComparison
from sqlext.session.deploying.columns import ColumnComparison
from sqlext.session.deploying.downstream import Reader

#: The new version is the current one, or the old one again.
SWITCHED, ROLLED_BACK = "switched", "rolled back"
#: More rows differ than may; and another query of the script has such rows.
DIFFERS, HELD_BACK = "differs", "held back"
#: There is no old version; there is no new one; the next run reads everything again.
BEGINS, SAME = "not deployed: it has no version before", "not deployed: it is the same"
#: It was not in the last deployment.
LEFT_ALONE = "not rolled back: the last deployment did not change it"
BEGINS_ANEW = "not deployed: it came to its end, and begins anew"


@dataclass(frozen=True, slots=True)
class DeployedQuery:
    """What became of a query.

    Attributes:
        outcome: one of the words above.
        changes: what differs between the versions.
        comparison: of their rows.
        columns: what differs between their columns.
        readers: what becomes of queries that read the table as a stream, where its rows are to be replaced.
        keeps_rows: whether the rows that are there stay, whatever those of the new version would be.
    """

    name: str
    table: str
    outcome: str
    changes: tuple[str, ...] = ()
    comparison: RowComparison | None = None
    columns: ColumnComparison = field(default_factory=ColumnComparison)
    readers: tuple[Reader, ...] = ()
    keeps_rows: bool = False

    @property
    def has_other_rows(self) -> bool:
        """Whether its rows take the place of others."""
        return not self.keeps_rows and self._differs

    def lines(self) -> Iterator[str]:
        """Yield what is known of it, for people."""
        yield from self.changes
        yield from self.columns.lines()
        if self.keeps_rows and self.outcome == SWITCHED:
            yield "the rows that are there stay; it has read what its source has, and writes what comes now"
        if self.comparison is not None:
            yield from self.comparison.lines()
        yield from map(str, self.readers)

    @property
    def _differs(self) -> bool:
        return self.comparison is None or bool(self.comparison.differing or self.columns.differ)


@dataclass(frozen=True, slots=True)
class Deployment:
    """What became of the queries of a script."""

    queries: tuple[DeployedQuery, ...]

    @property
    def refused(self) -> bool:
        """Whether a version is not the current one since its rows differ."""
        return any(query.outcome == DIFFERS for query in self.queries)

    def to_json(self) -> str:
        """Return it for programs."""
        return json.dumps({"refused": self.refused, **asdict(self)}, indent=2, ensure_ascii=False)

    def __str__(self) -> str:
        """Return it for people."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        for query in self.queries:
            yield f"query {query.name}  {query.outcome}"
            yield from (f"  {text}" for text in query.lines())
        counts = Counter(query.outcome for query in self.queries)
        yield "; ".join(f"{n} {'query' if n == 1 else 'queries'} {what}" for what, n in counts.items()) or "no query"
