"""Ask the workers of a Spark whether they can run our code and see our folders, as the start of a query asks them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sqlext.errors import SqlExtError
from sqlext.session.doctor.findings import Finding, refusal, refused
from sqlext.spark.sessions import on_this_machine
from sqlext.spark.workers.look import WorkerReport
from sqlext.spark.workers.needs import STORES, check, has_ours, missing_in
from sqlext.spark.workers.places import in_this_python
from sqlext.spark.workers.ready import asked, require_folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_AREA = "workers"
_CODE = "our code"


def workers(spark: SparkSession, folders: Mapping[str, Path], *, by_url: bool = False) -> Iterator[Finding]:
    """Yield what workers have, what they lack host by host, and whether they see folders that are there.

    Hosts without a free core at that moment are not asked.

    Args:
        folders: where queries keep their state, by what each is called.
        by_url: whether they keep it at a URL.
    """
    try:
        reports = asked(spark, more=(STORES,) if by_url else ())
    except SqlExtError as failed:  # whatever keeps Python from running there
        yield refused(_AREA, "Python", failed, needed=True)
        return
    if good := [report for report in reports if not missing_in(report)]:
        yield Finding(_AREA, _CODE, "ok", _able(spark, good))
    if lacking := refusal(lambda: check(reports)):
        yield refused(_AREA, _CODE, lacking)
    if by_url and not in_this_python(spark) and (lacking := refusal(lambda: check(reports, (STORES,)))):
        yield refused(_AREA, "checkpoints at a URL", lacking)
    if not on_this_machine(spark):
        yield from (_sees(spark, name, folder) for name, folder in folders.items())


def _able(spark: SparkSession, reports: Sequence[WorkerReport]) -> str:
    hosts = ", ".join(dict.fromkeys(report.host for report in reports))
    there = in_this_python(spark) or has_ours(reports)
    how = "runs on" if there else "comes as an archive, when a query needs it, to"
    return f"{how} {hosts}, by Python {reports[0].python}"


def _sees(spark: SparkSession, name: str, folder: Path) -> Finding:
    if error := refusal(lambda: require_folder(spark, folder)):
        return refused(_AREA, name, error, needed=True)
    return Finding(_AREA, name, "ok", f"they see {folder}")
