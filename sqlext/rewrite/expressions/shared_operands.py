"""Bind long operands that a text repeats to names.

Some forms repeat their operands. Nested, they would double the text at every level. From a certain length on, a lambda
binds the operand to a name; that is slower, but the text stays linear.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

#: Longest operand that may stand in a text several times.
LONGEST = 1500


def bind(operands: Sequence[str], render: Callable[[tuple[str, ...]], str]) -> str:
    """Return ``render(operands)``, long operands replaced by names that are bound around it.

    Args:
        operands: texts, each of which the rendering may repeat.
        render: makes the text of an expression out of them; must not put them into aggregates.
    """
    text = render(tuple(operands))
    if len(text) < 2 * LONGEST:
        return text
    long = [operand for operand in operands if len(operand) > LONGEST // 4 and text.count(operand) > 1]
    names = {operand: f"bound_{i}" for i, operand in enumerate(long)}
    text = render(tuple(names.get(operand, operand) for operand in operands))
    for operand, name in names.items():
        # SQL has no LET: a lambda over an array of one element binds the name.
        text = f"transform(array({operand}), {name} -> {text})[0]"
    return text
