"""LIKE: patterns as regular expressions."""

from __future__ import annotations

import re


def like_pattern(pattern: str, escape: str) -> re.Pattern[str]:
    """Return what the whole of a text must match: ``%`` is any text, ``_`` one character.

    Args:
        pattern: SQL's.
        escape: makes the character behind it an ordinary one; empty for none.
    """
    parts, position = [], 0
    while position < len(pattern):
        sign = pattern[position]
        if escape and sign == escape and position + 1 < len(pattern):
            position += 1
            parts.append(re.escape(pattern[position]))
        else:
            parts.append({"%": ".*", "_": "."}.get(sign) or re.escape(sign))
        position += 1
    return re.compile("".join(parts), re.DOTALL)
