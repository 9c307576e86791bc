"""Registered triggers, evictors and aggregates in analysis: what is known, what is refused, what the plan has."""

from __future__ import annotations

from typing import Any

import pytest

from sqlext import SqlExtError
from sqlext.analysis.functions import is_built_in
from sqlext.analysis.inserts.bound import BoundInsert
from sqlext.analysis.inserts.changes import changes
from sqlext.analysis.inserts.fingerprint import fingerprint
from sqlext.hooks import Action, Trigger
from sqlext.plan.base import walk
from sqlext.plan.firing import Firing
from sqlext.plan.grouping import Aggregate
from sqlext.rewrite.script.model import OperatorView
from sqlext.user_functions import UserFunctions, kind_of
from sqlext_udfs.windows.triggers.tree import Using

from .conftest import Analysis


class EveryNth(Trigger):
    """Fires at each nth row."""

    def __init__(self, n: int, name: str = "x") -> None:
        self.n = n


class Merging(EveryNth):
    def on_merge(self, context: Any, others: Any) -> None:
        """Nothing to join."""


class Longest:
    """Keeps the rows of the first event times."""

    def __init__(self, n: int) -> None:
        self.n = n

    def keep(self, rowtimes: list[int | None]) -> list[bool]:
        return [i < self.n for i in range(len(rowtimes))]


class Spread:
    """Largest less smallest."""

    returns = "DECIMAL(10, 2)"

    def zero(self) -> Any:
        return None

    def add(self, state: Any, value: float, weight: float = 1.0) -> Any:
        return state

    def finish(self, state: Any) -> Any:
        return state


class MergingSpread(Spread):
    def merge(self, one: Any, other: Any) -> Any:
        return one


class SameName(MergingSpread):
    """Another class under a name."""


GROUPED = "SELECT user_name, COUNT(*) AS n FROM clicks GROUP BY user_name EMIT {emit}"
SPREAD = "SELECT user_name, {call} AS s FROM clicks GROUP BY user_name"
HOP = "SELECT SPREAD(amount) AS s FROM clicks GROUP BY HOP(ts, INTERVAL '1' SECOND, INTERVAL '2' SECOND)"
SESSION = "SELECT {call} AS s FROM clicks GROUP BY user_name, SESSION(ts, INTERVAL '9' SECOND)"


@pytest.fixture
def known(flink: Analysis) -> Analysis:
    functions = flink.handler.state.functions
    functions.register("trigger", "every_nth", EveryNth)
    functions.register("trigger", "merging", Merging)
    functions.register("evictor", "longest", Longest)
    functions.register("aggregate", "spread", Spread)
    functions.register("aggregate", "merging_spread", MergingSpread)
    return flink


def firing(analysis: Analysis, text: str) -> Firing:
    """Return how the grouping of a query fires."""
    (found,) = (n.kept for n in walk(analysis.plan(text)) if isinstance(n, Aggregate) and n.kept is not None)
    return found


def test_a_trigger_gets_constants_and_values(known: Analysis) -> None:
    found = firing(known, GROUPED.format(emit="USING TRIGGER Every_Nth(3, amount, 'y')"))
    assert found.policy.trigger == Using("Every_Nth", (3, "y"), (0,))
    assert len(found.values) == 1
    assert found.using == (("every_nth", f"{__name__}.EveryNth"),)


def test_an_evictor(known: Analysis) -> None:
    found = firing(known, GROUPED.format(emit="EVERY 4 ROWS EVICT USING longest(2) AFTER FIRING"))
    assert (found.using, found.policy.evict_after) == ((("longest", f"{__name__}.Longest"),), True)


def test_an_aggregate_has_its_type_and_makes_the_grouping_stateful(known: Analysis) -> None:
    text = SPREAD.format(call="Spread(amount)")
    assert known.columns(text)["s"] == "DECIMAL(10, 2)"
    assert firing(known, text).why == ("spread(...) in Python",)
    compiled = known.run(text)
    assert compiled is not None
    (operator,) = (s for s in compiled.script.steps if isinstance(s, OperatorView))
    arguments: dict[str, Any] = dict(operator.arguments)
    parameters = (("name", "spread"), ("bare", False), ("returns", "DECIMAL(10, 2)"))
    (aggregate,) = arguments["aggregates"]
    assert aggregate[:4] == ("python", (1,), False, parameters)


def test_inside_an_expression_with_filter_and_having(known: Analysis) -> None:
    text = SPREAD.format(call="1 + 2 * SPREAD(amount) FILTER (WHERE amount > 1)")
    compiled = known.run(f"{text} HAVING SPREAD(amount, 2) > 0")
    assert compiled is not None
    (operator,) = (s for s in compiled.script.steps if isinstance(s, OperatorView))
    arguments: dict[str, Any] = dict(operator.arguments)
    assert [a[0] for a in arguments["aggregates"]] == ["python", "python"]
    assert "1 + 2 * __a0" in compiled.script.steps[-1].sql or "__a0" in compiled.script.query


def test_without_merge_where_windows_share_nothing(known: Analysis) -> None:
    assert (
        firing(known, "SELECT SPREAD(amount) AS s FROM clicks GROUP BY TUMBLE(ts, INTERVAL '1' SECOND)").given is False
    )
    assert firing(known, HOP.replace("SPREAD", "MERGING_SPREAD"))
    assert firing(known, SESSION.format(call="MERGING_SPREAD(amount)"))
    assert firing(known, SESSION.format(call="COUNT(*)") + " EMIT USING TRIGGER merging(1)")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (GROUPED.format(emit="USING TRIGGER every_mth(3)"), "EMIT-040"),
        (GROUPED.format(emit="EVERY 4 ROWS EVICT USING every_nth(3)"), "EMIT-040"),
        (GROUPED.format(emit="USING TRIGGER every_nth(amount)"), "EMIT-041"),
        (GROUPED.format(emit="USING TRIGGER every_nth(1, 2, 3)"), "EMIT-041"),
        (GROUPED.format(emit="EVERY 4 ROWS EVICT USING longest()"), "EMIT-041"),
        (GROUPED.format(emit="EVERY 4 ROWS EVICT USING longest(amount)"), "EMIT-030"),
        (SESSION.format(call="COUNT(*)") + " EMIT USING TRIGGER every_nth(3)", "EMIT-106"),
        (SESSION.format(call="SPREAD(amount)"), "EMIT-116"),
        (HOP, "EMIT-116"),
        (SPREAD.format(call="SPREAD()"), "FUNC-002"),
        (SPREAD.format(call="SPREAD(amount, 1, 2)"), "FUNC-002"),
        (SPREAD.format(call="SPREAD(DISTINCT amount, 1)"), "FUNC-003"),
        (SPREAD.format(call="SPRAED(amount)"), "FUNC-001"),
        ("SELECT SPREAD(1) AS s FROM users GROUP BY country", "FUNC-033"),
        ("SELECT user_name FROM clicks WHERE SPREAD(amount) > 1", "WINDOW-009"),
        ("SELECT user_name, amount, SPREAD(amount) AS s FROM clicks GROUP BY user_name", "NAME-010"),
    ],
)
def test_refused(known: Analysis, text: str, code: str) -> None:
    with pytest.raises(SqlExtError) as refused:
        known.run(text)
    assert refused.value.code == code, refused.value.render()
    assert refused.value.span is not None


def test_messages_help(known: Analysis) -> None:
    unknown = known.refuse(GROUPED.format(emit="USING TRIGGER every_mth(3)"), "EMIT-040")
    assert (unknown.message, unknown.hint) == ("there is no trigger `every_mth`", "did you mean `every_nth`?")
    counted = known.refuse(GROUPED.format(emit="USING TRIGGER every_nth(amount)"), "EMIT-041")
    assert counted.message == "`every_nth` takes 1 to 2 arguments, not 0"


def test_another_class_is_another_query(known: Analysis) -> None:
    text = "INSERT INTO snk " + SPREAD.format(call="CAST(MERGING_SPREAD(amount) AS BIGINT)")

    def prints() -> Any:
        compiled = known.run(f"{text} EMIT USING TRIGGER merging(3)")
        assert compiled is not None
        assert isinstance(compiled.insert, BoundInsert)
        return fingerprint(compiled.insert, "UTC", "flink", "none")

    first = prints()
    assert prints() == first
    known.handler.state.functions.register("aggregate", "merging_spread", SameName)
    known.handler.state.functions.register("trigger", "merging", type("Other", (Merging,), {}))
    assert [c.part for c in changes(first, prints())] == ["SELECT", "USING merging"]


class NoHooks:
    pass


class Everything(Longest, MergingSpread):
    pass


class NoType(MergingSpread):
    returns = None  # type: ignore[assignment]


class BadType(MergingSpread):
    returns = "DOUBEL"


@pytest.mark.parametrize(
    ("kind", "name", "cls", "code"),
    [
        ("trigger", "t", Longest, "FUNC-030"),
        ("evictor", "t", NoHooks, "FUNC-030"),
        ("aggregate", "t", Longest, "FUNC-030"),
        ("aggregate", "t", Spread(), "FUNC-030"),
        ("trigger", "a b", EveryNth, "FUNC-031"),
        ("aggregate", "sum", MergingSpread, "FUNC-031"),
        ("aggregate", "Collect_List", MergingSpread, "FUNC-031"),
        ("aggregate", "t", NoType, "FUNC-032"),
        ("aggregate", "t", BadType, "FUNC-032"),
    ],
)
def test_what_cannot_be_registered(kind: Any, name: str, cls: Any, code: str) -> None:
    with pytest.raises(SqlExtError) as refused:
        UserFunctions(is_built_in).register(kind, name, cls)
    assert refused.value.code == code


def test_what_is_returned_may_be_a_text_without_length() -> None:
    class Longest(MergingSpread):
        returns = "VARCHAR"

    class Words:
        def eval(self, text: str) -> Any:
            """Yield nothing."""

    functions = UserFunctions()
    functions.register("aggregate", "longest", Longest)
    functions.register("table", "words", Words, "word VARCHAR, raw VARBINARY, two VARCHAR(2)")
    found = (functions.find("aggregate", "longest"), functions.find("table", "words"))
    shown = [str(f.returns) for f in found if f]
    assert shown == ["STRING", "ROW<`word` STRING, `raw` BYTES, `two` VARCHAR(2)>"]


def test_the_kind_of_a_class() -> None:
    assert [kind_of(c) for c in (EveryNth, Longest, Spread)] == ["trigger", "evictor", "aggregate"]
    for cls in (NoHooks, Everything):
        with pytest.raises(SqlExtError, match="FUNC-030"):
            kind_of(cls)


def test_a_trigger_of_hooks_does_nothing_at_timers() -> None:
    assert Trigger().on_event_time(0, None) is Trigger().on_processing_time(0, None) is Action.CONTINUE  # type: ignore[arg-type]
