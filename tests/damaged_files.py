"""Ways to damage a file, and how a run over it must end: with the right rows, or naming the file and a way on."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from sqlext import SqlExtError

Rows = Mapping[str, list[Any]]


def _checksum(path: Path) -> Path:
    return path.with_name(f".{path.name}.crc")


def _delete(path: Path) -> None:
    path.unlink()


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _cut(path: Path) -> None:
    found = path.read_bytes()
    path.write_bytes(found[: max(1, len(found) // 2)])


def _garble(path: Path) -> None:
    path.write_bytes(bytes(byte ^ 0x5A for byte in path.read_bytes()) or b"x")


#: Each leaves Hadoop's checksum of the file as it was.
DAMAGES: Mapping[str, Callable[[Path], None]] = {"delete": _delete, "empty": _empty, "cut": _cut, "garble": _garble}


def damage(path: Path, how: str) -> None:
    """Damage a file; ``cut, unseen`` takes its checksum away too."""
    way, _, unseen = how.partition(", ")
    DAMAGES[way](path)
    if unseen:
        _checksum(path).unlink(missing_ok=True)


def kinds(root: Path, leaves: tuple[str, ...] = ("in",)) -> list[Path]:
    """Return the first and the last file of each kind below a folder, relative to it.

    Args:
        leaves: parts of paths of files that are left out.
    """
    groups: dict[str, list[Path]] = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root)
        if path.is_file() and not any(part in name.parts for part in leaves):
            groups.setdefault(re.sub(r"[0-9a-f]{8}-[0-9a-f-]+|[0-9a-f]{12,}|\d+", "N", str(name)), []).append(name)
    return [name for found in groups.values() for name in sorted({found[0], found[-1]})]


class Damaged:
    """A folder with a job, of which each trial gets a fresh copy at the same place.

    Args:
        root: the folder, as it is before a trial.
        run: runs the job in it, and returns the rows of its results.

    Attributes:
        kinds: the first and the last file of each kind, but for the inputs.
    """

    def __init__(self, root: Path, run: Callable[[], Rows]) -> None:
        self.root, self._run = root, run
        self.kinds = kinds(root)
        self._kept = root.with_name(f"{root.name}-kept")
        shutil.copytree(root, self._kept)
        self.wanted = run()
        self._renew()

    def _renew(self) -> None:
        shutil.rmtree(self.root)
        shutil.copytree(self._kept, self.root)

    def differs(self, name: Path, how: str) -> bool:
        """Return whether a way to damage a file is another one than the same way with its checksum left."""
        return ", unseen" not in how or _checksum(self._kept / name).exists()

    def told(self, name: Path, how: str) -> SqlExtError | None:
        """Damage a file, and run the job; return its refusal, None if its rows are right."""
        self._renew()
        damage(self.root / name, how)
        error = self._refusal(f"{name}: {how}")
        if error is not None:
            said = f"{error.message} {error.hint}"
            assert name.name.removeprefix(".").removesuffix(".crc") in said, f"{name}: {how}: {said}"
            assert error.hint, f"{name}: {how}: {error}"
        return error

    def all_told(self, names: Iterable[Path], how: str) -> list[SqlExtError | None]:
        """Damage one file after the other; return what ``told`` does of each, or fail with all that are wrong."""
        errors: list[SqlExtError | None] = []
        wrong: list[str] = []
        for name in names:
            try:
                errors.append(self.told(name, how))
            except AssertionError as error:
                wrong.append(str(error))
            except Exception as error:  # noqa: BLE001 - what is no refusal is reported, and the other files are tried
                wrong.append(f"{name}: {how}: {type(error).__name__}: {error}")
        assert not wrong, "\n".join(wrong)
        return errors

    def _refusal(self, what: str) -> SqlExtError | None:
        try:
            found = self._run()
        except SqlExtError as error:
            return error
        assert found == self.wanted, what
        return None
