"""Reports in a browser: figures are drawn, controls act on all of them, names of an attacker are text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.browser import PHONE, visits
from tests.report.reports import FIGURES, HOSTILE, IMAGE, lab, report_of, swept, without_flows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from tests.browser import Visit, Visited
    from tests.p4cc.scenarios import Ran


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    return swept(tmp_path_factory.mktemp("swept"))


@pytest.fixture(scope="module")
def address(ran: Ran) -> str:
    return report_of(ran.outcome.folder)


@pytest.fixture(scope="module")
def desk(browser: Browser, address: str) -> Iterator[Visited]:
    """One page for tests that leave its variants, seeds and point as they are."""
    with visits(browser) as visit:
        yield shown(visit, address)


def shown(visit: Visit, address: str, **how: Any) -> Visited:
    """The page with all figures drawn."""
    visited = visit(address, **how)
    visited.page.wait_for_selector("html[data-state=ready]", state="attached")
    visited.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    return visited


def titled(page: Page, title: str) -> int:
    """The place of the block below a heading."""
    place = page.locator(".drawn", has=page.get_by_role("heading", name=title, exact=True)).get_attribute("data-block")
    assert place is not None
    return int(place)


def traces(page: Page, place: int, key: str = "name") -> list[Any]:
    """What Plotly draws in a block."""
    script = "([place, key]) => document.querySelector(`[data-block='${place}'] .plot`).data.map((one) => one[key])"
    return page.evaluate(script, [place, key])


def clean(visited: Visited, address: str) -> None:
    """Nothing on the console, nothing asked for but the file, no name that ran."""
    assert visited.errors == []
    assert visited.requests == [address]
    assert visited.page.title() != "taken"
    assert visited.page.locator("img[src=x], .plot b, section script").count() == 0


def test_every_figure_is_drawn_and_has_its_numbers_and_names_are_text(desk: Visited, address: str) -> None:
    page = desk.page
    clean(desk, address)
    assert page.locator("h1").inner_text() == HOSTILE
    assert page.locator("[data-block]").count() == page.locator("[data-state=drawn]").count()
    assert page.locator("#figures .plot").count() == len(FIGURES)
    drawn = page.evaluate("[...document.querySelectorAll('.plot')].map((one) => one.data.length)")
    assert all(drawn), drawn
    offered = page.locator("#figures .modebar-btn").evaluate_all("(all) => all.map((one) => one.ariaLabel)")
    assert "Zoom in" in offered
    assert not [one for one in offered if "share" in one.lower() or "cloud" in one.lower()], "nothing is uploaded"
    # Plotly shows what it was given as text, and no element of it.
    assert page.locator("#figures .plot").first.locator(".ytitle").text_content() == f"goodput {HOSTILE}"
    assert page.locator("#series label").all_inner_texts()[1].strip() == IMAGE
    assert page.locator(".plot[role=group][aria-label]").count() == page.locator(".drawn details").count()
    links = page.locator(f"[data-block='{titled(page, 'Load of links')}'] details")
    links.locator("summary").click()
    # Its numbers are laid out when it opens.
    links.locator("thead th").nth(6).wait_for()
    assert links.locator("thead th").all_inner_texts() == [
        *("from", "to", "rate (Gb/s)", "load (%)", "marks", "drops", "paused (us)")
    ]
    # Both ways of five links: four senders and who they send to.
    assert links.locator("tbody tr").count() == 10


def test_hover_shows_the_value(desk: Visited, ran: Ran) -> None:
    page = desk.page
    plot = page.locator("#figures .plot").first
    plot.scroll_into_view_if_needed()
    # The second point of the first line of markers, where Plotly has it on the page.
    at = plot.evaluate(
        """(one) => {
          const trace = one.data.find((each) => each.mode === 'lines+markers'), box = one.getBoundingClientRect();
          const { xaxis, yaxis } = one._fullLayout;
          const [x, y] = [xaxis._offset + xaxis.d2p(trace.x[1]), yaxis._offset + yaxis.d2p(trace.y[1])];
          return [box.left + x, box.top + y, trace.y[1]];
        }"""
    )
    page.mouse.move(at[0], at[1])
    text = page.locator(".hoverlayer .hovertext").first.text_content()
    assert text is not None
    assert f"{at[2]:.3g}"[:4] in text
    assert "runs: 4" in text
    rows = [row["goodput_bps"] / 1e9 for row in ran.runs if row["senders"] == 4 and row["variant"] == "Reno"]
    middle = sorted(rows)[1:3]
    assert at[2] == pytest.approx(sum(middle) / 2, rel=1e-6)


def test_switches_act_on_all_figures_and_tables(visit: Visit, address: str) -> None:
    page = shown(visit, address).page
    places = [titled(page, title) for title in ("Distributions", "How many", "Depth of a port's queue")]
    before = [traces(page, place, "meta") for place in places]
    assert all({one["series"] for one in of} == {0, 1} for of in before)
    rows = page.locator(f"[data-block='{titled(page, 'Medians and ranges')}'] tbody tr")
    assert rows.count() == 8
    page.get_by_label("Reno").uncheck()
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    for place in places:
        assert {one["series"] for one in traces(page, place, "meta")} == {1}
    assert rows.count() == 4
    swept, cdf = titled(page, HOSTILE), titled(page, "cdf.png")
    medians, counted = traces(page, swept, "y"), traces(page, places[0])[0]
    assert "n = 24" in traces(page, cdf)[0]
    page.locator("#seeds").get_by_label("1", exact=True).uncheck()
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert traces(page, places[0])[0] != counted
    # Figures of the scenario are of the seeds that are on as well.
    assert traces(page, swept, "y") != medians
    assert "n = 12" in traces(page, cdf)[0]
    assert "seed 2" in page.locator(f"[data-block='{places[2]}'] .shown").inner_text()
    page.locator("#point").select_option(index=0)
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert "senders=2, k_pkts=5" in page.locator(f"[data-block='{places[2]}'] .shown").inner_text()
    page.locator("#series").get_by_label(IMAGE).uncheck()
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert traces(page, places[0]) == []
    assert "nothing to show" in (page.locator(f"[data-block='{places[0]}'] .plot").text_content() or "")


def test_axes_become_logarithmic_and_flows_are_picked(desk: Visited) -> None:
    page = desk.page
    place = titled(page, "Chosen flows")
    layout = "(one) => [one.layout.yaxis.type, one.layout.xaxis.type]"
    plot = page.locator(f"[data-block='{place}'] .plot")
    assert plot.evaluate(layout) == ["linear", "linear"]
    page.locator("#axes").select_option("log")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    # Time stays linear: a logarithm of it shows nobody anything.
    assert plot.evaluate(layout) == ["log", "linear"]
    boxes = page.locator(f"[data-block='{place}'] .picks input")
    assert boxes.count() > 3
    before = len(traces(page, place))
    boxes.nth(3).check()
    assert len(traces(page, place)) > before


def test_tables_filter_and_sort(desk: Visited) -> None:
    page = desk.page
    block = page.locator(f"[data-block='{titled(page, 'Every run')}']")
    assert "16 entries" in block.locator(".dt-info").inner_text()
    block.get_by_role("searchbox").fill("k_pkts=15")
    assert "8 entries" in block.locator(".dt-info").inner_text()
    heading = block.locator("th", has_text="goodput").first
    heading.click()
    column = heading.evaluate("(one) => one.cellIndex + 1")
    values = [float(one.replace(",", "")) for one in block.locator(f"tbody td:nth-child({column})").all_inner_texts()]
    assert values == sorted(values)
    assert IMAGE in block.locator("tbody").inner_text()


def test_the_page_is_accessible_and_fits_a_phone_in_light_and_dark(visit: Visit, address: str) -> None:
    visited = shown(visit, address, size=PHONE)
    page = visited.page
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.locator("details summary").first.click()
    assert visited.severe() == []
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    light = page.evaluate(ground)
    page.get_by_role("button", name="Dark").press("Enter")
    assert page.evaluate(ground) != light
    assert page.locator("#theme").get_attribute("aria-pressed") == "true"
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert visited.severe() == []
    assert visited.errors == []


def test_the_colours_are_those_of_the_system(visit: Visit, address: str) -> None:
    page = visit(address, scheme="dark").page
    page.wait_for_selector("html[data-theme=dark]", state="attached")


def test_two_folders_stand_side_by_side(visit: Visit, ran: Ran, tmp_path: Path) -> None:
    other = swept(tmp_path, "topology.queue_capacity_pkts=100", "seeds=[1,2,3]")
    address = report_of(other.outcome.folder, ran.outcome.folder)
    visited = shown(visit, address)
    page = visited.page
    clean(visited, address)
    assert page.locator("#series label").count() == 4
    settings = page.locator(f"[data-block='{titled(page, 'Settings that differ')}'] tbody")
    assert "topology.queue_capacity_pkts\t100\t30" in settings.inner_text()
    metrics = page.locator(f"[data-block='{titled(page, 'Metrics side by side')}']")
    metrics.get_by_role("searchbox").fill("peak_queue_pkts")
    assert metrics.locator("tbody tr").count() == 8
    assert {one["series"] for one in traces(page, titled(page, "Distributions"), "meta")} == {0, 1, 2, 3}


def test_a_lab_has_a_report(visit: Visit, ran: Ran, tmp_path: Path) -> None:
    flows = ran.table("flows").head(12).drop("variant", "algorithm", "senders", "k_pkts", "seed")
    address = report_of(lab(tmp_path / "whole", flows, "all went well"))
    visited = shown(visit, address)
    clean(visited, address)
    assert len(traces(visited.page, titled(visited.page, "Completion times"))) == 1
    text = visited.page.locator("main").inner_text()
    assert f"a warning {HOSTILE}" in text
    assert "How it ended: all went well." in text
    killed = shown(visit, report_of(lab(tmp_path / "killed", flows.clear(), None)))
    assert "it was killed" in killed.page.locator("#notes").inner_text()
    assert "there are no flows" in killed.page.locator("#flows").inner_text()
    assert killed.errors == []


def test_a_run_in_which_nothing_happened_says_so(visit: Visit, tmp_path: Path) -> None:
    address = report_of(without_flows(tmp_path).outcome.folder)
    visited = shown(visit, address)
    clean(visited, address)
    text = visited.page.locator("main").inner_text()
    assert "No flow had finished when its run ended" in text
    assert "Set record.queues_interval_ns" in text
    assert "Set record.windows_interval_ns" in text
    assert "Nothing was marked, dropped or paused" in text
    assert visited.severe() == []
