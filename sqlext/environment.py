"""Check that this machine can run Spark; one clear sentence says what is missing.

Standard library only, and no import of the package at module level: the Makefile runs this file
alone (``python -I sqlext/environment.py``) with the system's Python before anything is installed.
(``-I`` matters: without it the folder of this file, which has a ``types.py``, shadows the library.)
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from sqlext.errors import SqlExtError

PYTHON_MINIMUM = (3, 10)
JAVA_VERSIONS = (17, 21)

_INSTALL_JAVA = "install one (Debian and Ubuntu: apt-get install openjdk-17-jre-headless) or set JAVA_HOME"
# What pip and Ivy print when they cannot reach their registry at all.
_UNREACHABLE = re.compile(
    r"NewConnectionError|NameResolutionError|ConnectTimeout|ReadTimeout|ProxyError|SSLError"
    r"|ConnectionResetError|Max retries exceeded|Temporary failure in name resolution"
    r"|Server access error|Connection refused|timed out|UnknownHost",
    re.IGNORECASE,
)


class Problem(NamedTuple):
    """What is wrong with the machine, and what to do about it."""

    code: str
    message: str
    hint: str | None = None

    def __str__(self) -> str:
        """Return one sentence."""
        return f"{self.code}: {self.message}" + (f"; {self.hint}" if self.hint else "")

    def error(self) -> SqlExtError:
        """Return this problem as the error that users of the package see."""
        from sqlext.errors import SqlExtError

        return SqlExtError(self.code, self.message, hint=self.hint)


class Java(NamedTuple):
    """A Java that Spark runs on: its main version, and where it was found (``PATH``, ``JAVA_HOME (...)``)."""

    version: int
    where: str


def java_problem() -> Problem | None:
    """Return what is wrong with the Java that Spark would start, or None."""
    found = find_java()
    return found if isinstance(found, Problem) else None


def find_java() -> Java | Problem:
    """Return the Java that Spark would start, or what is wrong with it.

    Spark takes JAVA_HOME if it is set, else the ``java`` on PATH; so do we.
    """
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    where = f"JAVA_HOME ({home})" if home else "PATH"
    if java is None or shutil.which(java) is None:
        return Problem("ENV-001", f"no Java found: there is no java in {where}", _INSTALL_JAVA)
    wanted = " or ".join(map(str, JAVA_VERSIONS))
    version = _java_version(java)
    if version is None:
        return Problem("ENV-002", f"{java} does not say which Java it is", _INSTALL_JAVA)
    if version not in JAVA_VERSIONS:
        message = f"Spark needs Java {wanted}, but the java in {where} is version {version}"
        return Problem("ENV-002", message, _INSTALL_JAVA)
    return Java(version, where)


def python_problem() -> Problem | None:
    """Return what is wrong with the running Python, or None."""
    if sys.version_info >= PYTHON_MINIMUM:
        return None
    wanted = ".".join(map(str, PYTHON_MINIMUM))
    running = ".".join(map(str, sys.version_info[:3]))
    return Problem("ENV-003", f"sqlext needs Python {wanted} or newer, but this is {running}")


def pip_problem(log: str) -> Problem:
    """Return why pip failed, judged by what it printed."""
    if _UNREACHABLE.search(log):
        message = "the Python packages could not be downloaded: the package registry cannot be reached"
        return Problem("ENV-004", message, "check the network, or pip's index and proxy settings")
    return Problem("ENV-004", "the Python packages could not be installed: pip failed")


def spark_problem(log: str) -> Problem:
    """Return why the JVM did not start, judged by what it printed."""
    if re.search(r"unresolved dependenc", log, re.IGNORECASE):
        missing = ", ".join(sorted(set(re.findall(r":: (\S+#\S+?): not found", log))))
        what = f"the jars of {missing}" if missing else "Spark's jars"
        message = f"{what} could not be downloaded: the Maven registry cannot be reached"
        return Problem("ENV-005", message, "check the network, or Ivy's settings and cache")
    lines = [line for line in log.splitlines() if line.strip()]
    reason = next((x for x in lines if re.search(r"error|exception", x, re.IGNORECASE)), None)
    said = reason or (lines[-1] if lines else "it said nothing")
    return Problem("ENV-006", f"Spark did not start: {said.strip()}")


def require_java() -> None:
    """Raise ENV-001 or ENV-002 unless Spark would find a Java that it runs on."""
    if problem := java_problem():
        raise problem.error()


def _java_version(java: str) -> int | None:
    try:
        answer = subprocess.run(  # noqa: S603 - the user's own java
            [java, "-version"], capture_output=True, text=True, timeout=60, check=False
        )
    except OSError:
        return None
    # Old versions call themselves 1.8, new ones 17.0.15 or 21.
    # Java tells its version on stderr.
    found = re.search(r'version "(?:1\.)?(\d+)', answer.stderr + answer.stdout)
    return int(found[1]) if found else None


def main(arguments: list[str]) -> int:
    """Check this machine, or with ``--pip-log FILE`` explain a failed installation."""
    if arguments[:1] == ["--pip-log"]:
        log = Path(arguments[1])
        print(f"{pip_problem(log.read_text(errors='replace'))} (see {log})", file=sys.stderr)
        return 1
    problem = python_problem() or java_problem()
    if problem:
        print(problem, file=sys.stderr)
    return 1 if problem else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
