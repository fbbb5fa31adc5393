"""Traffic between pairs of hosts: the skewed model and its even twin, or a user's own matrix.

Source: docs/algorithms/traffic.md#skewed, #gap-scaling.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from p4cc.scenario.base import KIND, USUAL_KIND, Model
from p4cc.scenario.sizes import CdfSize, FlowSize

Sigma = Annotated[float, Field(ge=0, le=5)]
Share = Annotated[float, Field(ge=0, le=1)]


class ExponentialGap(Model):
    """Gaps of a Poisson process."""

    kind: Annotated[Literal["exponential"], KIND] = "exponential"


class LognormalGap(Model):
    """Log-normal gaps: bursts and long silences."""

    kind: Annotated[Literal["lognormal"], KIND] = "lognormal"
    sigma: Sigma = Field(default=2.0, description="Standard deviation of the logarithm.")


class CdfGap(Model):
    """Gaps from a file of `ns percent` lines, interpolated linearly and scaled, so only their shape matters."""

    kind: Annotated[Literal["cdf"], KIND] = "cdf"
    file: Annotated[str, Field(min_length=1, description="Path relative to the scenario or the project.")]


PairGap = Annotated[ExponentialGap | LognormalGap | CdfGap, Field(discriminator="kind")]


class SizeClass(Model):
    """Flow-size distribution for a fraction of the pairs."""

    share: Annotated[float, Field(gt=0, le=1e9, description="Weight relative to the other classes.")]
    size: FlowSize
    """Sizes of these pairs' flows."""


# docs/algorithms/traffic.md#skewed, step 4: "{small: AliStorage, mid: FB_Hadoop, large: WebSearch with tail
# 30M:99.5, 70M:100} with probability {0.5, 0.3, 0.2}".
DEFAULT_CLASSES = [
    SizeClass(share=share, size=CdfSize(kind="cdf", file=f"experiments/cdf/{name}.cdf"))
    for share, name in ((0.5, "ali_storage"), (0.3, "fb_hadoop"), (0.2, "web_search_long_tail"))
]


class DrawnMatrix(Model):
    """Pairs drawn for each seed: weights of hosts and pods, intensities, classes of sizes.

    All weights are log-normal with mean 1. A matrix with too few or too many empty pod pairs is redrawn.

    Source: docs/algorithms/traffic.md#skewed.
    """

    kind: Annotated[Literal["drawn"], USUAL_KIND] = "drawn"
    pairs: Annotated[int, Field(ge=1, le=100_000)] | None = Field(
        default=None, description="Number of ordered pairs that exchange flows; as many as hosts if absent."
    )
    sigma: Sigma = Field(default=1.5, description="Skew: sigma of the pairs' intensities.")
    host_sigma: Sigma = Field(default=1.0, description="Sigma of a host's weights as sender and as receiver.")
    pod_sigma: Sigma = Field(default=0.6, description="Sigma of the factors that the hosts of a pod share.")
    gap: PairGap = LognormalGap(kind="lognormal")
    """Gaps between the flows of a pair."""
    classes: Annotated[list[SizeClass], Field(min_length=1, max_length=1_000)] = DEFAULT_CLASSES
    """Classes of flow sizes; each pair is assigned one."""
    empty_share: Annotated[list[Share], Field(min_length=2, max_length=2)] = Field(
        default=[0.15, 0.40], description="Minimum and maximum fraction of pairs of full pods without any traffic."
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.empty_share[0] > self.empty_share[1]:
            raise ValueError(
                f"the minimum of empty_share, {self.empty_share[0]}, is greater than the maximum, {self.empty_share[1]}"
            )
        return self


class FileMatrix(Model):
    """A user's matrix: lines of `src dst intensity [sizes [gaps]]`, where the last two are files of distributions."""

    kind: Annotated[Literal["file"], KIND] = "file"
    file: Annotated[str, Field(min_length=1, description="Path relative to the scenario or the project.")]
    size: FlowSize = Field(description="Sizes for pairs that name no file.")
    gap: PairGap = Field(default=ExponentialGap(kind="exponential"), description="Gaps for pairs that name no file.")


Matrix = Annotated[DrawnMatrix | FileMatrix, Field(discriminator="kind")]
