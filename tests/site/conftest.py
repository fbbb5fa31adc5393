"""The browser, for tests of the built site."""

from tests.browser import browser, visit

__all__ = ["browser", "visit"]
