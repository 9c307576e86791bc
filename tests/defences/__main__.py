"""Run the tests of the faults without their defences."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import defences
from tests.defences.cuts import CUTS, Cut
from tests.defences.cutting import exchanged

_ROOT = Path(__file__).parents[2]
_SITE = Path(__file__).with_name("site")


class TakingOut:
    """A plugin of pytest: each test of a cut must fail, in one of its cases."""

    def __init__(self, cuts: tuple[Cut, ...]) -> None:
        self.failed: Counter[int] = Counter()
        self._cuts = {cut.test: cut for cut in cuts}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave the cases that are tried."""
        items[:] = [item for item in items if self._is_tried(item)]

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        """Run a test without the defence, and turn what comes of it round."""
        cut = self._cut(item)
        if self.failed[cut.fault]:
            pytest.skip("another case has failed")
        with pytest.MonkeyPatch.context() as patched, exchanged(cut.of, cut.old, cut.new):
            patched.setenv("SQLEXT_TESTS_CUT", json.dumps([cut.of, cut.old, cut.new]))
            path = filter(None, (str(_SITE), str(_ROOT), os.environ.get("PYTHONPATH")))
            patched.setenv("PYTHONPATH", os.pathsep.join(path))
            outcome: Any = yield
        if outcome.excinfo is None:
            outcome.force_exception(AssertionError(f"{cut.fault}: it passes without {cut.of}"))
            return
        self.failed[cut.fault] += 1
        kind, error, _ = outcome.excinfo
        print(f"\n{cut.fault}: it fails, as it must: {kind.__name__}: {' '.join(str(error).split())[:200]}", flush=True)
        outcome.force_result(None)

    def _cut(self, item: pytest.Item) -> Cut:
        return self._cuts[item.nodeid.partition("[")[0]]

    def _is_tried(self, item: pytest.Item) -> bool:
        name = item.nodeid.partition("[")[2]
        return all(part in name for part in self._cut(item).only.split(" "))


def main() -> int:
    """Take defences out; return how many were not missed."""
    parser = argparse.ArgumentParser(description=defences.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("faults", nargs="*", type=int, help="their numbers; all that can be tried by default")
    asked = parser.parse_args()
    cuts = tuple(cut for cut in CUTS if not asked.faults or cut.fault in asked.faults)
    plugin = TakingOut(cuts)
    pytest.main(["-q", "-s", "-p", "no:cacheprovider", "--all", *(cut.test for cut in cuts)], plugins=[plugin])
    kept = sorted({cut.fault for cut in cuts} - set(plugin.failed))
    print(f"missed: {len(cuts) - len(kept)} of {len(cuts)}" + (f"; not missed: {kept}" if kept else ""))
    return len(kept)


if __name__ == "__main__":
    sys.exit(main())
