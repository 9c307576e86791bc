"""Collect the accumulators that a stateful operator keeps for the aggregates of a SELECT.

The operator keeps plain accumulators: sums, counts, extremes, lists. An aggregate is a text over their results. So
Spark does the last step (division, rounding, types) with its own rules.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlext_udfs.over.specification import OverFrame

#: The columns that an accumulator gives; all others give one.
_FIELDS: dict[str, tuple[str, ...]] = {
    "variance": ("n", "mean", "m2"),
    "covariance": ("n", "mean_x", "mean_y", "cxy", "m2x", "m2y"),
}
Parameters = tuple[tuple[str, object], ...]


@dataclass(frozen=True, slots=True)
class AccumulatorCall:
    """One accumulator: its function, the places of its inputs, whether it takes each value once; its frame (OVER)."""

    function: str
    inputs: tuple[int, ...]
    distinct: bool = False
    parameters: Parameters = ()
    frame: OverFrame | None = None


@dataclass
class Accumulators:
    """Collects the inputs and accumulators of one SELECT; what is asked for twice is kept once.

    With another ``frame`` or ``prefix`` it collects into the same lists (``dataclasses.replace``). The names of
    result columns begin with the prefix.
    """

    inputs: list[str] = field(default_factory=list)
    accumulators: list[AccumulatorCall] = field(default_factory=list)
    frame: OverFrame | None = None
    prefix: str = "__a"

    def add(self, function: str, *inputs: str, distinct: bool = False, parameters: Parameters = ()) -> tuple[str, ...]:
        """Return the names of the columns in which an accumulator's results will be."""
        places = tuple(self._place(text) for text in inputs)
        wanted = AccumulatorCall(function, places, distinct, parameters, self.frame)
        # The place is a fact of the state: operators keep accumulators by number.
        if wanted not in self.accumulators:
            self.accumulators.append(wanted)
        return result_names(self.accumulators.index(wanted), wanted, self.prefix)

    def one(self, function: str, *inputs: str, distinct: bool = False, parameters: Parameters = ()) -> str:
        """Return the name of the only column of an accumulator's results."""
        (name,) = self.add(function, *inputs, distinct=distinct, parameters=parameters)
        return name

    def result_names(self) -> list[str]:
        """Return the names of all result columns in the operator's order."""
        return [name for i, a in enumerate(self.accumulators) for name in result_names(i, a, self.prefix)]

    def names(self) -> list[str]:
        """Return what each accumulator is by itself, whatever stands beside it: so state finds it again."""
        return [
            f"{a.function}({'DISTINCT ' if a.distinct else ''}{', '.join(self.inputs[i] for i in a.inputs)})"
            + "".join(f" {key}={value!r}" for key, value in a.parameters)
            for a in self.accumulators
        ]

    def _place(self, text: str) -> int:
        if text not in self.inputs:
            self.inputs.append(text)
        return self.inputs.index(text)


def result_names(index: int, accumulator: AccumulatorCall, prefix: str = "__a") -> tuple[str, ...]:
    """Return the columns in which the results of the accumulator at a place are."""
    fields = _FIELDS.get(accumulator.function)
    return tuple(f"{prefix}{index}_{f}" for f in fields) if fields else (f"{prefix}{index}",)
