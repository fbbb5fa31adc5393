"""How large flows are."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from p4cc.scenario.base import KIND, FlowBytes, Model


class FixedSize(Model):
    """All flows have the same size."""

    kind: Annotated[Literal["fixed"], KIND] = "fixed"
    bytes: FlowBytes
    """The size of each flow."""


class UniformSize(Model):
    """Sizes drawn uniformly from an interval."""

    kind: Annotated[Literal["uniform"], KIND] = "uniform"
    min_bytes: FlowBytes
    """The smallest size."""
    max_bytes: FlowBytes
    """The largest size."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.min_bytes > self.max_bytes:
            raise ValueError(f"min_bytes {self.min_bytes} is greater than max_bytes {self.max_bytes}")
        return self


class CdfSize(Model):
    """Sizes from a file of `bytes percent` lines, interpolated linearly (docs/algorithms/traffic.md#uniform)."""

    kind: Annotated[Literal["cdf"], KIND] = "cdf"
    file: Annotated[str, Field(min_length=1, description="Path relative to the scenario or the project.")]


FlowSize = Annotated[FixedSize | UniformSize | CdfSize, Field(discriminator="kind")]
