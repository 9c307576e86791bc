"""A plugin of pytest: a test that the installed Spark cannot pass is skipped, with the capability that it lacks.

    python -m pytest -p tests.refusals ...

`tools/versions.py` gives it to older versions of Spark. A usual run is without: there nothing may be refused (ENV-014).
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

import pytest

from sqlext.capabilities import CAPABILITIES, Capability, missing
from sqlext.errors import SqlExtError

#: How the reason of such a skip begins; the capability's name follows.
REFUSED = "refused for want of "


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn the failure into a skip."""
    report = yield
    lacking = lacks(call.excinfo.value) if call.excinfo is not None else None
    if report.failed and lacking is not None:
        report.outcome = "skipped"
        report.user_properties.append(("refused", lacking.name))
        report.longrepr = (str(item.path), item.location[1] or 0, f"{REFUSED}{lacking.name}")
    return report


def answered(answer: Any) -> Any:
    """Return what another process has answered; what it refuses for want of a capability is raised here."""
    if isinstance(answer, dict) and answer.get("code") == "ENV-014":
        raise SqlExtError(answer["code"], answer["message"], hint=answer["hint"])
    return answer


def lacks(error: BaseException) -> Capability | None:
    """Return the capability for want of which an error, or what it came from, was raised."""
    refusals = {missing(c).message: c for c in CAPABILITIES}
    found = (refusals.get(e.message) for e in _chain(error) if isinstance(e, SqlExtError))
    return next((c for c in found if c is not None), None)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
