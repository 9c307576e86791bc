"""Make the operator of windows, or of GROUP BY without a window, of the plain values that a plan says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from sqlext_udfs.aggregates.accumulator import AggregateCall
from sqlext_udfs.grouping.clock_windows import ClockWindows
from sqlext_udfs.grouping.operator import GroupAggregate
from sqlext_udfs.grouping.sessions import SessionsOfChanges
from sqlext_udfs.grouping.windows import WindowedGroups
from sqlext_udfs.kernel.altered import Selected
from sqlext_udfs.kernel.operator import BucketOperator
from sqlext_udfs.windows.filling.operator import FilledWindows, filled_types
from sqlext_udfs.windows.filling.specification import Filling
from sqlext_udfs.windows.filling.table_keys import FilledTableKeys
from sqlext_udfs.windows.horizon import closed_until
from sqlext_udfs.windows.operator import Latest, WindowOperator
from sqlext_udfs.windows.policy import Global, Session
from sqlext_udfs.windows.policy_json import policy_from_json
from sqlext_udfs.windows.specification import WindowSpecification, output_types

#: Classes of users by name: triggers, and evictors.
Classes = tuple[Mapping[str, Any], Mapping[str, Any]]
NO_CLASSES: Classes = ({}, {})


def specification_of(
    arguments: Mapping[str, Any], known: Callable[[Sequence[AggregateCall]], tuple[AggregateCall, ...]]
) -> WindowSpecification:
    """Return what is computed.

    Args:
        arguments: ``policy`` as JSON; ``aggregates``: of each its function, positions, distinct, parameters;
            ``places``: the other fields; ``closed``: ms of the query's watermark less the lateness of then, up to which
            windows stay closed, None for none; ``lag``: how far the operator's watermark stays behind that.
        known: gives aggregates of users their classes.
    """
    aggregates = known([AggregateCall(*a) for a in arguments["aggregates"]])
    places = dict(arguments["places"])
    policy, closed = policy_from_json(arguments["policy"]), arguments.get("closed")
    made = WindowSpecification(policy=policy, aggregates=aggregates, **places)
    return made if closed is None else replace(made, closed=closed_until(policy, closed - arguments.get("lag", 0)))


def window_operator(
    specification: WindowSpecification,
    arguments: Mapping[str, Any],
    types: Sequence[pa.DataType],
    classes: Callable[[], Classes],
) -> BucketOperator[Any]:
    """Return the operator.

    Args:
        specification: what is computed.
        arguments: ``columns``: names of what the operator gives, ``asked``: those of them that come out, ``latest``:
            whether only the last pane of a key, window and micro-batch is wanted; ``fill``: the fields of ``Filling``,
            where windows without rows come out.
        types: of the columns that go in.
        classes: gives those that the policy uses, where it has windows.
    """
    operator: BucketOperator[Any]
    if specification.kind is not None and not isinstance(specification.policy.window, Global):
        operator = _windows_of_changes(specification, types)
    # A changelog or a time to live without windows.
    elif specification.kind is not None or specification.ttl is not None:
        operator = GroupAggregate(specification, types)
    else:
        operator = WindowOperator(specification, types, *classes())
    filling = filling_of(arguments)
    asked = [i for i, name in enumerate(arguments["columns"]) if name in arguments["asked"]]
    # There is one pane of each window, so the last one is what comes out.
    if filling is not None and filling.table is not None:
        assert isinstance(operator, WindowOperator)
        return FilledTableKeys(operator, filling, specification, types, asked)
    if filling is not None:
        return FilledWindows(operator, filling, specification, types, asked)
    if arguments.get("latest"):
        operator = Latest(operator, specification.keys)
    # Outermost: ``Latest`` still needs columns that nobody asks for.
    return Selected(operator, asked)


def _windows_of_changes(specification: WindowSpecification, types: Sequence[pa.DataType]) -> BucketOperator[Any]:
    """Return the operator of windows over rows that may be taken back."""
    if specification.end is not None:
        return WindowedGroups(specification, types)
    if isinstance(specification.policy.window, Session):
        return SessionsOfChanges(specification, types)
    return ClockWindows(specification, types)


def columns_of(
    specification: WindowSpecification, arguments: Mapping[str, Any], types: Sequence[pa.DataType]
) -> list[tuple[str, pa.DataType]]:
    """Return name and type of each column that comes out; arguments as of ``window_operator``."""
    filling = filling_of(arguments)
    made = output_types(specification, types) if filling is None else filled_types(filling, specification, types)
    found = zip(arguments["columns"], made, strict=True)
    return [(name, of) for name, (_, of) in found if name in arguments["asked"]]


def filling_of(arguments: Mapping[str, Any]) -> Filling | None:
    """Return which windows without rows come out; None if none does. Arguments as of ``window_operator``."""
    fields = arguments.get("fill")
    return None if fields is None else Filling(**dict(fields))


def shared_keys(specification: WindowSpecification, arguments: Mapping[str, Any]) -> int:
    """Return how many of the first columns bring rows that belong together into one bucket.

    All windows of a key do, where they are filled: the bounds that a wall clock shows are among its keys.
    """
    filling = filling_of(arguments)
    return specification.keys - (filling.keys_of_window if filling is not None else 0)
