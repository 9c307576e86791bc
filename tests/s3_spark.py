"""A Spark that knows ``s3a://``: Hadoop's connector and the parts of Amazon's SDK that it needs, from Maven.

The connector's own dependency is a bundle of the whole SDK (600 MB); the modules for S3 are 20 MB.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlext.spark.worker_processes import spark_home
from tests.maven_jars import fetched
from tests.s3_server import S3Server

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LOADER = "org.apache.spark.util.MutableURLClassLoader"
_AMAZON, _STREAMS = "software.amazon.awssdk", "software.amazon.s3.analyticsaccelerator"
#: By the Hadoop that a Spark has: what the POM of its hadoop-aws names. Spark 4.2 has 3.5.0, 4.1 has 3.4.2, 4.0 3.4.1.
#: The last one names an SDK whose modules are not in the registry; it works with the next one.
_SDK = {"3.5.0": "2.35.4", "3.4.2": "2.29.52", "3.4.1": "2.29.52"}
_ACCELERATOR = {"3.5.0": "1.3.1", "3.4.2": "1.2.1"}


def fetch_s3a() -> list[Path]:
    """Return the jars for the installed Spark, fetched if need be."""
    hadoop = _hadoop()
    connector = [("org.apache.hadoop", "hadoop-aws", hadoop)]
    if hadoop in _ACCELERATOR:
        connector.append((_STREAMS, "analyticsaccelerator-s3", _ACCELERATOR[hadoop]))
    amazon = tuple((_AMAZON, module, _SDK[hadoop]) for module in ("s3", "s3-transfer-manager", "sts"))
    folders = (
        fetched(f"hadoop-aws-{hadoop}", tuple(connector), transitive=False),
        fetched(f"amazon-s3-{_SDK[hadoop]}", amazon, transitive=True),
    )
    return sorted(jar for folder in folders for jar in folder.glob("*.jar"))


def _hadoop() -> str:
    """Return the version of the Hadoop that the installed Spark has."""
    (client,) = (spark_home() / "jars").glob("hadoop-client-api-*.jar")
    return client.stem.removeprefix("hadoop-client-api-")


def s3a_settings(s3: S3Server) -> dict[str, str]:
    """Return the settings of a Spark of its own that knows a server; for ``local_spark`` in a process of its own."""
    return {"spark.jars": ",".join(map(str, fetch_s3a())), **s3.settings}


def s3a_session(spark: SparkSession, s3: S3Server) -> SparkSession:
    """Return a session of a running Spark that knows a server; the jars come to that Spark with the first one.

    Sessions made of it know the server too, but our own readers and stores know it by the settings of a Session alone:
    ``sqlext.connect(session, settings=s3.settings)``.
    """
    _tell_hadoop(spark, s3)
    return spark.newSession()


def _tell_hadoop(spark: SparkSession, s3: S3Server) -> None:
    """Let Hadoop find connector and server.

    ADD JAR would load the connector a second time, for the tasks: two classes of one name do not know each other.
    """
    context = spark.sparkContext
    jvm, hadoop = context._jvm, context._jsc.hadoopConfiguration()
    loader = _loader_of_all(jvm.java.lang.Thread.currentThread().getContextClassLoader())
    for jar in fetch_s3a():
        loader.addURL(jvm.java.net.URI(jar.as_uri()).toURL())
    # Hadoop remembers for each loader what it did not find there: one that it has not asked yet.
    hadoop.setClassLoader(jvm.java.net.URLClassLoader(context._gateway.new_array(jvm.java.net.URL, 0), loader))
    for name, value in s3.settings.items():
        hadoop.set(name.removeprefix("spark.hadoop."), value)


def _loader_of_all(loader: Any) -> Any:
    """Return the outermost of Spark's class loaders: that of ``spark.jars``, which tasks see as well."""
    found = loader
    while (loader := loader.getParent()) is not None:
        found = loader if loader.getClass().getName() == _LOADER else found
    return found
