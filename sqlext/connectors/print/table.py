"""Describe ``'connector' = 'print'``: a line per row on the driver's standard output."""

from __future__ import annotations

from sqlext.connectors.base import Connector
from sqlext.connectors.options import Rules, any_text, boolean


class Print(Connector):
    """A sink that prints ``identifier> +I[a, 1]``, as Flink does."""

    name = "print"
    sink = "sqlext.connectors.print.sink:PrintSink"
    local_sink = "sqlext.connectors.print.local_sink:LocalPrint"
    takes_updates = True
    roles = ("sink",)
    rules = Rules({"print-identifier": any_text, "standard-error": boolean})
