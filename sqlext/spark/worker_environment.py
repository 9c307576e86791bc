"""What the embedded Spark's processes are started with, so that Python's columns cost what they should.

Workers make and drop arrays of many megabytes in each task. glibc gives each of these back to the system, and gets it
anew page by page: a third of a worker's processor time where a job has many groups. And numpy sorts by instructions
(AVX-512's compressed stores) that AMD's Zen 4 has in microcode alone: by those of AVX2 it sorts five times as fast.
"""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path

#: Memory of up to 128 MB comes from the heap, of which up to 256 MB stay when they are free.
_MALLOC = {"MALLOC_MMAP_THRESHOLD_": str(1 << 27), "MALLOC_TRIM_THRESHOLD_": str(1 << 28)}
#: What AVX-512 is called by numpy, from 2.4 on and before.
_AVX512 = "X86_V4 AVX512_ICL AVX512_SPR"
_AVX512_BEFORE = "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR"
_RENAMED = (2, 4)
_ZEN_4 = "25"


def worker_environment(cpuinfo: Path = Path("/proc/cpuinfo")) -> dict[str, str]:
    """Return the variables; where a variable is set, it stays.

    Args:
        cpuinfo: tells which processor this is.
    """
    if sys.platform != "linux":
        return {}
    return {**_MALLOC, "NPY_DISABLE_CPU_FEATURES": _avx512()} if _is_zen_4(cpuinfo) else dict(_MALLOC)


def _avx512() -> str:
    major, minor = version("numpy").split(".")[:2]
    return _AVX512 if (int(major), int(minor)) >= _RENAMED else _AVX512_BEFORE


def _is_zen_4(cpuinfo: Path) -> bool:
    """Return whether a processor is of AMD's family 25 and has AVX-512, which Zen 3, of the same family, has not."""
    try:
        first = cpuinfo.read_text(errors="replace").partition("\n\n")[0]
    except OSError:
        return False
    said = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in first.splitlines())}
    amd = said.get("vendor_id") == "AuthenticAMD" and said.get("cpu family") == _ZEN_4
    return amd and "avx512f" in said.get("flags", "").split()
