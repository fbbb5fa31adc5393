"""Which rows a claim is about, by variant and by column values, and the factor of what it measures there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from p4cc.scenario.base import Model

if TYPE_CHECKING:
    from p4cc.json_data import JsonValue


class Interval(Model):
    """Values from `min` to `max`, both included; an absent end is unbounded."""

    min: float | None = None
    """Minimum."""
    max: float | None = None
    """Maximum."""

    @model_validator(mode="after")
    def _has_an_end(self) -> Self:
        if self.min is None and self.max is None:
            raise ValueError("give min, max or both")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError(f"min {self.min} is greater than max {self.max}")
        return self

    def holds(self, value: float) -> bool:
        """Whether a value lies within."""
        return (self.min is None or value >= self.min) and (self.max is None or value <= self.max)


class Cited(Interval):
    """An interval of chosen rows."""

    source: str = Field(
        default="", description="Who chooses so. A source's number may leave out points only as it does."
    )
    """The citation."""


def _not_zero(factor: float) -> float:
    if factor == 0:
        raise ValueError("the factor is 0, which makes every value 0; give another, or leave it out")
    return factor


Factor = Annotated[float, AfterValidator(_not_zero)]
"""Factor of a measured value. Figures divide the source's number by it."""


def _interval_or_value(value: JsonValue) -> JsonValue:
    if isinstance(value, list):
        return {"among": value}
    return value if isinstance(value, dict) else {"is": value}


class Equal(Model):
    """One value."""

    value: str | int | float | bool = Field(alias="is")
    """The value."""


class OneOf(Model):
    """One of several values."""

    among: Annotated[list[str | int], Field(min_length=1, max_length=64)]
    """The values."""


Where = Annotated[
    dict[str, Annotated[Cited | Equal | OneOf, BeforeValidator(_interval_or_value)]],
    Field(description="Columns, each with the value, values or interval that rows must have to be selected."),
]


class OfRuns(Model):
    """Rows of one variant."""

    variant: str
    """Name of the variant."""
    where: Where = Field(default={})
