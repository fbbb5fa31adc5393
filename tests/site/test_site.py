"""The built site in a browser: it draws what it should, asks nobody else for anything, and is accessible.

`make docs` builds it, in CI before the tests. A site that is not there or is older than its sources is not looked at.
"""

from __future__ import annotations

import re
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, Literal

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.browser import Visit

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "target" / "site"
SOURCES = ("*.md", "mkdocs.yml", "docs/**/*.*", "experiments/*/*.yaml", "experiments/*/*.md", "p4cc/reference_pages.py")
PAGES = ["index.html", "gallery.html", "reproduction/gst.html", "reproduction/league.html"]
ACCESSIBLE = ["index.html", "gallery.html", "reproduction/league.html"]
WITH_DIAGRAMS = "explanation/architecture.html"
ALL_LOADED = """() => {
  const images = [...document.images];
  for (const one of images) one.loading = 'eager';
  return Promise.all(images.map(one => one.decode().catch(() => one.src)))
    .then(found => found.filter(one => one));
}"""


class Quiet(SimpleHTTPRequestHandler):
    """Files of a folder, without a line for each request."""

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base's name
        """Nothing."""


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """The site's address on this machine."""
    front = SITE / "index.html"
    if not front.is_file():
        pytest.skip("target/site is not built: make docs")
    newer = [path for pattern in SOURCES for path in ROOT.glob(pattern) if path.stat().st_mtime > front.stat().st_mtime]
    if newer:
        pytest.skip(f"target/site is older than {newer[0].relative_to(ROOT)}: make docs")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(SITE)))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("name", [*PAGES, WITH_DIAGRAMS])
def test_a_page_is_whole_and_asks_nobody_else(site: str, visit: Visit, name: str) -> None:
    visited = visit(f"{site}{name}")
    assert visited.page.evaluate(ALL_LOADED) == []
    visited.page.wait_for_load_state("networkidle")
    assert visited.errors == []
    assert [one for one in visited.requests if not one.startswith(site)] == []
    asked = f"{site}assets/mermaid.js" in visited.requests
    assert asked == (name == WITH_DIAGRAMS)


def test_diagrams_are_drawn(site: str, visit: Visit) -> None:
    page = visit(f"{site}{WITH_DIAGRAMS}").page
    # The theme puts each into a closed shadow root in place of its text.
    page.wait_for_selector("div.mermaid")
    page.wait_for_function("document.querySelectorAll('pre.mermaid').length === 0")
    heights = page.eval_on_selector_all("div.mermaid", "all => all.map(one => one.getBoundingClientRect().height)")
    assert len(heights) == (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").count("```mermaid")
    assert min(heights) > 50


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ACCESSIBLE)
def test_a_page_is_accessible(site: str, visit: Visit, name: str, scheme: Literal["light", "dark"]) -> None:
    visited = visit(f"{site}{name}", scheme=scheme)
    assert visited.page.get_attribute("body", "data-md-color-scheme") == {"light": "default", "dark": "slate"}[scheme]
    assert visited.severe() == []


def test_cards_fit_a_phone(site: str, visit: Visit) -> None:
    page = visit(f"{site}gallery.html", size={"width": 390, "height": 844}).page
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    box = page.locator(".p4cc-card").first.bounding_box()
    assert box is not None
    assert 300 < box["width"] <= 390


def test_search_finds_an_experiment(site: str, visit: Visit) -> None:
    visited = visit(f"{site}index.html")
    visited.page.keyboard.press("s")  # The theme's key for it.
    visited.page.keyboard.type("kernel's CUBIC beside ours")
    found = visited.page.locator(".md-search-result__link[href*='gallery.html']")
    found.first.wait_for(state="visible")
    assert visited.errors == []


def test_links_of_the_gallery_lead_somewhere() -> None:
    if not (SITE / "gallery.html").is_file():
        pytest.skip("target/site is not built: make docs")
    text = (SITE / "gallery.html").read_text(encoding="utf-8")
    cards = text[text.index("p4cc-gallery") :]
    links = {one for one in re.findall(r'href="([^":]+)"', cards) if not one.startswith("#")}
    assert len(links) > 100
    wrong: list[str] = []
    for link in links:
        name, _, anchor = link.partition("#")
        target = SITE / name
        if not target.is_file() or (anchor and f'id="{anchor}"' not in target.read_text(encoding="utf-8")):
            wrong.append(link)
    assert wrong == []
