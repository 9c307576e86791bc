"""Have numpy and Arrow work by AVX2 where AVX-512 is slow.

numpy sorts by AVX-512's compressed stores, which AMD's Zen 4 has in microcode only. There, sorting by AVX2 is five
times as fast. Arrow decodes parquet by AVX2 a tenth faster there. Both read their variables once, when they are
imported.
"""

from __future__ import annotations

import os
import sys
from importlib.metadata import version
from pathlib import Path

#: What AVX-512 is called by numpy, from 2.4 on and before.
_AVX512 = "X86_V4 AVX512_ICL AVX512_SPR"
_AVX512_BEFORE = "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR"
_RENAMED = (2, 4)
_ZEN_4 = "25"
_CPUINFO = Path("/proc/cpuinfo")


def vector_environment(cpuinfo: Path = _CPUINFO) -> dict[str, str]:
    """Return the variables with which numpy and Arrow are fast.

    Args:
        cpuinfo: tells which processor this is; where it is not there, nothing is said.
    """
    if not _is_zen_4(cpuinfo):
        return {}
    return {"NPY_DISABLE_CPU_FEATURES": _avx512(), "ARROW_USER_SIMD_LEVEL": "AVX2"}


def use_fast_units() -> None:
    """Set them for this process, which must be one of ours. Where a variable is set, it stays."""
    if "numpy" not in sys.modules:
        for name, value in vector_environment().items():
            os.environ.setdefault(name, value)


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
