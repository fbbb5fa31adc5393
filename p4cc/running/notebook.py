"""Output in a notebook's cell: HTML that is shown once and then updated in place."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_KERNEL = "ipykernel"


def in_notebook() -> bool:
    """Whether this is the kernel of a notebook; IPython in a terminal is not."""
    if _KERNEL not in sys.modules or "IPython" not in sys.modules:
        return False
    # Checks only modules that the kernel has loaded, because p4cc does not need IPython.
    shell: Any = getattr(sys.modules["IPython"], "get_ipython")()  # noqa: B009 - it has no types here
    return shell is not None and hasattr(shell, "kernel")


def cell() -> Callable[[str], None]:
    """Shows HTML in the running cell and replaces what it showed before; only if `in_notebook()`."""
    from importlib import import_module

    display: Any = import_module("IPython.display")
    handle: Any = display.display(display.HTML(""), display_id=True)
    return lambda html: handle.update(display.HTML(html))
