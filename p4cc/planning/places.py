"""Where a program's source declares what a trace names."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_NAMED_BY = {
    "table": "table",
    "action": "action",
    "state": "state",
    "entered": "block",
    "meter": "meter",
    "register": "register",
}
"""The key of a step that has its declaration's name, by kind of step."""


class Places:
    """File and line of declarations, such as `routes.p4:31`, by the names that steps give them."""

    def __init__(self, declared: Iterable[tuple[str, str, int]]) -> None:
        self._whole: dict[str, str] = {}
        self._ends: dict[str, str | None] = {}
        for name, file, line in declared:
            place = f"{PurePath(file).name}:{line}"
            self._whole.setdefault(name, place)
            # A state is named without its parser: two parsers may have one of its name.
            end = name.rpartition(".")[2]
            self._ends[end] = None if end in self._ends and self._ends[end] != place else place

    def of(self, step: Mapping[str, Any]) -> str:
        """The place of what a step names; empty where the program does not declare it, or not only once."""
        key = _NAMED_BY.get(step["step"])
        if key is None:
            return ""
        name: str = step[key]
        if key == "state":
            return self._ends.get(name) or ""
        # Architectures put the names of pipelines before those of controls.
        parts = name.split(".")
        wholes = (".".join(parts[at:]) for at in range(len(parts)))
        return next((self._whole[whole] for whole in wholes if whole in self._whole), "")

    def add_to(self, steps: Iterable[dict[str, Any]]) -> None:
        """Adds `place` to each step that has one."""
        for step in steps:
            if place := self.of(step):
                step["place"] = place
