"""Let Spark read ``s3://`` as ``s3a://``, and say so where it can read neither."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sqlext.connectors.options import OptionError
from sqlext.locations import scheme_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_S3 = "fs.s3.impl"
_S3A = "org.apache.hadoop.fs.s3a.S3AFileSystem"
#: What Hadoop says of a scheme for which it has no file system, or not its class.
_UNKNOWN = re.compile("No FileSystem for scheme|ClassNotFoundException")


def require_s3(spark: SparkSession, path: str | None) -> None:
    """Check that Spark has a file system for a path of S3; any other path is let through.

    Hadoop itself knows ``s3a`` alone. Platforms have file systems of their own for ``s3``, which stay. Where there is
    none, the session takes ``s3`` for ``s3a``.

    Raises:
        OptionError: OPT-014 if there is none.
    """
    scheme = scheme_of(path) if path else None
    if scheme == "s3" and not _knows(spark, scheme):
        spark.conf.set(_S3, _S3A)
    if scheme in ("s3", "s3a") and not _knows(spark, scheme):
        hint = (
            "give its package when Spark is started: spark.jars.packages=org.apache.hadoop:hadoop-aws:..., the version"
        )
        raise OptionError(
            "OPT-014",
            f"Spark has no file system for `{scheme}://` here",
            option="path",
            hint=f"{hint} of Spark's Hadoop",
        )


def _knows(spark: SparkSession, scheme: str) -> bool:
    try:
        # No bucket: nothing is asked on the network.
        spark.read.text(f"{scheme}:///").schema  # noqa: B018 - analysed here, by Spark Connect too
    except Exception as error:  # noqa: BLE001 - whatever else it says, it has a file system
        return _UNKNOWN.search(str(error)) is None
    return True
