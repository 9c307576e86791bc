"""CURRENT_WATERMARK: what type it has, where it may stand, and what it becomes."""

from __future__ import annotations

import pytest

from sqlext import SqlExtError
from sqlext.plan.base import walk
from sqlext.plan.nodes import Scan
from sqlext.plan.watermark_column import WatermarkColumn
from sqlext.rewrite.script.model import OperatorView, SqlView

from .conftest import Analysis

ON_TIME = "WHERE CURRENT_WATERMARK(ts) IS NULL OR ts > CURRENT_WATERMARK(ts)"

COUNTED = """SELECT window_time, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, window_time"""


def stamped(flink: Analysis, query: str) -> list[WatermarkColumn]:
    """Return the operators of a query that know the watermark."""
    return [node for node in walk(flink.plan(query)) if isinstance(node, WatermarkColumn)]


def test_it_has_the_type_of_its_rowtime_and_is_no_time_attribute(flink: Analysis) -> None:
    query = "SELECT ts, CURRENT_WATERMARK(ts) AS w, CURRENT_WATERMARK(ts) FROM clicks"
    assert flink.columns(query) == {"ts": "TIMESTAMP(3) *ROWTIME*", "w": "TIMESTAMP(3)", "EXPR$2": "TIMESTAMP(3)"}
    assert flink.columns("SELECT CURRENT_WATERMARK(rt) AS w FROM instants") == {"w": "TIMESTAMP_LTZ(3)"}
    assert flink.times(query) == {"ts": "ROWTIME"}
    with pytest.raises(SqlExtError) as refused:
        flink.plan(f"SELECT COUNT(*) FROM ({query}) GROUP BY TUMBLE(w, INTERVAL '1' MINUTE)")
    assert refused.value.code == "TIME-001"


def test_one_operator_for_all_calls_of_a_select(flink: Analysis) -> None:
    (node,) = stamped(flink, f"SELECT user_name, CURRENT_WATERMARK(ts) FROM clicks AS c {ON_TIME}")
    assert [c.name for c in node.sources[0].columns] == ["user_name", "ts"]  # of the rows no more than is looked at
    assert stamped(flink, "SELECT ts FROM clicks") == []


@pytest.mark.newest
def test_it_makes_the_watermark_move(flink: Analysis) -> None:
    """Without it nothing in this query would wait for one."""
    compiled = flink.run("SELECT user_name, COUNT(*) FROM clicks WHERE ts > CURRENT_WATERMARK(ts) GROUP BY user_name")
    assert compiled is not None
    assert "WATERMARK ts DELAY OF INTERVAL '5' SECOND" in str(compiled.script.steps)
    assert [s.function for s in compiled.script.steps if isinstance(s, OperatorView)] == ["watermark", "window"]


@pytest.mark.parametrize(
    "query",
    [
        COUNTED.replace("clicks", "v"),
        f"SELECT COUNT(*) FROM clicks {ON_TIME} GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)",
        "SELECT MAX(CURRENT_WATERMARK(ts)) AS w FROM clicks",
        "SELECT CURRENT_WATERMARK(ts), ROW_NUMBER() OVER (PARTITION BY user_name ORDER BY ts) FROM clicks",
        "SELECT c.ts FROM clicks c JOIN users u ON c.user_name = u.user_name WHERE c.ts > CURRENT_WATERMARK(c.ts)",
        "SELECT window_time, CURRENT_WATERMARK(window_time) FROM counted",
    ],
)
def test_beside_other_clauses(flink: Analysis, query: str) -> None:
    flink.run(f"CREATE VIEW v AS SELECT * FROM clicks {ON_TIME}; CREATE VIEW counted AS {COUNTED}")
    assert len(stamped(flink, query)) == 1
    assert all(n.rowtime for n in walk(flink.plan(query)) if isinstance(n, Scan) and n.is_stream)


REFUSED = {
    "no rowtime": ("SELECT CURRENT_WATERMARK(amount) FROM clicks", "TIME-005", "`amount` is none"),
    "no longer one": ("SELECT CURRENT_WATERMARK(ts + INTERVAL '1' DAY) FROM clicks", "TIME-005", "is none"),
    "processing time": ("SELECT CURRENT_WATERMARK(pt) FROM clicks", "TIME-005", "`pt` is none"),
    "of a static table": ("SELECT CURRENT_WATERMARK(since) FROM users", "TIME-005", "`since` is none"),
    "nothing": ("SELECT CURRENT_WATERMARK() FROM clicks", "TIME-005", "`nothing` is none"),
    "in ON": (
        "SELECT c.ts FROM clicks AS c JOIN users AS u ON c.user_name = u.user_name AND c.ts > CURRENT_WATERMARK(c.ts)",
        "TIME-006",
        "nowhere else",
    ),
    "of a group": (
        "SELECT user_name FROM clicks GROUP BY user_name HAVING CURRENT_WATERMARK(ts) IS NULL",
        "NAME-010",
        r"`CURRENT_WATERMARK\(ts\)` is neither",
    ),
}


@pytest.mark.parametrize(("query", "code", "said"), REFUSED.values(), ids=REFUSED)
def test_refused(flink: Analysis, query: str, code: str, said: str) -> None:
    with pytest.raises(SqlExtError, match=said) as refused:
        flink.plan(query)
    assert refused.value.code == code


def test_batch_mode_has_no_rowtime(flink: Analysis) -> None:
    """As in Flink, where columns are time attributes in streaming mode alone."""
    flink.run("SET 'execution.runtime-mode' = 'batch'")
    with pytest.raises(SqlExtError, match="`ts` is none") as refused:
        flink.plan("SELECT CURRENT_WATERMARK(ts) FROM clicks")
    assert (refused.value.code, "in batch mode" in (refused.value.hint or "")) == ("TIME-005", True)


def test_rows_of_a_partition_stay_together(flink: Analysis) -> None:
    """By a column of theirs they would part, and who counts them by processing time above would see another order."""
    numbered = "SELECT ROW_NUMBER() OVER (PARTITION BY user_name ORDER BY pt) FROM "
    compiled = flink.run(f"{numbered} (SELECT user_name, pt, CURRENT_WATERMARK(ts) AS w FROM clicks)")
    assert compiled is not None
    (stamped,) = (s for s in compiled.script.steps if isinstance(s, OperatorView) and s.function == "watermark")
    (given,) = (s for s in compiled.script.steps if isinstance(s, SqlView) and s.view == stamped.input)
    assert given.sql.startswith("SELECT spark_partition_id() AS c0, ")
