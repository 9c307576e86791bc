"""Say which versions are here, and whether they fit together."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version

from sqlext.environment import Problem, find_java, python_problem
from sqlext.extras import RUNS, package
from sqlext.session.doctor.findings import Finding, refusal, refused

_AREA = "versions"
_OURS = "sqlext-spark"
#: Platforms bring them, and they have lines of their own.
_SPARKS = ("pyspark", "delta-spark")
_GIVEN = "not needed here: Spark is given"
_REQUIREMENT = re.compile(r"([\w.-]+)(?:\[[^]]*\])?\s*([^;]*)(;.*)?")
_BOUND = re.compile(r"(>=|<=|==|<|>)\s*([\d.]+)")


def versions(*, local: bool) -> Iterator[Finding]:
    """Yield a line for Python, Java, PySpark, Delta and the packages that we depend on.

    Args:
        local: whether Spark would be started here; else Java and Delta's package are not needed.
    """
    yield _python()
    yield _java() if local else _java().softened(_GIVEN)
    yield _pyspark()
    yield _delta() if local else _delta().softened(_GIVEN)
    yield from _packages()


def _python() -> Finding:
    problem = python_problem()
    if problem is not None:
        return refused(_AREA, "Python", problem, needed=True)
    return Finding(_AREA, "Python", "ok", platform.python_version())


def _java() -> Finding:
    found = find_java()
    if isinstance(found, Problem):
        return refused(_AREA, "Java", found, needed=True)
    return Finding(_AREA, "Java", "ok", f"{found.version}, from {found.where}")


def _pyspark() -> Finding:
    error = refusal(lambda: package("pyspark", "local", RUNS))
    if error is not None:
        return refused(_AREA, "PySpark", error, needed=True)
    # Not by what pip knows: platforms put PySpark on the path.
    return Finding(_AREA, "PySpark", "ok", str(package("pyspark", "local", RUNS).__version__))


def _delta() -> Finding:
    error = refusal(lambda: package("delta", "local", "a local Spark"))
    if error is not None:
        return refused(_AREA, "Delta", error, needed=True)
    for wanted, bounds in requirements("delta-spark"):
        if wanted == "pyspark" and (here := installed(wanted)) and not fits(here, bounds):
            found = f"{installed('delta-spark')} is made for pyspark {bounds}, and this is {here}"
            return Finding(_AREA, "Delta", "note", found, "install a pair that fits: docs/platforms.md")
    return Finding(_AREA, "Delta", "ok", installed("delta-spark") or "here")


def _packages() -> Iterator[Finding]:
    """Yield our version, and a line for each package that is missing or of a version that we were not made for."""
    ours = installed(_OURS)
    if ours is None:
        yield Finding(_AREA, _OURS, "note", "its files are here, but pip does not know it", f"pip install {_OURS}")
        return
    needs = [(name, bounds) for name, bounds in requirements(_OURS) if name not in _SPARKS]
    here = {name: installed(name) for name, _ in needs}
    yield Finding(_AREA, _OURS, "ok", f"{ours}, with {', '.join(f'{n} {v}' for n, v in here.items() if v)}")
    for name, bounds in needs:
        advice = f"pip install '{name}{bounds}'"
        found = here[name]
        if found is None:
            yield Finding(_AREA, name, "refused", f"the package {name} is missing", advice, "ENV-011", needed=True)
        elif not fits(found, bounds):
            yield Finding(_AREA, name, "note", f"{found}, but {_OURS} was made for {bounds}", advice)


def installed(distribution: str) -> str | None:
    """Return the version that pip knows of a distribution, None if it knows none."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def requirements(distribution: str) -> Iterator[tuple[str, str]]:
    """Yield names and bounds (``>=2.2,<3``) of what an installed distribution needs always; nothing if pip lacks it."""
    try:
        texts = requires(distribution) or []
    except PackageNotFoundError:
        return
    for text in texts:
        found = _REQUIREMENT.fullmatch(text.strip())
        if found is not None and found[3] is None:
            yield found[1], found[2].strip()


def fits(here: str, bounds: str) -> bool:
    """Return whether a version lies in bounds such as ``>=2.2,<3``; by its numbers alone, what is else is ignored."""
    mine = _numbers(here)
    for sign, text in _BOUND.findall(bounds):
        theirs = _numbers(text)
        # 3 is 3.0.0: both are compared in the same length.
        size = max(len(mine), len(theirs))
        order = _compared(mine + (0,) * (size - len(mine)), theirs + (0,) * (size - len(theirs)))
        if order not in {">=": (0, 1), "<=": (-1, 0), "==": (0,), "<": (-1,), ">": (1,)}[sign]:
            return False
    return True


def _numbers(text: str) -> tuple[int, ...]:
    found = re.match(r"\d+(?:\.\d+)*", text)
    return tuple(map(int, found[0].split("."))) if found else ()


def _compared(a: tuple[int, ...], b: tuple[int, ...]) -> int:
    return (a > b) - (a < b)
