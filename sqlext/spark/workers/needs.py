"""Judge what workers have: the packages that our operators and readers import there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from sqlext.errors import SqlExtError
from sqlext.spark.workers.look import WorkerReport

#: Our own package, as it is imported and as it is installed.
OURS = ("sqlext", "sqlext-spark")


@dataclass(frozen=True)
class Need:
    """A package that workers must have.

    Attributes:
        module: the name that it is imported by.
        package: the name that it is installed by.
        least: the first version that does.
    """

    module: str
    package: str
    least: str = "0"

    def __str__(self) -> str:
        """Return what pip would be told."""
        return f"{self.package}>={self.least}" if self.least != "0" else self.package

    def is_met(self, found: str | None) -> bool:
        """Whether a version does; one that is not known is taken for new enough."""
        return found is not None and (not found or _numbers(found) >= _numbers(self.least))


#: The versions are those of pyproject.toml.
NEEDS = (
    Need("numpy", "numpy"),
    Need("pandas", "pandas", "2.2"),
    Need("pyarrow", "pyarrow", "18"),
    Need("google.protobuf", "protobuf", "6"),
)
#: What a reader of ours keeps its place by where that is a URL: Spark asks it in a Python of the workers.
STORES = Need("obstore", "obstore", "0.8")
ASKED = (OURS, *((need.module, need.package) for need in NEEDS))


def check(reports: Sequence[WorkerReport], needs: Sequence[Need] | None = None) -> None:
    """Refuse workers that lack a package, or have one that is too old.

    Args:
        needs: what they must have, None for what all our code needs.

    Raises:
        SqlExtError: ENV-015, with each host that lacks something.
    """
    lacking = {report: missing for report in reports if (missing := missing_in(report, needs))}
    if not lacking:
        return
    said = "; ".join(f"{', '.join(_said(need, r) for need in missing)} on {r.host}" for r, missing in lacking.items())
    wanted = sorted({str(need) for missing in lacking.values() for need in missing})
    pip = " ".join(f"'{need}'" for need in wanted)
    raise SqlExtError(
        "ENV-015",
        f"the Python of workers has not what operators and readers need: {said}",
        hint=f"pip install {pip} into that Python, or ship an environment by spark.archives",
    )


def has_ours(reports: Sequence[WorkerReport]) -> bool:
    """Whether all workers have sqlext in the version that runs here."""
    own = _own_version()
    return all(report.version(OURS[1]) == own for report in reports)


def missing_in(report: WorkerReport, needs: Sequence[Need] | None = None) -> list[Need]:
    """Return what a worker lacks, or has in a version that is too old; of what ``check`` takes."""
    return [need for need in (NEEDS if needs is None else needs) if not need.is_met(report.version(need.package))]


def _said(need: Need, report: WorkerReport) -> str:
    found = report.version(need.package)
    return f"no {need.package}" if found is None else f"{need.package} {found} (not {need.least})"


def _own_version() -> str:
    try:
        return version(OURS[1])
    except PackageNotFoundError:
        return ""


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text)[:3])
