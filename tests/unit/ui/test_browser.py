"""The page in Debian's Chromium: what a person sees and does. Left out, with a word, where there is no Chromium."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

import sqlext
from sqlext import SqlExtError
from sqlext.ui.server import UiServer, serve
from sqlext_catalog import ddl
from tests.kept_queries import JOINED, SECOND, Kept, KeptQuery

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None or DRIVER is None, reason="no Chromium: apt-get install chromium chromium-driver"
)
FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
    " --disable-component-update --disable-sync --window-size=1300,1400"
)


class Screen:
    """A browser, and what is looked for in it."""

    def __init__(self, browser: webdriver.Chrome) -> None:
        self.browser = browser

    def open(self, url: str) -> None:
        self.browser.get(url)

    def all(self, selector: str) -> list[WebElement]:
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector: str) -> str:
        # In one step: the page may draw itself anew between two.
        script = "return [...document.querySelectorAll(arguments[0])].map(e => e.innerText).join(' ')"
        return str(self.browser.execute_script(script, selector))

    def until(self, holds: Callable[[], object]) -> None:
        waiting = WebDriverWait(self.browser, 30, ignored_exceptions=[StaleElementReferenceException])
        waiting.until(lambda _: holds())

    def button(self, name: str) -> list[WebElement]:
        return [b for b in self.all("button") if b.accessible_name == name]

    def complaints(self) -> list[str]:
        return [entry["message"] for entry in self.browser.get_log("browser")]  # type: ignore[no-untyped-call]


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM or ""
    for flag in FLAGS.split():
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    started = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield started
    started.quit()


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    return Kept(tmp_path, time.time_ns() // 1_000_000)


@pytest.fixture
def server(kept: Kept) -> Iterator[UiServer]:
    with serve(sqlext.connect(catalog=kept.folder), 0) as server:
        yield server


@pytest.fixture
def screen(browser: webdriver.Chrome, server: UiServer) -> Iterator[Screen]:
    """Return a browser for a server that still serves; what it complained about fails the test."""
    screen = Screen(browser)
    yield screen
    found = screen.complaints()
    browser.execute_script("sessionStorage.clear(); localStorage.clear()")
    browser.get("about:blank")
    assert found == []


def test_a_first_query_appears_by_itself_and_goes_on(screen: Screen, server: UiServer, kept: Kept) -> None:
    screen.open(server.url)
    screen.until(lambda: "No query has run" in screen.text("main"))
    kept.add(KeptQuery("etl.per_minute", stands_since=30 * SECOND))
    kept.write_rows()
    screen.until(lambda: len(screen.all(".node")) == 4)
    before = screen.text(".tiles")
    kept.add(KeptQuery("etl.per_minute"))  # 30 s more
    screen.until(lambda: screen.text(".tiles") != before)
    screen.until(lambda: len(screen.all(".chart:not(.late) canvas")) == 6)
    screen.until(lambda: len(screen.all(".rows tbody tr")) == 8)
    assert "holds the query back" in screen.text(".why")
    assert "SELECT item, window_start" in screen.text(".statement pre")
    assert screen.text("[role=status].live") == "live"


#: Plans of five, six and seven steps, and of a join, from the query of a minute's sums.
_HOURS = """SELECT item, window_start, SUM(total) FROM TABLE(TUMBLE(TABLE m, DESCRIPTOR(at), INTERVAL '1' HOUR))
GROUP BY item, window_start, window_end"""
_MINUTES = """m AS (
  SELECT item, window_time AS at, SUM(amount) AS total
  FROM TABLE(TUMBLE(TABLE {input}, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
  GROUP BY item, window_start, window_end, window_time
)"""
_LARGE = "large AS (SELECT item, amount, ts FROM orders WHERE amount > 1)"
PLANS = {
    5: f"""WITH {_LARGE} SELECT item, window_start, SUM(amount)
FROM TABLE(TUMBLE(TABLE large, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY item, window_start, window_end""",
    6: f"WITH {_MINUTES.format(input='orders')} {_HOURS}",
    4: JOINED.partition("\n")[2],
    7: f"WITH {_LARGE}, {_MINUTES.format(input='large')} {_HOURS}",
}


@pytest.mark.parametrize("wide", [1300, 1000, 600, 420])
@pytest.mark.parametrize("steps", PLANS)
def test_a_plan_fits_the_page(screen: Screen, server: UiServer, kept: Kept, steps: int, wide: int) -> None:
    kept.add(KeptQuery("q", f"INSERT INTO per_minute\n{PLANS[steps]}"))
    screen.browser.set_window_size(wide, 1400)
    try:
        screen.open(server.url)
        screen.until(lambda: len(screen.all(".node")) >= steps)
        script = "const e = document.querySelector('.scroll:has(.plan)'); return e.scrollWidth - e.clientWidth"
        screen.until(lambda: screen.browser.execute_script(script) <= 0)
        # What is said of a step stands inside of its box.
        cut = "filter(e => e.scrollWidth > e.clientWidth).length"
        script = f"return [...document.querySelectorAll('.node, .node dd, .node b')].{cut}"
        assert screen.browser.execute_script(script) == 0
    finally:
        screen.browser.set_window_size(1300, 1400)


#: The widest part without the first colour between parts that have it, in seconds. A chart shows 300 s; axes are on its
#: left and right. Only opaque pixels count: those at the edge of a letter may be of any colour.
GAP = """
const canvas = document.querySelectorAll('.chart canvas')[arguments[0]];
const left = 58 * devicePixelRatio, wide = canvas.width - left - 22 * devicePixelRatio, high = canvas.height;
const copy = document.createElement('canvas');
[copy.width, copy.height] = [wide, high];
const drawn = copy.getContext('2d', { willReadFrequently: true });
drawn.drawImage(canvas, left, 0, wide, high, 0, 0, wide, high);
const { data } = drawn.getImageData(0, 0, wide, high);
let [last, widest] = [null, 0];
for (let x = 0; x < wide; x += 1) {
  let found = 0;
  for (let n = 4 * x; n < data.length; n += 4 * wide) found += data[n + 3] > 200 && data[n + 2] - data[n] > 60;
  if (found === 0) continue;
  if (last !== null) widest = Math.max(widest, x - last);
  last = x;
}
return widest * 300 / wide;
"""


def test_lines_end_where_the_query_did_not_run(screen: Screen, server: UiServer, kept: Kept) -> None:
    kept.now -= 140 * SECOND
    kept.add(KeptQuery("q", span=100 * SECOND))
    kept.now += 140 * SECOND
    kept.add(KeptQuery("q", span=60 * SECOND))
    screen.open(server.url)
    screen.until(lambda: len(screen.all(".chart:not(.late) canvas")) == 6)
    for chart in (0, 2):  # a line, and areas
        screen.until(lambda chart=chart: 70 < screen.browser.execute_script(GAP, chart) < 90)


def test_nothing_is_asked_of_others(screen: Screen, server: UiServer, kept: Kept) -> None:
    kept.add(KeptQuery("q"))
    screen.open(server.url)
    screen.until(lambda: len(screen.all(".chart:not(.late) canvas")) == 6)
    asked = screen.browser.execute_script("return performance.getEntriesByType('resource').map(e => e.name)")
    assert asked
    assert [url for url in asked if not url.startswith(server.url)] == []


def test_ten_queries_and_the_keyboard(screen: Screen, server: UiServer, kept: Kept) -> None:
    for number in range(8):
        kept.add(KeptQuery(f"etl.q{number}", span=30 * SECOND))
    kept.add(KeptQuery("etl.bad", status="failed", error=SqlExtError("RUN-041", "`a` is too large", hint="cast it")))
    kept.add(KeptQuery("etl.gone", driven=False))
    kept.add(KeptQuery("etl.matched", JOINED, idle=True))
    screen.open(server.url)
    screen.until(lambda: len(screen.all("nav .query")) == 11)
    names = [b.find_element(By.CSS_SELECTOR, ".name").text for b in screen.all("nav .query")]
    assert names[0] == "etl.matched"  # running ones first
    screen.until(lambda: screen.text("main h2") == "etl.matched")
    assert "payments" in screen.text(".notice.warn")
    screen.until(lambda: len(screen.all(".node.scan .pill.idle")) == 1)
    assert "idle since" in screen.text(".inputs tbody")
    assert "holds the query back" in screen.text(".inputs tbody")
    bad = next(b for b in screen.all("nav .query") if "etl.bad" in b.text)
    bad.send_keys(Keys.ENTER)
    screen.until(lambda: "RUN-041" in screen.text("[role=alert]"))
    assert bad.get_attribute("aria-current") == "true"
    screen.browser.back()
    screen.until(lambda: screen.text("main h2") == "etl.matched")


def test_what_can_be_used_has_a_name(screen: Screen, server: UiServer, kept: Kept) -> None:
    kept.add(KeptQuery("q"))
    screen.open(server.url)
    screen.until(lambda: len(screen.all(".chart:not(.late) canvas")) == 6)
    for element in screen.all("button, [role=img], [role=group], nav, section"):
        assert element.accessible_name, element.get_attribute("outerHTML")


@pytest.mark.parametrize("width", [360, 800, 1600])
def test_widths(screen: Screen, server: UiServer, kept: Kept, width: int) -> None:
    kept.add(KeptQuery("etl.a_query_with_a_name_that_is_rather_long_as_names_of_queries_go", JOINED))
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    screen.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)  # type: ignore[no-untyped-call]
    screen.open(server.url)
    screen.until(lambda: len(screen.all(".chart:not(.late) canvas")) == 6)
    assert screen.browser.execute_script("return document.documentElement.scrollWidth") <= width
    screen.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})  # type: ignore[no-untyped-call]


def test_light_and_dark(screen: Screen, server: UiServer, kept: Kept) -> None:
    def ground() -> str:
        return str(screen.browser.execute_script("return getComputedStyle(document.body).backgroundColor"))

    screen.open(server.url)
    screen.until(lambda: screen.button("Switch to dark"))
    light = ground()
    screen.button("Switch to dark")[0].click()
    screen.until(lambda: ground() != light)
    dark = ground()
    screen.browser.refresh()
    screen.until(lambda: screen.button("Switch to light"))
    assert ground() == dark


def test_stopping_needs_the_token_and_a_second_click(screen: Screen, server: UiServer, kept: Kept) -> None:
    kept.add(KeptQuery("q"))
    screen.open(server.url)
    screen.until(lambda: screen.text("main h2") == "q")
    assert screen.button("Stop") == []
    assert "read-only" in screen.text(".actions")
    screen.open("about:blank")
    screen.open(server.url_to_stop)
    screen.until(lambda: screen.button("Stop"))
    assert server.token not in screen.browser.current_url
    screen.button("Stop")[0].click()
    screen.until(lambda: screen.button("Stop job q"))
    assert list(kept.folder.glob("queries/*/progress/stop")) == []
    screen.button("Stop job q")[0].click()
    screen.until(lambda: "stopping" in screen.text(".actions"))
    assert len(list(kept.folder.glob("queries/*/progress/stop"))) == 1
    kept.add(KeptQuery("q", status="stopped"))
    screen.until(lambda: screen.text(".title .state") == "stopped")


def test_a_day(screen: Screen, server: UiServer, kept: Kept) -> None:
    kept.add(KeptQuery("q", span=25 * 3600 * SECOND, every=60 * SECOND))
    screen.open(server.url)
    screen.until(lambda: screen.button("24 h"))
    screen.button("24 h")[0].click()
    screen.until(lambda: screen.button("24 h")[0].get_attribute("aria-pressed") == "true")
    screen.until(lambda: len(screen.all(".chart:not(.late) canvas")) == 6)


def test_a_query_that_is_dropped_and_comes_again(screen: Screen, server: UiServer, kept: Kept) -> None:
    for name in ("a", "b"):
        kept.add(KeptQuery(name, span=30 * SECOND))
    screen.open(f"{server.url}#query=b")
    screen.until(lambda: screen.text("main h2") == "b")
    kept.state.catalog.apply(ddl.drop_query("b"), "DROP QUERY")
    screen.until(lambda: "there is no query b" in screen.text("main [role=alert]"))
    assert "Reading" not in screen.text("main")
    kept.add(KeptQuery("b", span=30 * SECOND))
    screen.until(lambda: screen.text("main h2") == "b")
    screen.complaints()  # that its rows were not found meanwhile


def test_a_query_that_nobody_chose_is_dropped(screen: Screen, server: UiServer, kept: Kept) -> None:
    for name in ("a", "b"):
        kept.add(KeptQuery(name, span=30 * SECOND))
    screen.open(server.url)
    screen.until(lambda: screen.text("main h2") == "a")
    kept.state.catalog.apply(ddl.drop_query("a"), "DROP QUERY")
    screen.until(lambda: screen.text("main h2") == "b")
    shutil.rmtree(kept.folder)
    screen.until(lambda: "No query has run" in screen.text("main"))
    screen.complaints()


def test_a_catalog_that_cannot_be_read(screen: Screen, server: UiServer, kept: Kept) -> None:
    kept.add(KeptQuery("q", span=30 * SECOND))
    screen.open(server.url)
    screen.until(lambda: screen.text("main h2") == "q")
    log = kept.folder / "definitions" / "_delta_log"
    texts = {file: file.read_bytes() for file in log.iterdir() if file.is_file()}
    for file in texts:
        file.write_text("damaged")
    screen.until(lambda: "CAT-030" in screen.text("[role=alert]"))
    for file, text in texts.items():
        file.write_bytes(text)
    screen.until(lambda: screen.all("[role=alert]") == [])
    screen.complaints()  # the browser's own: requests that were refused


def test_a_server_that_goes_away_and_comes_back(browser: webdriver.Chrome, kept: Kept) -> None:
    kept.add(KeptQuery("q", span=30 * SECOND))
    screen = Screen(browser)
    with serve(sqlext.connect(catalog=kept.folder), 0) as server:
        screen.open(server.url)
        screen.until(lambda: screen.text("main h2") == "q")
    screen.until(lambda: "has not answered since" in screen.text("[role=alert]"))
    assert screen.text("main h2") == "q"
    with serve(sqlext.connect(catalog=kept.folder), urlsplit(server.url).port or 0):
        screen.until(lambda: screen.text("[role=status].live") == "live" and screen.all("[role=alert]") == [])
        browser.get("about:blank")
    screen.complaints()  # that nobody answered


def test_a_step_has_room_for_what_is_said_of_it(screen: Screen, server: UiServer, kept: Kept) -> None:
    kept.add(KeptQuery("q", late=5))
    screen.open(server.url)
    screen.until(lambda: "late" in screen.text(".node.stateful"))
    cut = "return [...document.querySelectorAll('.node')].filter(e => e.scrollHeight > e.clientHeight).length"
    assert screen.browser.execute_script(cut) == 0


def test_late_rows_are_warned_of(screen: Screen, server: UiServer, kept: Kept) -> None:
    kept.add(KeptQuery("q", late=3))
    screen.open(server.url)
    screen.until(lambda: "ANALYZE WATERMARK FOR orders" in screen.text(".notice.warn"))


def test_late_rows_are_drawn_over_the_delay(screen: Screen, server: UiServer, kept: Kept, tmp_path: Path) -> None:
    kept.add(KeptQuery("q", JOINED, late=3))
    kept.add(KeptQuery("silent", status="stopped", span=0))
    screen.open(server.url)
    curves = "figure.chart.late [role=img]"
    screen.until(lambda: len(screen.all(f"{curves} canvas")) == 2)
    (orders, _) = screen.all(curves)
    said = orders.get_attribute("aria-label") or ""
    assert said.startswith("Late rows of orders over the delay: with the declared 10 s at most 3%")
    told = screen.text("section[aria-labelledby=late]")
    assert "With the declared delay of 10 s" in told
    # The warning names the same delay as the text below the curve.
    (enough,) = set(re.findall(r"orders.*?; with (\S+ \w+) it would be at most", told))
    assert f"with {enough} at most" in screen.text(".notice.warn")
    inked = "const c = arguments[0].querySelector('canvas'); const d = c.getContext('2d')"
    inked += ".getImageData(0, 0, c.width, c.height).data; return d.some((v, n) => n % 4 === 3 && v > 0)"
    assert screen.browser.execute_script(inked, orders)
    assert screen.complaints() == []
