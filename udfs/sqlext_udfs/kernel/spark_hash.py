"""Compute Spark's ``hash`` (Murmur3 of 32 bits): by its remainder Spark places rows."""

from __future__ import annotations

_MASK = 0xFFFFFFFF
#: The seed of Spark's ``hash``, and what it gives for NULL; all arithmetic is modulo 2 ** 32.
SEED = 42
_WORD = 4


def hash_of_int(number: int) -> int:
    """Return the hash of a non-negative INT, read as unsigned (Murmur3_x86_32.hashInt)."""
    return _finished(_mixed(SEED, number), _WORD)


def hash_of_bytes(data: bytes) -> int:
    """Return the hash of a BINARY, or of a STRING's UTF-8, read as signed (Murmur3_x86_32.hashUnsafeBytes)."""
    found, whole = SEED, len(data) - len(data) % _WORD
    for at in range(0, whole, _WORD):
        found = _mixed(found, int.from_bytes(data[at : at + _WORD], "little"))
    # Unlike others, Spark takes each byte that is left as a word with a sign.
    for byte in data[whole:]:
        found = _mixed(found, byte | (0xFFFFFF00 if byte & 0x80 else 0))
    found = _finished(found, len(data))
    return found - (1 << 32) if found >> 31 else found


def _mixed(found: int, word: int) -> int:
    k = _rotated(word * 0xCC9E2D51 & _MASK, 15) * 0x1B873593 & _MASK
    return (_rotated(found ^ k, 13) * 5 + 0xE6546B64) & _MASK


def _finished(found: int, length: int) -> int:
    found ^= length
    found = (found ^ found >> 16) * 0x85EBCA6B & _MASK
    found = (found ^ found >> 13) * 0xC2B2AE35 & _MASK
    return found ^ found >> 16


def _rotated(number: int, bits: int) -> int:
    return (number << bits | number >> 32 - bits) & _MASK
