"""Translate a table's options into settings of librdkafka, the client of our own reader and of transactions."""

from __future__ import annotations

from importlib.util import find_spec

from sqlext.connectors.kafka.spark_options import connection_options
from sqlext_catalog.model import Options
from sqlext_catalog.secrets import resolve_options

#: Settings of Java's client that librdkafka has not, and that say nothing about what is read.
_JAVAS_OWN = (
    "key.deserializer",
    "value.deserializer",
    "client.dns.lookup",
    "max.poll.records",
    "partition.discovery.interval.ms",
    "receive.buffer.bytes",
    "send.buffer.bytes",
    "default.api.timeout.ms",
    "request.timeout.ms",
)
#: Settings whose meaning is Java's alone: such a table is read by Spark.
_JAVA_ONLY = ("sasl.jaas.config", "sasl.client.callback.handler.class", "ssl.truststore.", "ssl.keystore.type")


def why_no_client(options: Options) -> str:
    """Return why our own client cannot serve a table of these options, empty if it can."""
    if find_spec("confluent_kafka") is None:
        return "confluent-kafka is not installed (the extra `kafka`)"
    foreign = next((k for k, _ in _settings(options) if k.startswith(_JAVA_ONLY)), None)
    return f"'{foreign}' is for Java's client alone" if foreign else ""


def client_settings(options: Options) -> tuple[tuple[str, str], ...]:
    """Return the settings, secrets resolved."""
    return tuple(sorted(resolve_options(unresolved_settings(options)).items()))


def unresolved_settings(options: Options) -> Options:
    """Return the settings with references in place of secrets."""
    return tuple((k, v) for k, v in _settings(options) if k not in _JAVAS_OWN)


def _settings(options: Options) -> Options:
    return tuple((k.removeprefix("kafka."), v) for k, v in connection_options(options))
