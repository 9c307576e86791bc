"""Tell how far a query has read topics: by the offsets of their partitions, as we write them or as Spark does."""

from __future__ import annotations

from collections.abc import Mapping

from sqlext.connectors.kafka.reader.consumer import partition_of, split_of
from sqlext.connectors.places import ReadPlace
from sqlext_catalog.model import Table


class KafkaPlaces:
    """The ``TablePlaces`` of topics: only a broker knows what is left of them."""

    def backlog(self, table: Table, place: ReadPlace | None) -> None:
        """Return None: it is not known."""

    def is_shared(self, end: Mapping[str, object]) -> bool:
        """Return true: an offset is one to each reader."""
        return True

    def carried(self, end: Mapping[str, object], form: Mapping[str, object]) -> Mapping[str, object] | None:
        """Return the offsets of partitions, as the other reader writes them; see ``TablePlaces.carried``."""
        found = offsets_of(end)
        if not found or not offsets_of(form):
            return None
        if not any(isinstance(value, Mapping) for value in form.values()):
            return found
        topics: dict[str, dict[str, int]] = {}
        for split, offset in found.items():
            topic, partition = partition_of(split)
            topics.setdefault(topic, {})[str(partition)] = offset
        return topics

    def noted(self, table: Table) -> Mapping[str, object]:
        """Return nothing: see ``require_same``."""
        return {}

    def require_same(self, table: Table, place: ReadPlace, query: str) -> None:
        """Do nothing: a topic is what has its name."""


def offsets_of(end: Mapping[str, object]) -> dict[str, int]:
    """Return the offsets of partitions that a place means: as we write them, or by topic as Spark does.

    Empty for a place of another connector.
    """
    found: dict[str, int] = {}
    try:
        for name, value in end.items():
            if isinstance(value, Mapping):
                found |= {split_of(name, int(partition)): int(offset) for partition, offset in value.items()}
            elif isinstance(value, int) and partition_of(name)[0]:
                found[name] = value
            else:
                return {}
    except ValueError:
        return {}
    return found


PLACES = KafkaPlaces()
