"""A damaged log of a Delta table: which file, and how."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlext.stores.folder import FolderStore
from sqlext_catalog.log_damage import damage_of_log


def log(folder: Path, **files: bytes) -> Path:
    """Write files of a log; ``v3_json`` stands for a commit, ``v3_checkpoint_parquet`` for a checkpoint."""
    (folder / "_delta_log").mkdir()
    for name, data in files.items():
        version, _, ending = name.removeprefix("v").partition("_")
        (folder / "_delta_log" / f"{int(version):020}.{ending.replace('_', '.')}").write_bytes(data)
    return folder


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"v0_json": b"{}", "v1_json": b"{}\n{}"}, None),
        ({"v0_json": b"{}", "v2_json": b"{}"}, "00000000000000000001.json` is not there"),
        ({"v0_json": b"{}", "v1_json": b""}, "00000000000000000001.json` is empty"),
        ({"v0_json": b"{", "v1_json": b"{}"}, "00000000000000000000.json` is damaged"),
        ({"v0_json": b"\xff\xfe"}, "00000000000000000000.json` is damaged"),
        ({"v0_json": b"7"}, "00000000000000000000.json` is damaged"),
        # What lies before a checkpoint may be gone.
        ({"v4_checkpoint_parquet": b"PAR1 PAR1", "v5_json": b"{}"}, None),
        (
            {"v4_checkpoint_parquet": b"PAR1 PA", "v5_json": b"{}"},
            "00000000000000000004.checkpoint.parquet` is damaged",
        ),
        ({"v4_checkpoint_parquet": b"PAR1 PAR1", "v6_json": b"{}"}, "00000000000000000005.json` is not there"),
    ],
)
def test_what_is_said(tmp_path: Path, files: dict[str, bytes], said: str | None) -> None:
    folder = log(tmp_path, **files)
    found = damage_of_log(FolderStore(folder), str(folder))
    assert found == (None if said is None else f"`{folder}/_delta_log/{said}")


def test_no_log(tmp_path: Path) -> None:
    assert damage_of_log(FolderStore(tmp_path), str(tmp_path)) is None
