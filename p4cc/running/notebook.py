"""The way into a notebook's cell, where there is one: HTML that is shown once and then shown anew in its place."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_KERNEL = "ipykernel"


def in_notebook() -> bool:
    """Whether this is a notebook's kernel; IPython in a terminal is none."""
    if _KERNEL not in sys.modules or "IPython" not in sys.modules:
        return False
    # Only what the kernel has loaded is looked at: p4cc itself does not need IPython.
    shell: Any = getattr(sys.modules["IPython"], "get_ipython")()  # noqa: B009 - it has no types here
    return shell is not None and hasattr(shell, "kernel")


def cell() -> Callable[[str], None]:
    """Shows HTML in the cell that runs, each time in place of the last; for `in_notebook()` alone."""
    from importlib import import_module

    display: Any = import_module("IPython.display")
    handle: Any = display.display(display.HTML(""), display_id=True)
    return lambda html: handle.update(display.HTML(html))
