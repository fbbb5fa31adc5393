"""What prints the help, loaded without its slow half.

typer prints help by rich, and imports with it listings of code and coloured tracebacks: pygments and what that needs
take as long as all the rest. Help has neither. So while typer's printer is imported, two modules of rich are stood in
for; a name of theirs is looked up when it is first called. All that is imported later gets the modules themselves.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

HELP = ("--help", "-h")
_SLOW = {"rich.syntax": "Syntax", "rich.traceback": "Traceback"}
"""Modules of rich, and the one name that help's printer takes from each."""


def prepare(words: Sequence[str]) -> None:
    """Imports what prints help if these words of a command line ask for it."""
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

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self._class()(*arguments, **named)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._class(), name)

    def _class(self) -> Any:
        return getattr(import_module(self._module), _SLOW[self._module])
