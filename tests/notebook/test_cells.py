"""What cells show, in a real kernel."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from .conftest import Executed

pytestmark = pytest.mark.slow


def svgs(html: str) -> list[ElementTree.Element]:
    """Return the pictures in a text of HTML, each well-formed."""
    parts = html.split("<svg")[1:]
    return [ElementTree.fromstring(f"<svg{part.partition('</svg>')[0]}</svg>") for part in parts]


def test_results_are_tables(executed: Executed) -> None:
    html = executed.html("rows")
    assert "<td>events</td>" in html
    assert "<th>key &lt;b&gt;</th>" in html
    assert html.count("<td>a</td>") == 1
    assert "<td>3</td>" in html
    assert "status" not in html
    assert "finished" in executed.text("rows")
    assert "2 rows" in executed.text("rows")


def test_a_result_is_a_picture(executed: Executed) -> None:
    (picture,) = svgs(executed.html("plot"))
    texts = {e.text for e in picture.iter() if e.text}
    assert {"key <b>", "total", "a", "b"} <= texts
    assert len(svgs(executed.html("plot of a variable"))) == 1


def test_the_session_works_in_the_notebooks_spark(executed: Executed) -> None:
    assert executed.text("python").strip() == "[(3,)] True True"
    assert "<td>3</td>" in executed.html("own views")


def test_plans_are_pictures_with_their_texts(executed: Executed) -> None:
    (picture,) = svgs(executed.html("explain"))
    texts = [e.text for e in picture.iter() if e.tag.endswith(("text", "tspan"))]
    assert {"Aggregate", "AssignWindows", "Scan"} <= set(texts)
    assert "Spark SQL:" in executed.html("explain")
    assert len(svgs(executed.html("explain line"))) == 1
    assert "Aggregate(" in executed.text("explain line")


def test_jobs_say_how_far_they_are(executed: Executed) -> None:
    assert "<td>finished</td>" in executed.html("insert")
    rows = executed.html("jobs")
    assert rows.count("<td>summed</td>") == 1
    assert rows.count("<td>stopped</td>") == 1


def test_the_watermark_of_a_query_is_a_picture(executed: Executed) -> None:
    (picture,) = svgs(executed.html("timeline"))
    texts = [e.text for e in picture.iter() if e.text]
    assert {"watermark", "newest row", "event time (UTC)", "endless"} <= set(texts)
    lines = [e for e in picture.iter() if e.get("aria-roledescription") == "line mark"]
    assert len(lines) == 2
    assert svgs(executed.html("one batch")) == []


def test_an_unbounded_query_goes_on_until_it_is_stopped(executed: Executed) -> None:
    assert executed.text("stop").strip() == "False"
    assert "stopped" in executed.text("unbounded")
    buttons = [o for o in executed.outputs("unbounded") if "application/vnd.jupyter.widget-view+json" in o.data]
    assert len(buttons) == 1


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("mistake", "NAME-003"),
        ("python mistake", "did you mean `events`?"),
        ("unknown variable", "nowhere"),
        ("unknown query", "nobody"),
        ("bad variable", "list"),
        ("bad duration", "soon"),
        ("bad plot", "`spark_list` is no result"),
        ("unloaded", "sqlext_jobs"),
    ],
)
def test_mistakes_have_no_traceback(executed: Executed, cell: str, said: str) -> None:
    shown = "\n".join(o.get("text") or "\n".join(o.get("traceback", [])) for o in executed.outputs(cell))
    assert said in shown
    assert "Traceback" not in shown
    assert "File " not in shown


def test_the_notebook_of_a_new_project_runs(executed: Executed) -> None:
    numbers = range(sum(cell.metadata["name"].startswith("starter ") for cell in executed.notebook.cells))
    outputs = [output for number in numbers for output in executed.outputs(f"starter {number}")]
    assert [output for output in outputs if output.output_type == "error"] == []
    last = executed.html(f"starter {numbers[-1]}")
    assert "<td>pen</td>" in last
    assert "<td>4.5</td>" in last


def test_the_cells_of_the_page(executed: Executed) -> None:
    numbers = range(sum(cell.metadata["name"].startswith("page ") for cell in executed.notebook.cells))
    assert [o for number in numbers for o in executed.outputs(f"page {number}") if o.output_type == "error"] == []
    assert "<td>4.5</td>" in executed.html("page 2")
    (picture,) = svgs(executed.html("page 3"))
    assert {"pen", "ink", "total"} <= {e.text for e in picture.iter() if e.text}
