"""Loads the printer of the help without its slow half.

typer prints help by rich, and also imports rich's syntax highlighting and tracebacks, which take as long as the rest
and which help does not use. While typer's printer is imported, two modules of rich are replaced by proxies that import
them at the first call; later imports get the modules themselves.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

HELP = ("--help", "-h")
_SLOW = {"rich.syntax": "Syntax", "rich.traceback": "Traceback"}
"""Modules of rich, and the one name that help's printer takes from each."""


def prepare(words: Sequence[str]) -> None:
    """Imports the printer of help if these words of a command line ask for it."""
    if words and not any(word in HELP for word in words):
        return
    absent = [name for name in _SLOW if name not in sys.modules]
    for name in absent:
        sys.modules[name] = _StandIn(name)
    try:
        import_module("typer.rich_utils")
    finally:
        for name in absent:
            del sys.modules[name]


class _StandIn(ModuleType):
    """A module whose one class is imported when it is used."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        setattr(self, _SLOW[name], _Late(name))


class _Late:
    """Stands for the class of a module."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __call__(self, *arguments: object, **named: object) -> object:
        return self._class()(*arguments, **named)

    def __getattr__(self, name: str) -> object:
        return getattr(self._class(), name)

    def _class(self) -> Callable[..., object]:
        return getattr(import_module(self._module), _SLOW[self._module])
