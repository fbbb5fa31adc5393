"""The browser that looks at reports."""

from tests.browser import browser, visit

__all__ = ["browser", "visit"]
