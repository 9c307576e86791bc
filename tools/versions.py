"""Run chosen tests on several versions of Spark, each in an environment of its own, and count.

    python tools/versions.py .venv/spark40/bin/python .venv/bin/python [--few] [--pytest=--all]

Of each version and kind of test it prints how many passed, and how many are refused for want of which capability
(``sqlext/capabilities.py``).
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parent.parent
_CASES = ("tests/conformance/test_cases.py", "--source", "auto")
_TELLING = (
    "emit/tvf_early_fire",
    "functions/temporal_parse",
    "match_recognize/aggregates_in_define",
    "over_agg/rows_bounded",
    "topn/rank_range",
    "tvf_agg/hop_cascade",
    "tvf_agg/max_of_row_and_bool",
    "window_topn/ltz_day_shanghai",
)
#: What runs: its name, and the arguments of pytest.
CHOSEN = {
    "without Spark": ("tests/unit", "-m", "not spark and not newest"),
    "recorded cases": _CASES,
    "operators": ("tests/udfs/test_panes.py", "tests/udfs/test_state_forms.py"),
    "as-of joins": ("tests/session/test_as_of.py", "--all"),
    "restarts": ("tests/restore/test_stateful.py",),
    # Many of these are costly, and a sample leaves them out.
    "object stores": (
        "tests/connectors/test_s3a.py",
        "tests/session/test_catalog_at_url.py",
        "tests/restore/test_at_url.py",
        "--all",
    ),
    "Iceberg": ("tests/connectors/test_iceberg.py", "--all"),
    "Spark Connect": ("tests/connect/test_connect.py", "-m", "not newest", "--all"),
    "clusters": ("tests/cluster/test_cluster.py", "--all"),
}
#: What runs in few minutes: a recorded case for each thing that an older Spark does in another way, or not.
FEW = {"a few cases": (*_CASES, "-k", " or ".join(_TELLING))}
_REFUSED = "refused for want of "
_WHO = """
import importlib.metadata as m, os, subprocess, sys
java = os.path.join(os.environ.get("JAVA_HOME") or "", "bin", "java") if os.environ.get("JAVA_HOME") else "java"
said = subprocess.run([java, "-version"], capture_output=True, text=True).stderr.split('"')
print(f"Spark {m.version('pyspark')}, Python {sys.version.split()[0]}, Java {said[1]}")
"""


@dataclass
class Count:
    """How the tests of one kind ended on one Spark.

    Attributes:
        passed: how many did.
        refused: how many are refused, by the name of the missing capability.
        failed: those that did not pass.
    """

    passed: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    failed: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        """Return one line."""
        every = self.passed + self.refused.total() + len(self.failed)
        refused = [f"{n} refused for want of {name}" for name, n in sorted(self.refused.items())]
        failed = [f"{len(self.failed)} failed"] if self.failed else []
        return "; ".join([f"{self.passed} passed of {every}", *refused, *failed])


def counted(report: Path) -> Count:
    """Return the count of a report of pytest's (JUnit); what is skipped for other reasons does not count."""
    count = Count()
    for test in ElementTree.parse(report).iter("testcase"):  # noqa: S314 - pytest wrote it
        skipped = test.find("skipped")
        reason = skipped.get("message", "") if skipped is not None else ""
        if test.find("failure") is not None or test.find("error") is not None:
            count.failed.append(f"{test.get('classname')}::{test.get('name')}")
        elif reason.startswith(_REFUSED):
            count.refused[reason.removeprefix(_REFUSED)] += 1
        elif skipped is None:
            count.passed += 1
    if not (count.passed or count.refused or count.failed):
        count.failed.append("no test ran")
    return count


def run(python: str, tests: Sequence[str]) -> Count:
    """Run one kind of tests in an environment; what pytest says goes to the terminal."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        options = ("-q", "-p", "tests.refusals", "-p", "no:cacheprovider", f"--junitxml={report}", *tests)
        ended = subprocess.run([python, "-m", "pytest", *options], cwd=ROOT, check=False)  # noqa: S603
        if not report.exists():
            sys.exit(f"pytest ended with {ended.returncode} and no report: {python}, {tests}")
        return counted(report)


def main() -> int:
    """Run all kinds of tests in all environments, and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pythons", nargs="+", metavar="PYTHON", help="of an environment with a Spark")
    parser.add_argument("--pytest", default="", metavar="ARGS", help="goes to pytest: --all runs all recorded cases")
    parser.add_argument("--few", action="store_true", help="a few recorded cases alone")
    arguments = parser.parse_args()
    chosen, more = FEW if arguments.few else CHOSEN, shlex.split(arguments.pytest)
    counts: dict[str, dict[str, Count]] = {}
    for python in arguments.pythons:
        who = subprocess.run([python, "-c", _WHO], check=True, text=True, stdout=subprocess.PIPE).stdout.strip()  # noqa: S603
        counts[who] = {}
        for kind, tests in chosen.items():
            counts[who][kind] = run(python, [*tests, *more])
            # All comes again at the end; who ends it before knows what there was.
            print(f"{who}: {kind}: {counts[who][kind]}", flush=True)
    for who, kinds in counts.items():
        print(who)
        for kind, count in kinds.items():
            print(f"  {kind:16}{count}")
    failed = [f"{who}: {test}" for who, kinds in counts.items() for count in kinds.values() for test in count.failed]
    print(*failed, sep="\n", end="")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
