"""The page of a query: what its charts are drawn from, and that it is safe and complete."""

from __future__ import annotations

import json
import re
import sys

import pytest

from sqlext import SqlExtError
from sqlext.watermarks.charts import chart, count_points, state_spans, watermark_points
from sqlext.watermarks.history import Sample
from sqlext.watermarks.inputs import END_OF_TIME
from sqlext.watermarks.page import Page, QueryPart
from sqlext.watermarks.why import Asked

HOUR = 3_600_000
EVIL = "</script><b>"


def sample(at: int, state: str, watermark: int | None = 7) -> Sample:
    return Sample(at, watermark, {"a": (watermark, "active"), EVIL: (END_OF_TIME, state)}, 3, 10, 4, 2, 1)


SAMPLES = [sample(0, "active", None), sample(1000, "held"), sample(2000, "held"), sample(3000, "ended")]


def page(samples: list[Sample]) -> Page:
    return Page("q", [QueryPart(Asked(EVIL, "running", bounded=False, report=None), samples)], "Europe/Berlin")


def test_what_is_drawn() -> None:
    points = list(watermark_points(SAMPLES[:2], {"a": "UTC"}, "Europe/Berlin"))
    assert points == [
        {"at": 1000 + HOUR, "input": "a", "watermark": 7},
        {"at": 1000 + HOUR, "input": "the query", "watermark": 7},
    ]
    spans = [s for s in state_spans(SAMPLES, "UTC") if s["input"] == EVIL]
    assert [(s["state"], s["at"], s["until"]) for s in spans] == [
        ("active", 0, 1000),
        ("held", 1000, 3000),
        ("ended", 3000, 3000),
    ]
    assert list(count_points(SAMPLES[:1], "UTC", {"kept": "rows_late", "dropped": "rows_dropped"})) == [
        {"at": 0, "what": "kept", "count": 2},
        {"at": 0, "what": "dropped", "count": 1},
    ]


def test_the_charts_share_their_clock() -> None:
    spec = chart(SAMPLES, {}, "UTC").to_dict()
    assert spec["resolve"]["scale"]["x"] == "shared"
    assert [part["title"].partition(" over")[0] for part in spec["vconcat"]] == [
        "Watermarks",
        "Inputs that are active, idle, held back by alignment, ended",
        "Windows and groups open",
        "Rows read",
        "Rows given out: panes that fired",
        "Late rows",
    ]


def test_a_page_needs_nothing_from_elsewhere_and_names_stay_names() -> None:
    html = page(SAMPLES).html()
    assert html.startswith("<!DOCTYPE html>")
    ours = re.sub(r"<script>.*?</script>", "", html, flags=re.DOTALL)
    assert not re.search(r"src=|href=|@import", ours)
    assert html.count("</script>") == html.count("<script>") == 2
    (values,) = re.findall(r"<script>vegaEmbed\(\"#[^\"]+\", (.*), \{actions: false\}\);</script>", html)
    assert EVIL in str(json.loads(values))
    assert "&lt;/script&gt;&lt;b&gt;" in html
    assert page(SAMPLES)._repr_html_().count("<script>") == 2


def test_nothing_to_draw_is_said() -> None:
    assert "nothing to draw" in page([]).html()
    assert "<script>" not in page([]).html()


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(SqlExtError) as caught:
        page(SAMPLES).html()
    assert (caught.value.code, caught.value.hint) == ("ENV-011", "pip install 'sqlext-spark[plots]'")
