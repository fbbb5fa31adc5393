"""Optional parts of p4cc: the packages that each needs, and one message where they are missing."""

from __future__ import annotations

from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal

from p4cc.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Generator

Extra = Literal["figures", "report", "live", "lab", "ray"]

_OURS = ("p4cc", "controller", "topos")
_PLOTTING = "matplotlib"


@contextmanager
def needs(place: str, extra: Extra) -> Generator[None]:
    """Guards the imports of a feature; raises UserError where a package of its extra is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] in _OURS:
            raise
        raise _missing(place, error.name, extra) from error


def needs_figures(place: str) -> None:
    """Raises UserError without the extra `figures`, before work whose end would be a figure."""
    if not draws_figures():
        raise _missing(place, _PLOTTING, "figures")


def draws_figures() -> bool:
    """Whether the extra `figures` is installed."""
    return find_spec(_PLOTTING) is not None


def remedy(extra: Extra) -> str:
    """How to install an extra."""
    return f"pip install 'p4cc[{extra}]' (or the wheel's path with [{extra}] behind it)"


def _missing(place: str, package: str, extra: Extra) -> UserError:
    cause = f"needs the package {package.partition('.')[0]}, which is not installed"
    return UserError(cause, place=place, remedy=remedy(extra))
