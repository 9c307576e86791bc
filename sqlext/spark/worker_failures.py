"""Tell a Python of Spark that cannot run our code from code that fails: which process, what it lacks."""

from __future__ import annotations

import re

from sqlext.errors import SqlExtError
from sqlext.source import Span

#: A task's failure names its host: ``Lost task 0.3 in stage 1.0 (TID 7) (worker-1 executor 2): ...``.
_HOST = re.compile(r"\(TID \d+\) \((\S+) executor ")
#: Spark's worker compares versions before it does anything.
_OTHER_VERSION = re.compile(
    r"Python in worker has different version: \(?'?([\d.]+)'?\)? than that in driver: \(?'?([\d.]+)"
)
_NO_PROGRAM = re.compile(r'Cannot run program "([^"]+)"')
_TRACEBACK = "Traceback (most recent call last)"
_NO_MODULE = re.compile(r"^ModuleNotFoundError: No module named '([^']+)'", re.MULTILINE)
#: Spark's own words for pandas, pyarrow and numpy.
_NO_PACKAGE = re.compile(r"(?:PACKAGE_NOT_INSTALLED|UNSUPPORTED_PACKAGE_VERSION)\] (\w+) >= ([\d.]+) must be installed")
_SAME = "the same minor version of Python for driver and workers: set PYSPARK_PYTHON before Spark starts"


def worker_failure(text: str, span: Span | None) -> SqlExtError | None:
    """Return what a failure's text says of a Python that Spark started, None if it says nothing of one.

    ENV-015 for a package of Spark's that is missing, ENV-016 for a Python that is another version or does not start,
    ENV-018 for any other module that is missing.
    """
    hosts = _HOST.findall(text)
    where = f" on {hosts[-1]}" if hosts else ""
    if found := _OTHER_VERSION.search(text):
        worker, driver = (version.rstrip(".") for version in found.groups())
        message = f"workers{where} have Python {worker}, and the driver has Python {driver}"
        return SqlExtError("ENV-016", message, span=span, hint=_SAME)
    if found := _NO_PROGRAM.search(text):
        return SqlExtError("ENV-016", f"Spark cannot start `{found.group(1)}`{where}", span=span, hint=_SAME)
    if found := _NO_PACKAGE.search(text):
        package, version = found.groups()
        message = f"a Python that Spark started{where} has no {package.lower()} {version} or newer"
        return SqlExtError("ENV-015", message, span=span, hint=f"pip install '{package.lower()}>={version}' into it")
    # Without a traceback it is an error of this process.
    if _TRACEBACK in text and (found := _NO_MODULE.search(text)):
        return _without(found.group(1), where, span)
    return None


def _without(module: str, where: str, span: Span | None) -> SqlExtError:
    ours = module.partition(".")[0].startswith("sqlext")
    package = "sqlext-spark" if ours else f"the package of `{module}`"
    message = f"a Python that Spark started{where} has no module `{module}`"
    hint = f"install {package} for it, also where the driver or the server of Spark runs"
    return SqlExtError("ENV-018", message, span=span, hint=hint)
