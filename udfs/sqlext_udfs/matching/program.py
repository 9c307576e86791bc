"""Compile a pattern to states and edges, for either of two rules of preference.

Standard (SQL:2016): of all matches that begin at a row the preferred one counts. A greedy quantifier tries one more row
first, a reluctant one none. A state's edges stand in the order of preference. It has no edges that would be tried after
it accepts, because a complete match counts.

Flink (its NFACompiler): all ways are tried at once, and the match that is complete first counts. A greedy quantifier is
possessive: what follows takes no row that the quantifier's variable could have taken (``PatternEdge.unless``).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlext_udfs.matching.pattern import Choice, Concatenation, Pattern, Repeat, Variable


@dataclass(frozen=True, slots=True)
class PatternEdge:
    """A way from a state: take the row as a variable.

    Attributes:
        variable: its number.
        target: the number of the next state.
        unless: variables whose condition the row must not fulfil.
    """

    variable: int
    target: int
    unless: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class PatternState:
    """Where a match in the making stands.

    Attributes:
        edges: the ways on, in the order of preference.
        accepts: whether the match is complete if no edge is taken.
    """

    edges: tuple[PatternEdge, ...]
    accepts: bool


@dataclass(frozen=True, slots=True)
class PatternProgram:
    """A pattern as a nondeterministic automaton.

    Attributes:
        states: by their numbers.
        start: the number of the first state.
    """

    states: tuple[PatternState, ...]
    start: int


def program_of(pattern: Pattern, *, standard: bool) -> PatternProgram:
    """Return the program of a pattern.

    Args:
        pattern: for Flink a sequence of variables, each of which may be repeated.
        standard: whether the rule is SQL:2016's, else Flink's.
    """
    graph = _Graph()
    accept = graph.node(_Node(accepts=True))
    start = _standard(pattern, accept, graph) if standard else _flink(pattern, accept, graph)
    return _program(graph, start, first_wins=not standard)


@dataclass(slots=True)
class _Node:
    """A node of the graph: takes a row, or goes on to others without one, in the order of preference."""

    variable: int | None = None
    target: int = -1
    unless: tuple[int, ...] = ()
    ways: list[int] = field(default_factory=list)
    accepts: bool = False


class _Graph:
    def __init__(self) -> None:
        self.nodes: list[_Node] = []

    def node(self, node: _Node) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1

    def closure(self, start: int) -> list[int]:
        """Return the nodes that take a row or accept, reached without taking one, in the order of preference."""
        found: list[int] = []
        seen: set[int] = set()
        pending = [start]
        while pending:
            number = pending.pop()
            if number in seen:
                continue
            seen.add(number)
            node = self.nodes[number]
            if node.variable is not None or node.accepts:
                found.append(number)
            # Reversed, as the last one is taken next: depth first is the order of preference.
            pending.extend(reversed(node.ways))
        return found


def _program(graph: _Graph, start: int, *, first_wins: bool) -> PatternProgram:
    """Return the states that can be reached: one for each node behind a row that is taken."""
    numbers: dict[int, int] = {start: 0}
    states: list[PatternState] = []
    pending = [start]
    while pending:
        edges: list[PatternEdge] = []
        accepts = False
        for number in graph.closure(pending.pop(0)):
            node = graph.nodes[number]
            if node.variable is None:
                accepts = True
                # Standard: edges behind acceptance are never tried, as the complete match counts.
                if not first_wins:
                    break
                continue
            if node.target not in numbers:
                numbers[node.target] = len(numbers)
                pending.append(node.target)
            edges.append(PatternEdge(node.variable, numbers[node.target], node.unless))
        states.append(PatternState(tuple(edges), accepts))
    return PatternProgram(tuple(states), 0)


def _standard(pattern: Pattern, then: int, graph: _Graph) -> int:
    """Add a pattern that goes on at a node; return its first node."""
    if isinstance(pattern, Variable):
        return graph.node(_Node(pattern.number, then))
    if isinstance(pattern, Concatenation):
        for item in reversed(pattern.items):
            then = _standard(item, then, graph)
        return then
    if isinstance(pattern, Choice):
        return graph.node(_Node(ways=[_standard(item, then, graph) for item in pattern.items]))
    return _repeated(pattern, then, graph)


def _repeated(pattern: Repeat, then: int, graph: _Graph) -> int:
    if pattern.most is None:
        loop = graph.node(_Node())
        again = _standard(pattern.of, loop, graph)
        graph.nodes[loop].ways = [again, then] if pattern.greedy else [then, again]
        at = loop
    else:
        at = then
        # Nested options, built from the innermost out: x{0,2} is (x(x)?)?.
        for _ in range(pattern.most - pattern.least):
            once = _standard(pattern.of, at, graph)
            at = graph.node(_Node(ways=[once, then] if pattern.greedy else [then, once]))
    # What must come stands before what may come.
    for _ in range(pattern.least):
        at = _standard(pattern.of, at, graph)
    return at


def _flink(pattern: Pattern, then: int, graph: _Graph) -> int:
    """The same as Flink's NFACompiler does it, from the last element to the first."""
    items = pattern.items if isinstance(pattern, Concatenation) else (pattern,)
    for item in reversed(items):
        of, least, most, greedy = (
            (item.of, item.least, item.most, item.greedy) if isinstance(item, Repeat) else (item, 1, 1, False)
        )
        assert isinstance(of, Variable)
        # Flink makes loops possessive. A variable that is only optional is not.
        if greedy and least != most and (least, most) != (0, 1):
            _forbid(then, of.number, graph)
        then = _repeated(Repeat(of, least, most), then, graph)
    return then


def _forbid(start: int, variable: int, graph: _Graph) -> None:
    """Let the nodes after a greedy variable take no row that it could take."""
    for number in graph.closure(start):
        graph.nodes[number].unless += (variable,)
