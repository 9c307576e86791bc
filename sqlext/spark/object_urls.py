"""Let Spark read ``s3://`` as ``s3a://``, and refuse a URL for which it has no file system, or where nobody answers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sqlext.connectors.options import OptionError
from sqlext.errors import SqlExtError
from sqlext.locations import is_remote, scheme_of
from sqlext.spark.failures import sentence

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_S3 = "fs.s3.impl"
_S3A = "org.apache.hadoop.fs.s3a.S3AFileSystem"
_AMAZON, _AZURE = "org.apache.hadoop:hadoop-aws", "org.apache.hadoop:hadoop-azure"
#: Hadoop's file systems that a Spark may lack, with the package that has each.
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
#: The data source that takes any file.
_TEXT = "text"
#: A path that is nowhere: where the scheme needs no host or bucket, the folder of all is not listed.
_NOWHERE = "sqlext-looks-whether-there-is-a-file-system"
#: What Hadoop says of a scheme for which it has no file system; or not its class.
NO_FILE_SYSTEM = "No FileSystem for scheme"
_UNKNOWN = re.compile(f"{NO_FILE_SYSTEM}|ClassNotFoundException")
#: What Spark says where all is well but the file.
_NO_FILE = "PATH_NOT_FOUND"


def require_file_system(spark: SparkSession, path: str | None, form: str | None = None) -> None:
    """Check that Spark has a file system for a URL; a local path is let through.

    Hadoop itself knows ``s3a`` alone. Platforms have file systems of their own for ``s3``, which stay. Where there is
    none, the session takes ``s3`` for ``s3a``.

    Args:
        form: Spark's data source that reads or writes there. It is asked itself for a scheme that is none of Hadoop's:
            it may be its own.

    Raises:
        OptionError: OPT-014 if there is none.
    """
    scheme = scheme_of(path) if path else None
    if scheme is None or scheme == "file":
        return
    asked = form if form and scheme not in _PACKAGES and scheme != _DATABRICKS else _TEXT
    if scheme == "s3" and not _knows(spark, scheme, asked):
        spark.conf.set(_S3, _S3A)
    if not _knows(spark, scheme, asked):
        raise no_file_system(scheme)


def require_answer(spark: SparkSession, path: str | None) -> None:
    """Check that somebody answers at the URL of a folder of files; a local path is let through.

    Raises:
        SqlExtError: RUN-010 with what Spark says.
    """
    if not path or not is_remote(path):
        return
    try:
        # One file that is not there: no folder is listed.
        _asked(spark, f"{path.rstrip('/')}/{_NOWHERE}", _TEXT)
    except Exception as error:
        if _NO_FILE not in str(error):
            raise unreached(path, error) from error


def unreached(path: str, error: Exception) -> SqlExtError:
    """Return the refusal of a URL at which nobody answers (RUN-010), with what Spark has said."""
    return SqlExtError("RUN-010", f"Spark cannot reach `{path}`: {sentence(str(error))}")


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


def _knows(spark: SparkSession, scheme: str, form: str) -> bool:
    try:
        # No bucket: nothing is asked on the network.
        _asked(spark, f"{scheme}:///{_NOWHERE}", form)
    except Exception as error:  # noqa: BLE001 - whatever else it says, it has a file system
        return _UNKNOWN.search(str(error)) is None
    return True


def _asked(spark: SparkSession, path: str, form: str) -> None:
    """Let Spark analyse a source, which it does by Spark Connect too."""
    spark.read.format(form).load(path).schema  # noqa: B018
