"""The cases that do not count as they were recorded, each with its reason. Keep it short.

``LATER``: waits for the work of a later issue. Such a script must be refused with our own error; once
it runs, the suite fails until its entry here is removed. A wrong answer is never accepted.

``GAPS``: our answer is wrong, or Flink's is and we do not follow it; each is told in the README ("not yet"). It
must fail: once it agrees with Flink, the suite fails until its entry goes.

``TIES``: rows that compare equal, of which the query leaves open who comes first. Flink's answer is right, and so is
the other one, in ``ours/<area>/<name>/<sink>.json``. (Spark's operators happen to give Flink's, ours the other one.)

``OURS``: we answer otherwise on purpose. The right rows are in ``ours/<area>/<name>/<sink>.json``.
"""

from __future__ import annotations

_BEFORE_1970 = "rowtimes before 1970 (the watermark of Spark starts there)"

LATER: dict[str, tuple[int, str]] = {
    "tvf_agg/before_1970": (4, _BEFORE_1970),
}

OURS: dict[str, str] = {
    "match_recognize/reluctant_bounds": "rows that can be taken for B B or for B D: Flink's choice depends on its heap",
    "match_recognize/subset_rows": "Flink takes SUBSET and gives NULL for its columns; ours are those of its rows",
    "functions/cast_temporal_to": "Flink rounds fractions before 1970 up (CAST to DATE gives the next day); we cut",
    "functions/temporal_zone_newyork": "Flink's FLOOR(TIMESTAMP_LTZ TO DAY) is 01:00 on a day of 25 hours; ours 00:00",
    "window_join/session_full": "late_sensitive too: as window_dedup/session, r6 was late in Flink and is not with us",
    "window_dedup/session": "not flagged late_sensitive, but it is: Flink's watermark had passed r6 (59 s behind r5 of "
    "the same file) when it was read; we read the file in one micro-batch, where no row is late",
    "errors/hop_slide_gt_size": "HOP with gaps (slide > size) works; the rows are counted by a few lines of Python",
    "errors/over_following": "frames go on behind the row; the sums are made by a few lines of Python",
    "errors/session_two_intervals": "the second length is the maximum; the rows are counted by a few lines of Python",
    "errors/unknown_window_function": "SLIDE is a window of ours; the rows are counted by a few lines of Python",
    "errors/tumble_month": "windows of months work; the rows are counted by a few lines of Python",
}

GAPS: dict[str, str] = {
    "ddl/json_case_and_types": "json: Spark's reader refuses numbers and booleans in quotes, which Flink converts",
    "ddl/json_options": "json: as above; 1.9 for an INT is NULL; an object in a STRING column keeps its blanks",
    "functions/temporal_now": "CURRENT_DATABASE() is Spark's database, not the catalog's",
}

TIES: dict[str, str] = {
    "window_topn/topn_after_agg": "two suppliers have sums of 7.75 in a window: either may be the first",
}

#: Cases of ``LATER`` that wait where Spark reads alone: what Arrow reads is one batch, which needs no watermark.
BY_SPARK: frozenset[str] = frozenset({"tvf_agg/before_1970"})

#: Cases of ``LATER`` that only the data can refuse: they fail while they run.
AT_RUN: frozenset[str] = frozenset({"tvf_agg/before_1970"})


def waits_for(key: str, *, by_arrow: bool = False) -> str | None:
    """Return which later work a case waits for, or None."""
    if key not in LATER or (by_arrow and key in BY_SPARK):
        return None
    issue, what = LATER[key]
    return f"issue {issue}: {what}"
