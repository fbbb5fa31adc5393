"""The packages of the extra `ray`: without them the message says how to get them."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from p4cc.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Generator


@contextmanager
def needs(option: str) -> Generator[None]:
    """Guards the imports of an option; raises UserError where a package is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        cause = f"needs the package {error.name}, which is not installed"
        remedy = "install p4cc with its extra: pip install 'p4cc[ray]' (or the wheel's path with [ray] behind it)"
        raise UserError(cause, place=option, remedy=remedy) from error
