"""The live page in a browser, against a run of its own: what is drawn, what the controls do, what a change does."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

import pytest

from tests.browser import DESK, PHONE
from tests.p4cc.scenarios import scenario, write

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from playwright.sync_api import Page

    from tests.browser import Visit, Visited

PATIENCE_S = 60
HOSTILE = "<script>document.title='taken'</script><b>star</b>"
DCTCP = {"name": "dctcp", "g": 0.0625, "alpha0": 1.0, "cwnd_min": 1}
NAME = "<img src=x onerror=alert(1)>"
VARIANT = {"name": NAME, "congestion_avoidance": DCTCP}
# Windows of all senders together stay below K, so that only a change brings marks.
QUIET: dict[str, Any] = {
    "title": HOSTILE,
    "variants": [VARIANT],
    "topology": {"kind": "star", "senders": 8, "queue_capacity_pkts": 100},
    "switch": {
        "program": "p4src/v1model/ecn_dual.p4",
        "ecn_profile": "gst",
        "thresholds": {"k_rule": "fixed", "k_pkts": 90, "k_dc_pkts": 95},
    },
    "traffic": {"kind": "incast", "sru_bytes": 400_000_000},
    "transport": {
        "recovery": "newreno",
        "iw": 10,
        "rwnd": 16,
        "rto_min_ns": 2_000_000,
        "rto_init_ns": 2_000_000,
    },
}


@contextmanager
def live(folder: Path, *words: str, **changes: Any) -> Generator[tuple[subprocess.Popen[str], str]]:
    """A watched run in a folder, and the address of its page; it is ended at the end."""
    path, out = write(folder, scenario(**changes)), folder / "out"
    start = [sys.executable, "-m", "p4cc.cli", "run", str(path), "--out", str(out), "--live", *words]
    with subprocess.Popen(start, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            said = process.stderr.readline()
            found = re.match(r"live page: (http://127\.0\.0\.1:\d+/\?token=\S+)$", said)
            assert found, said + process.stderr.read()
            yield process, found[1]
        finally:
            process.kill()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The page of a run that these tests share; it is slow, so that it does not end meanwhile."""
    with live(tmp_path_factory.mktemp("live"), "--speed", "0.0005", **QUIET) as (_, found):
        yield found


def at_state(page: Page, state: str) -> None:
    """Waits until the page says this state."""
    page.wait_for_function("state => document.getElementById('state').dataset.state === state", arg=state)


def paused(page: Page) -> None:
    """Lets time stand still, whatever it did."""
    page.wait_for_selector("#state[data-state=running], #state[data-state=paused]")
    if page.locator("#state").get_attribute("data-state") == "running":
        page.locator("#run").click()
        at_state(page, "paused")


def running(page: Page) -> None:
    """Lets time pass at the run's speed."""
    paused(page)
    page.locator("#run").click()
    at_state(page, "running")


def time_ns(page: Page) -> int:
    """Virtual time as the page shows it, down to nanoseconds below a millisecond, else to microseconds."""
    number, unit = (page.locator("#time").text_content() or "").split(" ")
    return round(float(number) * {"µs": 1e3, "ms": 1e6, "s": 1e9}[unit])


def total(page: Page, name: str) -> int:
    """One of the totals."""
    return int((page.locator(f"[data-total={name}] dd").first.text_content() or "").replace(",", ""))


def step(page: Page, span: str, unit: Literal["µs", "ms"]) -> None:
    """Makes a step, and waits for its end."""
    before = page.locator("#time").text_content()
    page.locator("#span").fill(span)
    page.locator("#span-unit").select_option(label=unit)
    page.locator("#step").click()
    page.wait_for_function("text => document.getElementById('time').textContent !== text", arg=before)
    at_state(page, "paused")


def points(page: Page, figure: str) -> int:
    """Points of all lines of a figure that are drawn."""
    return page.evaluate("id => document.getElementById(id).data.reduce((n, line) => n + line.x.length, 0)", figure)


def place(page: Page, figure: str, trace: int, point: int) -> tuple[float, float]:
    """Where a point of a figure stands in the window, in pixels."""
    x, y = page.evaluate(
        """([id, trace, point]) => {
            const figure = document.getElementById(id);
            const { xaxis, yaxis } = figure._fullLayout;
            const { left, top } = figure.getBoundingClientRect();
            const line = figure.data[trace];
            return [
                left + xaxis._offset + xaxis.d2p(line.x.at(point)),
                top + yaxis._offset + yaxis.d2p(line.y.at(point)),
            ];
        }""",
        [figure, trace, point],
    )
    return x, y


def hover(page: Page, figure: str, trace: int, point: int) -> str:
    """Points at a point of a figure; what the label there says.

    A figure that comes into view is drawn again, which takes its label away and may move its axes: as a person
    would, this points again until the label stays.
    """
    page.locator(f"#{figure}").scroll_into_view_if_needed()
    label = page.locator(f"#{figure} .hoverlayer .hovertext").first
    for _ in range(60):
        x, y = place(page, figure, trace, point)
        page.mouse.move(x - 3, y)
        page.mouse.move(x, y)
        page.wait_for_timeout(250)
        if label.is_visible():
            return label.text_content() or ""
    pytest.fail(f"{figure}: no label at point {point} of line {trace}")


def assert_calm(visited: Visited, origin: str) -> None:
    """Nothing went wrong in the browser, and nobody but the run's server was asked."""
    assert not visited.errors
    assert visited.requests
    assert {urlsplit(one).netloc for one in visited.requests} == {urlsplit(origin).netloc}


def test_figures_are_drawn_and_say_what_is_under_the_pointer(visit: Visit, address: str) -> None:
    visited = visit(address)
    page = visited.page
    running(page)
    page.wait_for_function("() => document.getElementById('queues').data?.[0]?.x.length > 20")
    paused(page)
    # What nobody sees is not drawn.
    page.locator("#windows").scroll_into_view_if_needed()
    page.wait_for_function("() => document.getElementById('windows').data?.[0]?.x.length > 1")
    assert points(page, "queues") > 20
    # Eight classes of load, ports that are held and that dropped, hosts, switches, the one that is chosen.
    assert page.locator("#topology .shapelayer path").count() == 13
    assert page.locator("#depths .bars path").count() == 9
    assert page.locator("#readout").text_content() == "Point at a link or a node."
    assert "s1" in hover(page, "topology", 0, 0)
    assert re.search(r"→ .*: \d+ % of 10 Gbit/s", page.locator("#readout").text_content() or "")
    assert "packets at" in hover(page, "queues", 0, 10)
    # The name of a variant and the title are text, and nothing else.
    assert page.locator("#title").text_content() == HOSTILE
    assert NAME in (page.locator("#case").text_content() or "")
    assert page.locator("main img, main b, header img").count() == 0
    assert page.title().startswith(HOSTILE)
    assert_calm(visited, address)


def test_a_hostile_name_is_text_in_a_figure(visit: Visit, address: str) -> None:
    visited = visit(address)
    page = visited.page
    paused(page)
    page.locator("#queues").scroll_into_view_if_needed()
    page.wait_for_selector("#queues .legendtext")
    # Plotly takes some HTML in labels; all names go through `label`.
    page.evaluate(
        """async (name) => {
            const { label } = await import("/static/dom.js");
            await Plotly.restyle("queues", { name: label(name) }, [0]);
        }""",
        HOSTILE,
    )
    assert page.locator("#queues .legendtext").first.text_content() == HOSTILE
    assert_calm(visited, address)


def test_time_is_led_by_buttons_and_keys(visit: Visit, address: str) -> None:
    visited = visit(address)
    page = visited.page
    paused(page)
    stood = time_ns(page)
    page.wait_for_timeout(1_200)
    assert time_ns(page) == stood
    step(page, "2", "ms")
    # Milliseconds are shown with three digits.
    assert abs(time_ns(page) - stood - 2_000_000) <= 1_000
    # Where a button has the focus, the space bar is the button's.
    page.evaluate("() => document.activeElement.blur()")
    page.locator("body").press("Space")
    at_state(page, "running")
    page.locator("body").press("Space")
    at_state(page, "paused")
    assert time_ns(page) > stood + 2_000_000
    page.locator("#span").fill("-1")
    page.locator("#step").click()
    assert "at least 1 ns" in (page.locator("#alerts").text_content() or "")
    page.locator("#speed").select_option("max")
    page.wait_for_function("() => document.getElementById('speed').value === 'max'")
    page.locator("#speed").select_option(label="1 ms a second")
    page.locator("body").press("?")
    assert page.locator("#help").is_visible()
    page.keyboard.press("Escape")
    assert_calm(visited, address)


def test_a_threshold_changed_in_the_page_changes_marks_in_the_run(visit: Visit, address: str) -> None:
    visited = visit(address)
    page = visited.page
    paused(page)
    step(page, "1", "ms")
    assert total(page, "marks_level1") == 0
    page.locator("#switch").select_option("s1")
    busy = page.locator("[data-part=ports] tr", has_text="aggregator")
    busy.get_by_role("button").click()
    page.locator("#edit-k").fill("99999999999")
    page.locator("#edit").get_by_text("Write").click()
    page.wait_for_function("() => document.querySelector('#edit .failed').textContent !== ''")
    page.locator("#edit-k").fill("5")
    page.locator("#edit").get_by_text("Write").click()
    page.locator("#edit").wait_for(state="hidden")
    page.locator("[data-part=ports] tr", has_text="aggregator").locator("td", has_text=re.compile("^5$")).wait_for()
    # A jump ends at the first mark, which the change has brought.
    page.locator("body").press("j")
    page.locator("body").press("m")
    page.wait_for_function("() => document.getElementById('why').textContent.includes('marked packet')")
    step(page, "1", "ms")
    assert total(page, "marks_level1") > 5
    page.wait_for_function("() => document.querySelectorAll('#changes-body ol li').length === 1")
    written = page.locator("#changes-body pre").text_content() or ""
    assert "k: 5" in written
    file = (page.locator("#changes-file").text_content() or "").removeprefix("Written to ")
    assert Path(file).read_text(encoding="utf-8") == written
    # The refused value is the browser's own complaint about an answer of 4xx, and the only one.
    assert [one for one in visited.errors if "400" not in one] == []
    visited.errors.clear()
    assert_calm(visited, address)


def test_a_switch_shows_its_tables_and_what_packets_meet(visit: Visit, address: str) -> None:
    visited = visit(address)
    page = visited.page
    paused(page)
    assert "s1" in hover(page, "topology", 2, 0)
    page.mouse.down()
    page.mouse.up()
    page.wait_for_function("() => document.getElementById('switch').value === 's1'")
    rows = page.locator("[data-part$='egress.ecn.thresholds'] tbody tr")
    rows.first.wait_for()
    entries = rows.count()
    assert entries > 4
    page.locator("#trace").click()
    steps = page.locator("[data-part=trace] li")
    steps.first.wait_for()
    assert "thresholds" in " ".join(steps.all_text_contents())
    page.locator("#links-table summary").click()
    links = page.locator("#links-table tbody tr")
    links.first.wait_for()
    assert links.count() == 10
    page.locator("#links-table input").fill("aggregator")
    page.wait_for_function("() => document.querySelectorAll('#links-table tbody tr').length === 2")
    page.locator("#flows-choose").click()
    page.locator("#picker-search").fill("h3")
    page.locator("#picker label", has_text="h3").first.wait_for()
    page.locator("#picker").get_by_text("Let the run choose").click()
    page.locator("#picker").wait_for(state="hidden")
    assert_calm(visited, address)


@pytest.mark.parametrize(("scheme", "size"), [("light", DESK), ("dark", PHONE)], ids=["light", "dark, phone"])
def test_nothing_serious_stands_in_the_way(
    visit: Visit, address: str, scheme: Literal["light", "dark"], size: Any
) -> None:
    visited = visit(address, scheme=scheme, size=size)
    page = visited.page
    paused(page)
    page.locator("#switch").select_option("s1")
    page.locator("[data-part=ports] tbody tr").first.wait_for()
    assert visited.severe() == []
    assert page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
    page.locator("[data-part=ports] button").first.click()
    assert visited.severe() == []
    assert_calm(visited, address)


def test_the_page_says_that_the_run_has_ended(visit: Visit, tmp_path: Path) -> None:
    with live(tmp_path, "--speed", "max", traffic={"kind": "incast", "sru_bytes": 20_000}) as (process, address):
        visited = visit(address)
        at_state(visited.page, "ended")
        assert "has ended at" in (visited.page.locator("#banner").text_content() or "")
        assert visited.page.locator("#step").is_disabled()
        visited.page.locator("#finish").click()
        assert process.wait(PATIENCE_S) == 0
        visited.page.wait_for_function("() => document.getElementById('banner').textContent.includes('command')")


def test_the_page_says_that_the_connection_broke(visit: Visit, tmp_path: Path) -> None:
    with live(tmp_path, **QUIET) as (process, address):
        visited = visit(address)
        at_state(visited.page, "running")
        process.send_signal(signal.SIGKILL)
        at_state(visited.page, "lost")
        assert "broke" in (visited.page.locator("#banner").text_content() or "")
        assert visited.page.locator("#run").is_disabled()
