"""Turns a folder of cases into tests, and says at the end how many of each area pass."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from . import exceptions
from .cases import Case, find_cases

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

CASES = Path(__file__).parent / "cases"
RECORDED_FIRST = CASES / "flink"
RECORDED_HERE = CASES / "own"
#: Each case runs with this ``sqlext.source`` too: ``auto`` takes Spark's reader for inputs as small as these.
ARROW = "arrow"
#: Of the cases of each reader, one in so many is enough for a usual run.
RARELY = 16


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give ``case`` each case of the folder; of the default folder, also those recorded here, and by both readers."""
    if "case" not in metafunc.fixturenames:
        return
    root = Path(metafunc.config.getoption("--cases")).resolve()
    source = metafunc.config.getoption("--source")
    ours = root == RECORDED_FIRST.resolve()
    cases = find_cases(root, RECORDED_HERE) if ours else find_cases(root)
    found = [_parameter(case, source or "auto", sampled=ours) for case in cases]
    if ours and source is None:
        found += [_parameter(case, ARROW, sampled=True) for case in cases if case.reads_tables and not case.refused]
    metafunc.parametrize(("case", "source"), found)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Note the area of each case, for the summary."""
    for item in items:
        case = _case(item)
        if case is not None:
            item.user_properties += [("area", case.area), ("later", _waits_for(case.key))]


def _waits_for(key: str) -> str:
    return "a gap" if key in exceptions.GAPS else exceptions.waits_for(key) or ""


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    """Print ``N of M`` per area, and what the others wait for."""
    outcomes, waiting = _tally(terminalreporter)
    if not outcomes:
        return
    terminalreporter.section("conformance with Flink")
    for area, counts in sorted(outcomes.items()):
        terminalreporter.write_line(_line(area, counts, waiting[area]))
    total: Counter[str] = sum(outcomes.values(), Counter())
    later: Counter[str] = sum(waiting.values(), Counter())
    terminalreporter.write_line(_line("all", total, _by_issue(later)))


def _parameter(case: Case, source: str, *, sampled: bool) -> pytest.ParameterSet:
    # A folder that somebody names runs whole; what is refused costs little.
    marks = [pytest.mark.sampled(RARELY)] if sampled and not case.refused else []
    name = f"{case.key}-{source}" if source == ARROW else case.key
    return pytest.param(case, source, id=name, marks=[*_marks(case, source), *marks])


def _marks(case: Case, source: str) -> list[pytest.MarkDecorator]:
    if case.unrepeatable:
        return [pytest.mark.skip(reason=case.unrepeatable)]
    if case.key in exceptions.GAPS:
        return [pytest.mark.xfail(reason=exceptions.GAPS[case.key], strict=True)]
    waits = exceptions.waits_for(case.key, by_arrow=source == ARROW)
    # What Flink refuses must be refused now, whatever it waits for.
    if waits and not case.refused:
        from sqlext import SqlExtError

        return [pytest.mark.xfail(reason=waits, strict=True, raises=SqlExtError)]
    return []


def _case(item: pytest.Item) -> Case | None:
    call = getattr(item, "callspec", None)
    case = call.params.get("case") if call else None
    return case if isinstance(case, Case) else None


def _tally(reporter: TerminalReporter) -> tuple[dict[str, Counter[str]], dict[str, Counter[str]]]:
    """Return how each area's cases ended, and what the waiting ones wait for."""
    outcomes: dict[str, Counter[str]] = defaultdict(Counter)
    waiting: dict[str, Counter[str]] = defaultdict(Counter)
    for outcome in ("passed", "failed", "error", "skipped", "xfailed", "xpassed"):
        for report in reporter.stats.get(outcome, []):
            properties = dict(getattr(report, "user_properties", []))
            if "area" not in properties or (outcome == "passed" and report.when != "call"):
                continue
            outcomes[str(properties["area"])]["refused" if "refused" in properties else outcome] += 1
            if outcome == "xfailed":
                waiting[str(properties["area"])][str(properties["later"])] += 1
    return outcomes, waiting


def _by_issue(waiting: Counter[str]) -> Counter[str]:
    issues: Counter[str] = Counter()
    for what, n in waiting.items():
        issues[what.partition(":")[0]] += n
    return issues


def _line(area: str, counts: Counter[str], waiting: Counter[str]) -> str:
    counted = sum(counts.values()) - counts["skipped"]
    text = f"{area:16} {counts['passed']:4} of {counted:4} passed"
    rest = [f"{n} wait for {what}" for what, n in sorted(waiting.items())]
    rest += [f"{counts['refused']} refused: this Spark cannot"] if counts["refused"] else []
    rest += [f"{counts['skipped']} depend on Flink's timing"] if counts["skipped"] else []
    return text + (f"   ({'; '.join(rest)})" if rest else "")
