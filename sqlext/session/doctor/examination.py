"""Look at everything, in the order of the table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlext.locations import PathOrText
from sqlext.session.doctor.features import capabilities, extras
from sqlext.session.doctor.findings import Diagnosis, Finding
from sqlext.session.doctor.places import folders, places, urls
from sqlext.session.doctor.running import running
from sqlext.session.doctor.versions import versions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class Examination:
    """What is to be looked at.

    Attributes:
        catalog: the folder of the catalog.
        checkpoint: the folder of checkpoints, None for the catalog's.
        spark: returns the Spark session to ask, None where none is to be asked. It may start one.
        local: whether a Spark would be started here; then Java and Delta's package are needed.
        stores: settings of object stores, by the names of Spark or Hadoop.
    """

    catalog: PathOrText
    checkpoint: PathOrText | None = None
    spark: Callable[[], SparkSession] | None = None
    local: bool = True
    stores: Mapping[str, str] = field(default_factory=dict, repr=False)

    def diagnosis(self) -> Diagnosis:
        """Look at all of it. Nothing is changed; Spark starts only where ``spark`` starts it."""
        return Diagnosis(tuple(self._findings()))

    def _findings(self) -> Iterator[Finding]:
        yield from versions(local=self.local)
        yield from capabilities()
        yield from places(self.catalog, self.checkpoint, self.stores)
        yield from self._session()
        yield from extras()

    def _session(self) -> Iterator[Finding]:
        if self.spark is not None:
            given = self.catalog, self.checkpoint
            yield from running(self.spark, folders(*given), urls(*given))
        else:
            advice = "`sqlext doctor --spark`, or `session.doctor(start=True)`"
            yield Finding("Spark", "session", "note", "none was asked, so nothing is known of its workers", advice)
