"""Translate a table's options into those of Spark's Kafka connector: what is read, from where to where."""

from __future__ import annotations

import json

from sqlext.connectors.kafka.options import parsed_offsets
from sqlext_catalog.model import Options, Table

# Consumer settings that Spark decides itself; Flink's scripts carry them.
_SPARKS_OWN = {"group.id", "auto.offset.reset", "enable.auto.commit", "auto.commit.interval.ms"}


def connection_options(options: Options) -> Options:
    """Return ``properties.x`` as Spark's ``kafka.x``."""
    found = [(f"kafka.{k[len('properties.') :]}", v) for k, v in options if k.startswith("properties.")]
    direct = [(k, v) for k, v in options if k.startswith("kafka.")]
    return tuple((k, v) for k, v in (*found, *direct) if k.removeprefix("kafka.") not in _SPARKS_OWN)


def connection(table: Table) -> Options:
    """Return what is read, and where from."""
    topic, pattern = table.option("topic"), table.option("topic-pattern")
    # Flink separates topics by semicolons, Spark by commas.
    which = ("subscribePattern", pattern or "") if topic is None else ("subscribe", topic.replace(";", ","))
    # Spark makes a group for each query, so the user's can only be the beginning of its name.
    group = table.option("properties.group.id")
    return (*connection_options(table.options), which, *((("groupIdPrefix", group),) if group else ()))


def start(table: Table) -> Options:
    """Return where a new query begins."""
    mode = (table.option("scan.startup.mode") or "group-offsets").lower()
    if mode == "timestamp":
        return (("startingTimestamp", table.option("scan.startup.timestamp-millis") or "0"),)
    if mode == "specific-offsets":
        return (("startingOffsets", _offsets(table, "scan.startup.specific-offsets")),)
    if mode == "group-offsets":
        # Positions are in the checkpoint, never in a consumer group: the reset policy says where a query begins.
        mode = table.option("properties.auto.offset.reset") or "earliest"
    return (("startingOffsets", "latest" if mode.startswith("latest") else "earliest"),)


def limit(table: Table) -> Options:
    """Return the most that a micro-batch takes."""
    most = table.option("maxOffsetsPerTrigger")
    return (("maxOffsetsPerTrigger", most),) if most is not None else ()


def end(table: Table) -> Options:
    """Return where a batch read ends."""
    mode = (table.option("scan.bounded.mode") or "unbounded").lower()
    if mode == "timestamp":
        return (("endingTimestamp", table.option("scan.bounded.timestamp-millis") or "0"),)
    if mode == "specific-offsets":
        return (("endingOffsets", _offsets(table, "scan.bounded.specific-offsets")),)
    return (("endingOffsets", "latest"),)


def end_filters(table: Table) -> list[str]:
    """Return what ends a stream early: Spark's stream reader only knows the latest offset as an end."""
    mode = (table.option("scan.bounded.mode") or "unbounded").lower()
    if mode == "timestamp":
        return [f"timestamp < timestamp_millis({table.option('scan.bounded.timestamp-millis')})"]
    if mode == "specific-offsets":
        ends = parsed_offsets(table, "scan.bounded.specific-offsets")
        cases = " ".join(f"WHEN {p} THEN offset < {o}" for p, o in ends.items())
        return [f"CASE partition {cases} ELSE true END"]
    return []


def _offsets(table: Table, option: str) -> str:
    return json.dumps({table.option("topic"): parsed_offsets(table, option)})
