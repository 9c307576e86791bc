"""Make the operator of MATCH_RECOGNIZE of the plain values that a plan says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from sqlext_udfs.matching.operator import MatchOperator
from sqlext_udfs.matching.specification import specification_from_json


def match_operator(fields: Mapping[str, Any], types: Sequence[pa.DataType]) -> MatchOperator:
    """Return the operator; ``match`` is a ``MatchSpecification`` as JSON."""
    return MatchOperator(specification_from_json(fields["match"]), types)
