"""The registry of sender algorithms, as the engine has it."""

from __future__ import annotations

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
