"""Say what Spark's higher-order functions hand to their lambdas, and what they make of the results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sqlext.errors import counted
from sqlext.types import BOOLEAN, INT, LogicalType, array, map_of

#: Types of the arguments in front; None where unknown.
Types = Sequence[LogicalType | None]


@dataclass(frozen=True, slots=True)
class LambdaArgument:
    """An argument that is a lambda.

    Attributes:
        parameters: returns the types of its parameters, as many as it may have.
        least: how many it has at least.
        decides: whether its result is a condition.
    """

    parameters: Callable[[Types], Types]
    least: int
    decides: bool = False

    def counts(self, most: int) -> str:
        """Return how many parameters are taken, as messages say it."""
        return counted(most, "parameter") if self.least == most else f"{self.least} or {counted(most, 'parameter')}"


@dataclass(frozen=True, slots=True)
class HigherOrder:
    """A function with lambdas: those by the places of its arguments, and the type of its result."""

    lambdas: Mapping[int, LambdaArgument]
    result: Callable[[Types], LogicalType | None]


def lambda_argument(function: str, place: int) -> LambdaArgument | None:
    """Return what a function, by its upper-case name, takes a lambda for in a place; None if it takes none."""
    found = _FUNCTIONS.get(function)
    return None if found is None else found.lambdas.get(place)


def is_higher_order(function: str) -> bool:
    """Whether a function, by its upper-case name, takes a lambda at all."""
    return function in _FUNCTIONS


def result_type(function: str, arguments: Types) -> LogicalType | None:
    """Return the type of a call with lambdas, None if unknown."""
    found = _FUNCTIONS.get(function)
    return None if found is None else found.result(arguments)


def _at(arguments: Types, place: int) -> LogicalType | None:
    return arguments[place] if place < len(arguments) else None


def _part(type_: LogicalType | None, root: str, place: int) -> LogicalType | None:
    return type_.children[place] if type_ is not None and type_.root == root else None


def _element(arguments: Types, of: int = 0) -> LogicalType | None:
    return _part(_at(arguments, of), "ARRAY", 0)


def _entry(arguments: Types, of: int = 0) -> Types:
    return [_part(_at(arguments, of), "MAP", place) for place in (0, 1)]


def _same(arguments: Types) -> LogicalType | None:
    return _at(arguments, 0)


def _array_of_results(place: int) -> Callable[[Types], LogicalType | None]:
    def result(arguments: Types) -> LogicalType | None:
        element = _at(arguments, place)
        return None if element is None else array(element)

    return result


def _map(key: LogicalType | None, value: LogicalType | None) -> LogicalType | None:
    return None if key is None or value is None else map_of(key, value)


def _indexed(arguments: Types) -> Types:
    return (_element(arguments), INT.not_null())


_FILTERS = LambdaArgument(_indexed, 1, decides=True)
_TESTS = LambdaArgument(lambda types: (_element(types),), 1, decides=True)
_OF_ENTRIES = LambdaArgument(_entry, 2)
_FOLD = HigherOrder(
    {
        2: LambdaArgument(lambda types: (_at(types, 1), _element(types)), 2),
        3: LambdaArgument(lambda types: (_at(types, 1),), 1),
    },
    # Spark casts what is put together to the type of the start.
    lambda types: types[3] if len(types) > 3 else _at(types, 1),
)

_FUNCTIONS: Mapping[str, HigherOrder] = {
    "TRANSFORM": HigherOrder({1: LambdaArgument(_indexed, 1)}, _array_of_results(1)),
    "FILTER": HigherOrder({1: _FILTERS}, _same),
    "EXISTS": HigherOrder({1: _TESTS}, lambda _: BOOLEAN),
    "FORALL": HigherOrder({1: _TESTS}, lambda _: BOOLEAN),
    "AGGREGATE": _FOLD,
    "REDUCE": _FOLD,
    "ARRAY_SORT": HigherOrder({1: LambdaArgument(lambda types: (_element(types),) * 2, 2)}, _same),
    "ZIP_WITH": HigherOrder(
        {2: LambdaArgument(lambda types: (_element(types), _element(types, 1)), 2)}, _array_of_results(2)
    ),
    "MAP_FILTER": HigherOrder({1: LambdaArgument(_entry, 2, decides=True)}, _same),
    "TRANSFORM_KEYS": HigherOrder({1: _OF_ENTRIES}, lambda types: _map(_at(types, 1), _entry(types)[1])),
    "TRANSFORM_VALUES": HigherOrder({1: _OF_ENTRIES}, lambda types: _map(_entry(types)[0], _at(types, 1))),
    "MAP_ZIP_WITH": HigherOrder(
        {2: LambdaArgument(lambda types: (*_entry(types), _entry(types, 1)[1]), 3)},
        lambda types: _map(_entry(types)[0], _at(types, 2)),
    ),
}
