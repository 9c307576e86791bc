"""Choose one grouping key per bucket, so that Spark spreads buckets evenly.

Spark places a group by the remainder of its key's Murmur3 hash. The numbers 0 to 7 fall 5 to 3 on two partitions.
Numbers whose hashes leave the remainders 0 to 7 fall 4 to 4, and evenly on 4 and 8 partitions too.
"""

from __future__ import annotations

from itertools import count

from sqlext_udfs.kernel.spark_hash import hash_of_int


def bucket_keys(buckets: int) -> tuple[int, ...]:
    """Return the grouping key of each bucket: the least number whose hash leaves the bucket as remainder."""
    # The key is a fact of the state: the same number of buckets must always give the same keys.
    keys: dict[int, int] = {}
    for candidate in count():
        keys.setdefault(hash_of_int(candidate) % buckets, candidate)
        if len(keys) == buckets:
            return tuple(keys[b] for b in range(buckets))
    raise AssertionError
