"""Sessions whose rows are looked at one by one: an operator keeps them until they know their session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlext.analysis.firings import windows_of
from sqlext.plan.nodes import AssignWindows
from sqlext.rewrite.columns import instant
from sqlext.rewrite.quoting import identifier
from sqlext.rewrite.script import OperatorView, SqlView, TagView
from sqlext.rewrite.stateful import PANE_COLUMNS
from sqlext.udfs.core.policy import Policy
from sqlext.udfs.core.policy_json import policy_to_json
from sqlext.udfs.core.trigger_tree import AfterWatermark

if TYPE_CHECKING:
    from sqlext.rewrite.renderer import Renderer


def session_rows(node: AssignWindows, renderer: Renderer) -> str:
    """Return the view of a session window function's rows, each when its session is over."""
    keys = [identifier(k) for k in node.spec.session_keys]
    columns = [identifier(c) for c in node.input.physical_columns()]
    inputs = [*keys, f"unix_millis({instant(node.time)})", f"struct({', '.join(columns)})"]
    places = [("keys", len(keys)), ("time", len(keys))]
    if node.spec.gap is not None:
        places.append(("gap", len(inputs)))
        inputs.append(identifier(node.spec.gap))
    selected = ", ".join(f"{text} AS c{i}" for i, text in enumerate(inputs))
    below = renderer.relation(node.input)
    prepared = renderer.add_step(lambda name: SqlView(name, f"SELECT {selected} FROM {below}"))
    count = len(keys)
    names = (*(f"__k{i}" for i in range(count)), "__start", "__end", "__rows", *PANE_COLUMNS)
    arguments: tuple[tuple[str, object], ...] = (
        ("policy", policy_to_json(Policy(windows_of(node.spec), AfterWatermark()))),
        ("places", tuple(places)),
        ("aggregates", (("collect_list", (count + 1,), False, ()),)),
        ("columns", names),
        ("name", str(len(renderer.steps))),
    )
    operated = renderer.add_step(lambda name: OperatorView(name, prepared, "window", arguments, "start"))
    struct = "named_struct('start', timestamp_millis(__start), 'end', timestamp_millis(__end))"
    window = identifier(node.physical)
    exploded = f"SELECT explode(__rows) AS __row, {struct} AS {window} FROM {operated}"
    rows = f"SELECT {', '.join(f'__row.{c}' for c in columns)}, {window} FROM ({exploded})"
    shown = renderer.add_step(lambda name: SqlView(name, rows))
    return renderer.add_step(lambda name: TagView(name, shown, node.physical, window=True))
