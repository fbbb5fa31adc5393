"""The registry of sender algorithms, as the engine has it."""

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


class Algorithm(BaseModel):
    """One algorithm; `switch_needs` says what the switches on its path must do."""

    name: str
    kind: str
    summary: str
    parameters: list[Parameter]
    switch_needs: str
    source: str


def registry() -> list[Algorithm]:
    """All algorithms, in the engine's order."""
    return TypeAdapter(list[Algorithm]).validate_json(_engine.algorithms())


@cache
def needs_thresholds(name: str) -> bool:
    """Whether an algorithm has parameters for the two thresholds of the switches."""
    parameters = {parameter.name for entry in registry() if entry.name == name for parameter in entry.parameters}
    return {"k", "k_dc"} <= parameters
