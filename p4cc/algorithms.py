"""The engine's registry of sender algorithms."""

from __future__ import annotations

from functools import cache
from typing import Literal

from pydantic import BaseModel, TypeAdapter

from p4cc import _engine


class Parameter(BaseModel):
    """One parameter of an algorithm."""

    name: str
    unit: str
    summary: str
    source: str
    type: Literal["number", "choice"]
    default: float | str | None
    min: float | None = None
    max: float | None = None
    options: list[str] = []

    def values(self) -> str:
        """What it may be, for people: `0.5 to 2 segments`, or the words."""
        if self.type == "choice":
            return ", ".join(self.options)
        unit = "" if self.unit in ("", "ratio") else f" {self.unit}"
        return f"{_plain(self.min)} to {_plain(self.max)}{unit}"

    def default_text(self) -> str:
        """Its default, for people; empty where it must be given."""
        return self.default if isinstance(self.default, str) else _plain(self.default)


class Algorithm(BaseModel):
    """One algorithm; `switch_needs` says what the switches on its path must do."""

    name: str
    kind: str
    summary: str
    parameters: list[Parameter]
    switch_needs: str
    source: str

    @property
    def needs_thresholds(self) -> bool:
        """Whether it has parameters for the two thresholds of the switches."""
        return {"k", "k_dc"} <= {parameter.name for parameter in self.parameters}


def _plain(number: float | None) -> str:
    """A number as in a scenario: integers without a point, in groups of three digits."""
    if number is None:
        return ""
    return f"{int(number):_}" if number.is_integer() else f"{number:g}"


def registry() -> list[Algorithm]:
    """All algorithms, in the engine's order."""
    return TypeAdapter(list[Algorithm]).validate_json(_engine.algorithms())


@cache
def _by_name() -> dict[str, Algorithm]:
    return {entry.name: entry for entry in registry()}


def entry_named(name: str) -> Algorithm | None:
    """The algorithm of this name; None if there is none."""
    return _by_name().get(name)
