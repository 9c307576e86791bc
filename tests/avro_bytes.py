"""Values of Avro as bytes, put together by its specification (1.12, "Binary Encoding")."""

from __future__ import annotations

NULL = b"\x00"


def whole(number: int) -> bytes:
    """Return an int or long: zigzag, seven bits a byte, the lowest first."""
    left, found = (number << 1) ^ (number >> 63), bytearray()
    while left > 0x7F:
        found.append(left & 0x7F | 0x80)
        left >>= 7
    return bytes([*found, left])


def some(value: bytes) -> bytes:
    """Return a value that could be NULL: the second branch of the union of null and its type."""
    return whole(1) + value


def text(value: str) -> bytes:
    """Return a string."""
    return whole(len(value.encode())) + value.encode()
