"""What notebooks show, without a kernel and without Spark."""

from __future__ import annotations

import json
import sys
from datetime import date, datetime
from decimal import Decimal
from xml.etree import ElementTree

import pytest

from sqlext.errors import SqlExtError
from sqlext.jobs.progress import MicroBatch
from sqlext.jobs.result import DelayCurve
from sqlext.jobs.tables import MOST_ROWS
from sqlext.notebook.charts import curve_svg, laid_out, plan_svg, result_svg, timeline_svg
from sqlext.notebook.magics import _distinct
from sqlext.notebook.views import PlanView, PlotView, TableView, TimelineView
from sqlext.session.api import Session

JOIN = """
CREATE TABLE a (k INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen');
CREATE TABLE b (k INT, t2 TIMESTAMP(3), WATERMARK FOR t2 AS t2) WITH ('connector' = 'datagen');
SELECT a.k, COUNT(*) AS n FROM a JOIN b ON a.k = b.k AND a.ts BETWEEN b.t2 AND b.t2 + INTERVAL '1' HOUR GROUP BY a.k;
"""
START = 1_700_000_000_000
END_OF_TIME = 253_370_764_800_000


def moment(batch: int, watermark: int | None, newest: int | None) -> MicroBatch:
    return MicroBatch(START + 1000 * batch, batch, watermark, newest, 1, 0)


def drawn(svg: str | None) -> list[str]:
    """Return the texts in a picture."""
    assert svg is not None
    return [e.text for e in ElementTree.fromstring(svg).iter() if e.text and e.text.strip()]


def test_a_plan_is_drawn_with_every_input_above_its_reader() -> None:
    (plan,) = (json.loads(text) for text in Session().explain(JOIN, format="json"))
    boxes, edges = laid_out(plan["tree"])
    assert len(edges) == len(boxes) - 1
    assert {b.title for b in boxes} <= set(drawn(plan_svg(plan)))
    assert all(e.y < e.y2 for e in edges)
    for one in boxes:  # no two overlap
        for other in boxes:
            apart = one.x + one.width <= other.x or one.y + one.height <= other.y
            assert one is other or apart or other.x + other.width <= one.x or other.y + other.height <= one.y
    assert [b.title for b in boxes if b.updating] == [boxes[-1].title]


def test_texts_of_plans_are_escaped() -> None:
    plans = Session().explain(JOIN, format="json")
    view = PlanView([json.loads(plans[0])], ["<b> & more"])
    assert "&lt;b&gt; &amp; more" in view._repr_html_()
    assert repr(view) == "<b> & more"
    assert "Spark's EXPLAIN" in repr(PlanView([], Session().explain("SELECT 1")))


def test_how_a_watermark_went() -> None:
    seen = [moment(0, None, START), moment(1, START - 5000, START + 900), moment(2, END_OF_TIME, None)]
    assert {"watermark", "newest row", "job"} <= set(drawn(timeline_svg({"job": seen})))
    assert repr(TimelineView({"job": seen})) == "job: batch 2, watermark end of time, newest row -"
    assert timeline_svg({"job": [moment(0, END_OF_TIME, END_OF_TIME)]}) is None
    assert "<svg" not in TimelineView({})._repr_html_()


def test_a_picture_without_the_packages_that_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(SqlExtError) as caught:
        TimelineView({"job": [moment(0, START, START)]})._repr_html_()
    assert (caught.value.code, caught.value.hint) == ("ENV-011", "pip install 'sqlext-spark[notebook]'")


def test_a_result_over_time() -> None:
    columns = ("item", "window_start", "total", "n")
    rows = [("<pen>", datetime(2024, 1, 1, 10, i), Decimal(i), i) for i in range(3)] + [("ink", None, 7, 1)]
    texts = drawn(result_svg(columns, rows))
    assert {"<pen>", "item", "window_start", "total", "n"} <= set(texts)
    assert "ink" not in texts
    assert "10:01" in texts
    assert repr(PlotView(columns, rows)).splitlines()[-1] == "4 rows"


def test_a_result_without_times_has_bars() -> None:
    rows = [("a", 1), ("b", None), ("c", 3)]
    texts = drawn(PlotView(("k", "n"), rows)._repr_html_())
    assert {"k", "a", "c"} <= set(texts)
    assert drawn(result_svg(("day", "n"), [(date(2024, 1, 1), 1.5), (date(2024, 1, 3), 2.5)]))
    for nothing in ([], [("a", None)]):
        assert "no rows with numbers" in PlotView(("k", "n"), nothing)._repr_html_()


def test_queries_of_one_name_are_all_on_the_timeline() -> None:
    assert dict(_distinct([("a", 1), ("b", 2), ("a", 3)])) == {"a": 1, "b": 2, "a (2)": 3}


def test_rows_are_escaped_counted_and_cut() -> None:
    view = TableView(("a <b>",), [("<script>",), (None,), (True,)], "title & more")
    html = view._repr_html_()
    assert "<script>" not in html
    assert "title &amp; more" in html
    assert "<td>NULL</td>" in html
    assert repr(view).splitlines()[-1] == "3 rows"
    long = TableView(("n",), [(n,) for n in range(MOST_ROWS + 1)])
    assert f"<td>{MOST_ROWS - 1}</td>" in long._repr_html_()
    assert f"<td>{MOST_ROWS}</td>" not in long._repr_html_()
    assert "101 rows, 100 shown" in long._repr_html_()
    assert repr(long).splitlines()[-2:] == ["  ... and 1 more rows", "101 rows"]


def test_numbers_stand_to_the_right() -> None:
    html = TableView(("k", "n", "flag"), [("a", 1, True), ("b", None, False)])._repr_html_()
    assert 'class="dataframe sqlext right2"' in html
    assert ".right2 :is(th, td):nth-child(2)" in html


def test_a_curve_stands_in_place_of_rows() -> None:
    series = {"all rows": [(0, 0.5), (5_000, 0.01), (70_000, 0.0)], "a": [(0, 1.0), (70_000, 0.0)]}
    view = PlotView(["delay"], [["5 s"]], DelayCurve("late rows", series, 5_000))
    assert {"all rows", "a", "late rows (%)", "1 s", "1 min", "0.001", "100"} <= set(drawn(view._repr_html_()))
    assert "5 s" in repr(view)
    assert drawn(curve_svg(DelayCurve("late rows", {"all rows": [(0, 0.0)]})))
