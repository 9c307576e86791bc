"""Say where the catalog's Delta table lies: in a folder, or in an object store behind a URL."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sqlext.errors import SqlExtError
from sqlext.locations import PathOrText, catalog_place
from sqlext.stores.base import ByteStore
from sqlext.stores.folder import FolderStore
from sqlext.stores.naming import in_one_line
from sqlext.stores.objects import delta_options, failure
from sqlext.stores.opening import open_store
from sqlext_catalog.log_damage import damage_of_log

#: The folder of the Delta table inside the catalog's folder, which holds checkpoints and data as well.
TABLE_FOLDER = "definitions"
# delta-rs 1.6 decodes or drops these in a path, or panics.
_UNUSABLE_IN_PATH = re.compile(r"[\x00-\x1f\x7f\[\]\\^|]|%[0-9A-Fa-f]{2}")
# Of a URL it decodes ``%`` always, and it takes no empty part.
_UNUSABLE_IN_URL = re.compile(r"[\x00-\x1f\x7f\[\]\\^|%]|[^:/]/(?=/)|/\.{1,2}(?:/|$)")
# What delta-rs says of a failure of the store itself. A file that is not there is damage.
_OF_STORE = re.compile(r"(?s)(?!.*<Code>NoSuchKey<).*(?:Generic (?:S3|GCS|MicrosoftAzure) error|Error performing \w+ )")

#: What to do where a file cannot be written.
MAKES_ROOM = "look at rights and free space, and run it again: what was there is as it was"


@dataclass(frozen=True)
class TablePlace:
    """Where the table lies.

    Attributes:
        catalog: the absolute path of the catalog's folder, or its URL.
        table: the path or URL of the table, as delta-rs takes it.
        files: those of the table.
        options: what delta-rs needs to reach it; credentials may be among them.
    """

    catalog: Path | str
    table: str
    files: ByteStore
    options: Mapping[str, str] = field(repr=False)

    def unreadable(self, error: Exception) -> SqlExtError:
        """Return the refusal for what reading the table has raised: CAT-030, or RUN-015 where the store failed."""
        if (failed := self._store_failure(error)) is not None:
            return failed
        said = str(error).partition("\n")[0]  # behind it stands where in delta-rs
        return SqlExtError(
            "CAT-030",
            f"the catalog in {self.catalog} cannot be read: {self._damage() or said}",
            hint=f"put the file back from a backup. Without one, move `{self.table}` away and run the scripts that "
            "define its tables: definitions are lost, and neither rows of tables nor the places of queries",
        )

    def _damage(self) -> str | None:
        """Return which file of the log is damaged, None if none is seen, or if nobody can look."""
        try:
            return damage_of_log(self.files, self.table)
        except (OSError, SqlExtError):
            return None

    def unwritable(self, error: Exception) -> SqlExtError:
        """Return the refusal for what writing the table has raised: CAT-035, or RUN-015 where the store failed."""
        failed = self._store_failure(error)
        said = in_one_line(str(error))
        return failed or SqlExtError("CAT-035", f"cannot write the catalog in {self.catalog}: {said}", hint=MAKES_ROOM)

    def _store_failure(self, error: Exception) -> SqlExtError | None:
        """Return the refusal for an answer of an object store: its own text may quote a request's credentials."""
        if isinstance(self.catalog, Path) or _OF_STORE.match(str(error)) is None:
            return None
        return failure(self.catalog, error)


def table_place(catalog: PathOrText, settings: Mapping[str, str] | None = None) -> TablePlace:
    """Return where the table of a catalog lies. Nothing is opened.

    Args:
        catalog: its folder or URL.
        settings: Spark's, or Hadoop's; see ``ObjectStore``.

    Raises:
        SqlExtError: CAT-032 for a place that cannot hold a catalog, CAT-038 for a URL of another kind; ENV-011,
            RUN-015 as ``open_store``.
    """
    place = catalog_place(catalog)
    if isinstance(place, Path):
        _check_folder(place)
        table = place / TABLE_FOLDER
        # As delta-rs: a definition that a machine loses with its power is given anew, and reading notices it.
        return TablePlace(place, str(table), FolderStore(table, synced=False), {})
    _check_url(place)
    url = f"{place}/{TABLE_FOLDER}"
    return TablePlace(place, url, open_store(url, settings), delta_options(url, settings or {}))


def _check_folder(directory: Path) -> None:
    if _UNUSABLE_IN_PATH.search(str(directory)):
        hint = "choose a folder without control characters, [ ] \\ ^ | and %XX in its path"
        raise _refused(directory, "the path has a character that Delta cannot use", hint)
    if directory.is_file():
        raise _refused(directory, "it is a file", "choose a folder; it is made if it is not there")


def _check_url(url: str) -> None:
    if _UNUSABLE_IN_URL.search(url):
        hint = "choose a URL without control characters, [ ] \\ ^ | % and empty parts in its path"
        raise _refused(url, "the path has a part that Delta cannot use", hint)


def _refused(place: Path | str, why: str, hint: str) -> SqlExtError:
    return SqlExtError("CAT-032", f"the catalog cannot lie in {str(place)!r}: {why}", hint=hint)
