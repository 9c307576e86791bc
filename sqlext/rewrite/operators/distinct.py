"""Render DISTINCT: rows go in, each comes out once."""

from __future__ import annotations

from sqlext.plan.distinct import Distinct
from sqlext.rewrite.operators.step import Arguments, OperatorStep
from sqlext.rewrite.relations.rendering import Rendering


class _DistinctStep(OperatorStep):
    """What the operator is told (``sqlext_udfs.spark.distinct``)."""

    def arguments(self, name: str) -> Arguments:
        """Return the time to live; without it there is nothing to say."""
        return () if self.node.ttl is None else (("ttl", self.node.ttl), ("name", name))


def distinct_sql(node: Distinct, renderer: Rendering) -> str:
    """Return the query of the different rows."""
    return f"SELECT * FROM {_DistinctStep(node).add(renderer, renderer.sql(node.input))}"
