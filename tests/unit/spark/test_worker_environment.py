"""What workers are started with."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from sqlext.spark import worker_processes as module
from sqlext.spark.worker_processes import worker_environment

_CPU = "processor\t: 0\nvendor_id\t: {vendor}\ncpu family\t: {family}\nflags\t\t: fpu {flags}\n\nprocessor\t: 1\n"


def _variables(folder: Path, vendor: str, family: str, flags: str) -> dict[str, str]:
    place = folder / "cpuinfo"
    place.write_text(_CPU.format(vendor=vendor, family=family, flags=flags))
    return worker_environment(place)


@pytest.mark.parametrize(
    ("vendor", "family", "flags", "without"),
    [
        ("AuthenticAMD", "25", "avx2 avx512f", True),
        ("AuthenticAMD", "25", "avx2", False),  # Zen 3
        ("AuthenticAMD", "26", "avx2 avx512f", False),  # Zen 5
        ("GenuineIntel", "6", "avx2 avx512f", False),
    ],
)
@pytest.mark.skipif(sys.platform != "linux", reason="nothing is set there")
def test_numpy_and_arrow_do_without_avx512_where_that_is_slow(
    tmp_path: Path, vendor: str, family: str, flags: str, without: bool
) -> None:
    variables = _variables(tmp_path, vendor, family, flags)
    assert ("NPY_DISABLE_CPU_FEATURES" in variables) is without
    assert ("ARROW_USER_SIMD_LEVEL" in variables) is without
    assert variables["MALLOC_TRIM_THRESHOLD_"] == "268435456"


def test_a_machine_that_does_not_say_what_it_is_has_no_say(tmp_path: Path) -> None:
    assert "NPY_DISABLE_CPU_FEATURES" not in worker_environment(tmp_path / "none")


def test_elsewhere_nothing_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.sys, "platform", "darwin")
    assert worker_environment() == {}


@pytest.mark.skipif(platform.machine() != "x86_64", reason="there are no such names")
def test_numpy_knows_the_names(tmp_path: Path) -> None:
    """It warns of names that it does not know."""
    variables = _variables(tmp_path, "AuthenticAMD", "25", "avx512f") or {"NPY_DISABLE_CPU_FEATURES": ""}
    command = [sys.executable, "-W", "error", "-c", "import numpy"]
    subprocess.run(command, check=True, env={**os.environ, **variables})
