"""The browser that looks at the live page."""

from tests.browser import browser, visit

__all__ = ["browser", "visit"]
