"""Name connectors of Flink that are not there, and the way that there is."""

from __future__ import annotations

import re

_DEBEZIUM = (
    "let Debezium write the changes to Kafka, and read them by 'connector' = 'kafka', 'format' = 'debezium-json'; "
    "'jdbc' reads tables of PostgreSQL and MySQL as they are"
)
_SEARCH = "'elasticsearch-7' and 'opensearch' are here; others are filled from 'kafka', by Kafka Connect"
_LAKE = "read and write it by 'connector' = 'spark' with its format, and its package on the class path; 'delta' is here"
_QUEUE = "read it by 'connector' = 'spark' with its format, and its package on the class path, or through 'kafka'"

#: Names as Flink's connectors have them -> what serves here.
_WAYS: tuple[tuple[str, str], ...] = (
    (r"(mysql|postgres|oracle|sqlserver|mongodb|db2|tidb|oceanbase|vitess)-cdc", _DEBEZIUM),
    (r"(elasticsearch|opensearch)(-\d+)?", _SEARCH),
    (r"hudi|fluss|hive", _LAKE),
    (r"pulsar|kinesis|firehose|rabbitmq|sqs|pubsub|nats", _QUEUE),
    (r"mysql|postgres(ql)?|oracle|sqlserver|clickhouse|starrocks|doris|hbase(-.+)?|mongodb|redis|cassandra|dynamodb",
     "'jdbc' knows PostgreSQL, MySQL and SQLite; others are reached by 'connector' = 'spark' with their format"),
)  # fmt: skip


def way_around(name: str) -> str | None:
    """Return what serves in place of a connector of Flink; None for a name that is none of them."""
    return next((way for names, way in _WAYS if re.fullmatch(names, name.lower())), None)
