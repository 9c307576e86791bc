"""Python runs this at the start of a process: the defence is taken out when its module is loaded."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import sys
from collections.abc import Sequence
from types import ModuleType

_OF, _OLD, _NEW = json.loads(os.environ["SQLEXT_TESTS_CUT"])


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the one module, and exchanges the text when it has been loaded."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return the module's spec, with a loader that does more."""
        if name != _OF.partition(":")[0]:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert spec.loader is not None
        load = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            load(module)
            sys.modules[name] = module
            from tests.defences.cutting import exchange

            exchange(_OF, _OLD, _NEW)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


sys.meta_path.insert(0, _Finder())
