"""Let Spark read ``s3://`` as ``s3a://``, and say so where it has no file system for a URL."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sqlext.connectors.options import OptionError
from sqlext.locations import scheme_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_S3 = "fs.s3.impl"
_S3A = "org.apache.hadoop.fs.s3a.S3AFileSystem"
_AMAZON, _AZURE = "org.apache.hadoop:hadoop-aws", "org.apache.hadoop:hadoop-azure"
#: Hadoop's file systems that a Spark may lack, with the package that has each; a URL of anything else is the source's.
_PACKAGES = {
    **dict.fromkeys(("s3", "s3a"), _AMAZON),
    **dict.fromkeys(("abfs", "abfss", "wasb", "wasbs"), _AZURE),
    "adl": "org.apache.hadoop:hadoop-azure-datalake",
    "cosn": "org.apache.hadoop:hadoop-cos",
    "gs": "com.google.cloud.bigdataoss:gcs-connector",
    "oss": "org.apache.hadoop:hadoop-aliyun",
}
#: Known to Databricks alone.
_DATABRICKS = "dbfs"
#: A path that is nowhere: where the scheme needs no host or bucket, the folder of all is not listed.
_NOWHERE = "sqlext-looks-whether-there-is-a-file-system"
#: What Hadoop says of a scheme for which it has no file system; or not its class.
NO_FILE_SYSTEM = "No FileSystem for scheme"
_UNKNOWN = re.compile(f"{NO_FILE_SYSTEM}|ClassNotFoundException")


def require_file_system(spark: SparkSession, path: str | None) -> None:
    """Check that Spark has a file system for a URL; a local path is let through.

    Hadoop itself knows ``s3a`` alone. Platforms have file systems of their own for ``s3``, which stay. Where there is
    none, the session takes ``s3`` for ``s3a``.

    Raises:
        OptionError: OPT-014 if there is none.
    """
    scheme = scheme_of(path) if path else None
    if scheme not in _PACKAGES and scheme != _DATABRICKS:
        return
    if scheme == "s3" and not _knows(spark, scheme):
        spark.conf.set(_S3, _S3A)
    if not _knows(spark, scheme):
        raise no_file_system(scheme)


def no_file_system(scheme: str) -> OptionError:
    """Return the refusal of a scheme that Spark does not know."""
    message = f"Spark has no file system for the scheme `{scheme}` here"
    return OptionError("OPT-014", message, option="path", hint=_what_to_do(scheme))


def _what_to_do(scheme: str) -> str:
    if scheme == _DATABRICKS:
        return "only Databricks has it; elsewhere give the URL of the object store behind it, or a local folder"
    package = _PACKAGES.get(scheme)
    if package is None:
        return "give the jar of its file system when Spark is started: spark.jars=..."
    version = ", the version of Spark's Hadoop" if package.startswith("org.apache.hadoop") else ""
    return f"give its package when Spark is started: spark.jars.packages={package}:...{version}"


def _knows(spark: SparkSession, scheme: str) -> bool:
    try:
        # No bucket: nothing is asked on the network.
        spark.read.text(f"{scheme}:///{_NOWHERE}").schema  # noqa: B018 - analysed here, by Spark Connect too
    except Exception as error:  # noqa: BLE001 - whatever else it says, it has a file system
        return _UNKNOWN.search(str(error)) is None
    return True
