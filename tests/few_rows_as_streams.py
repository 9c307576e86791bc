"""Keep bounded queries over few rows streams, in tests of what streams do.

Else each would be one batch without state, and no test of a few rows would see state, heartbeats or watermarks. What is
one batch is asked for by ``'sqlext.source' = 'arrow'``.
"""

from __future__ import annotations

from sqlext.rewrite.arrow import choose_source

_FEW = 1 << 20


def keep_streams() -> None:
    """Let tables of less than a megabyte be read as streams, in this process."""
    choose_source.ENOUGH_AT_ONCE = _FEW
