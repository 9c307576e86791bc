"""Answer ANALYZE WATERMARK: read the event times of a table in this process, and say how late they are."""

from __future__ import annotations

import warnings
from dataclasses import replace
from tempfile import TemporaryDirectory

from sqlext.errors import SqlExtError
from sqlext.jobs.result import DelayCurve, Result
from sqlext.local.arrivals import arrivals_read
from sqlext.rewrite.arrow.in_process import LocalScript
from sqlext.session.introspection.advisor import Analyzed
from sqlext.session.local_plans import NotLocalError, local_select
from sqlext.spark.notices import Notice
from sqlext.stores.location import Location
from sqlext.watermarks.advice.alignment import Aligned, aligned
from sqlext.watermarks.advice.arrivals import Arrivals
from sqlext.watermarks.advice.lateness import Lateness
from sqlext.watermarks.advice.rows import COLUMNS, Advice, aligned_in_words

#: Rows of a micro-batch of a source that does not say what came together.
_ROWS = 1000
#: The name of the curve of all partitions.
_ALL = "all rows"


class LatenessNotice(Notice):
    """What the numbers of ANALYZE WATERMARK do not say of themselves."""


def script_here(found: Analyzed) -> LocalScript:
    """Return what reads the event times in this process.

    Raises:
        SqlExtError: TIME-019 where only Spark can read the table.
    """
    try:
        return local_select(found.plan(), found.env)
    except NotLocalError as reason:
        name = found.table.name.name
        message = f"`{name}` cannot be read as ANALYZE WATERMARK reads: {reason}"
        hint = "csv, json and parquet files and Delta tables with plain columns can"
        raise SqlExtError("TIME-019", message, span=found.statement.name_span, hint=hint) from reason


def read_here(found: Analyzed, script: LocalScript) -> Result:
    """Answer a statement whose table is read in this process."""
    rows_per_batch = int(found.options.get("rows-per-batch", _ROWS))
    with TemporaryDirectory(prefix="sqlext-") as folder:
        arrivals = arrivals_read(
            script, Location(folder), by=found.by is not None, future=found.future, rows_per_batch=rows_per_batch
        )
    return answered(found, arrivals)


def answered(found: Analyzed, arrivals: Arrivals) -> Result:
    """Return the result of a statement."""
    waited = aligned(arrivals, found.assumed)
    advice = _advice(found, waited.arrivals)
    told = [*advice.warnings()]
    if found.alignment is not None:
        told.append(_of_alignment(found, waited, advice, arrivals))
    if found.declared is not None and found.delay is None:
        told.append(f"The declared watermark, {found.declared.expression}, is no constant delay: it is not judged.")
    for text in told:
        warnings.warn(text, LatenessNotice, stacklevel=2)
    curve = DelayCurve("late rows", {label or _ALL: points for label, points in advice.curve().items()}, found.delay)
    return Result(COLUMNS, advice.rows(), notices=(advice.summary(), *advice.wrong_windows(), *told), curve=curve)


def _advice(found: Analyzed, arrivals: Arrivals) -> Advice:
    lateness = Lateness(arrivals, found.assumed, found.windows)
    return Advice(lateness, found.delay, found.delays, found.partitions)


def _of_alignment(found: Analyzed, waited: Aligned, advice: Advice, arrivals: Arrivals) -> str:
    """Return what alignment changes, or why it changes nothing."""
    if found.assumed.drift is None:
        return (
            f"Alignment changes no number here. `{found.table.name.name}` is one input, and waits only for other tables"
            " of its group. These are not read. Partitions of a table wait for each other where each has a watermark:"
            " 'per-partition' = 'true' tries that."
        )
    unaligned = Lateness(arrivals, replace(found.assumed, drift=None), found.windows)
    return aligned_in_words(unaligned, advice.lateness, waited, found.delay or 0)
