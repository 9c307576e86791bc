"""Describe ``'connector' = 'blackhole'``: takes every row and keeps none."""

from __future__ import annotations

from sqlext.connectors.base import Connector


class Blackhole(Connector):
    """A sink that counts for nothing: to measure a query without its sink."""

    name = "blackhole"
    sink = "sqlext.connectors.blackhole.sink:BlackholeSink"
    local_sink = "sqlext.connectors.blackhole.local_sink:LocalBlackhole"
    takes_updates = True
    roles = ("sink",)
