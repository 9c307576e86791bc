"""Choose one grouping key per bucket, so that Spark spreads buckets evenly.

Spark places a group by the remainder of its key's Murmur3 hash. The numbers 0 to 7 fall 5 to 3 on two partitions.
Numbers whose hashes leave the remainders 0 to 7 fall 4 to 4, and evenly on 4 and 8 partitions too.
"""

from __future__ import annotations

from itertools import count

_MASK = 0xFFFFFFFF
# The seed of Spark's ``hash``; all arithmetic is modulo 2 ** 32.
_SEED = 42


def bucket_keys(buckets: int) -> tuple[int, ...]:
    """Return the grouping key of each bucket: the least number whose hash leaves the bucket as remainder."""
    # The key is a fact of the state: the same number of buckets must always give the same keys.
    keys: dict[int, int] = {}
    for candidate in count():
        keys.setdefault(spark_hash(candidate) % buckets, candidate)
        if len(keys) == buckets:
            return tuple(keys[b] for b in range(buckets))
    raise AssertionError


def spark_hash(number: int) -> int:
    """Return Spark's ``hash`` of a non-negative INT, read as unsigned (Murmur3_x86_32.hashInt)."""
    k = _rotated(number * 0xCC9E2D51 & _MASK, 15) * 0x1B873593 & _MASK
    h = (_rotated(_SEED ^ k, 13) * 5 + 0xE6546B64) & _MASK
    h ^= 4  # the length of an INT in bytes
    h = (h ^ h >> 16) * 0x85EBCA6B & _MASK
    h = (h ^ h >> 13) * 0xC2B2AE35 & _MASK
    return h ^ h >> 16


def _rotated(number: int, bits: int) -> int:
    return (number << bits | number >> 32 - bits) & _MASK
