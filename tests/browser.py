"""A headless Chromium for tests of pages: what a page asks for, what it complains about, what axe-core finds.

Debian's `chromium` is used; tests are skipped, and say so, where it is not installed. A folder of tests takes the
fixtures by `from tests.browser import browser, visit` in its conftest.py, with both names in `__all__`.
"""

# axe-playwright-python has no types of its own.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from playwright.sync_api import Browser, ConsoleMessage, Page, ViewportSize

CHROMIUM = Path("/usr/bin/chromium")
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
"""Chromium itself asks nobody outside for anything."""
DESK: ViewportSize = {"width": 1280, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}
_WAIT_MS = 60_000


@dataclass
class Visited:
    """A page with all that it asked for and complained about since it was opened."""

    page: Page
    errors: list[str] = field(default_factory=list[str])
    """Errors and warnings on the console, and exceptions that nobody caught."""
    requests: list[str] = field(default_factory=list[str])
    """Addresses that were asked for; `data:` and `blob:` stand in the page itself."""

    def severe(self) -> list[str]:
        """What axe-core finds serious or critical, with where it is."""
        found: dict[str, Any] = Axe().run(self.page).response
        return [
            f"{one['id']}: {one['help']}: {node['target']}: {node.get('failureSummary', '')}"
            for one in found["violations"]
            if one["impact"] in {"serious", "critical"}
            for node in one["nodes"]
        ]


class Visit(Protocol):
    """Opens an address in a page of its own, which goes with the test."""

    def __call__(
        self, address: str, *, scheme: Literal["light", "dark"] = "light", size: ViewportSize = DESK
    ) -> Visited: ...


@contextmanager
def chromium() -> Generator[Browser]:
    """The browser, without a window; skips the test where it is not installed."""
    if not CHROMIUM.exists():
        pytest.skip(f"{CHROMIUM} is not installed (apt-get install chromium)")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=str(CHROMIUM), args=list(QUIET))
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for a module: it ends before tests that run event loops of their own."""
    with chromium() as launched:
        yield launched


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    """Opens pages, which go with the test."""
    with visits(browser) as opened:
        yield opened


@contextmanager
def visits(browser: Browser) -> Generator[Visit]:
    """Opens pages; each has a fresh profile, and all are closed at the end."""
    contexts = []

    def opened(address: str, *, scheme: Literal["light", "dark"] = "light", size: ViewportSize = DESK) -> Visited:
        context = browser.new_context(viewport=size, color_scheme=scheme, reduced_motion="reduce")
        contexts.append(context)
        context.set_default_timeout(_WAIT_MS)
        visited = Visited(context.new_page())
        visited.page.on("console", lambda message: _note(visited, message))
        visited.page.on("pageerror", lambda error: visited.errors.append(str(error)))
        context.on("request", lambda request: _ask(visited, request.url))
        visited.page.goto(address)
        return visited

    yield opened
    for context in contexts:
        context.close()


def _note(visited: Visited, message: ConsoleMessage) -> None:
    if message.type in {"error", "warning"}:
        visited.errors.append(f"{message.type}: {message.text}")


def _ask(visited: Visited, address: str) -> None:
    if not address.startswith(("data:", "blob:")):
        visited.requests.append(address)
