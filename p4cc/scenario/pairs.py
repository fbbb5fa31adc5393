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
    """Bursts and long silences."""

    kind: Annotated[Literal["lognormal"], KIND] = "lognormal"
    sigma: Sigma = Field(default=2.0, description="Standard deviation of the logarithm.")


class CdfGap(Model):
    """Gaps from a file of `ns percent` lines, linear between them; they are scaled, so only their shape counts."""

    kind: Annotated[Literal["cdf"], KIND] = "cdf"
    file: Annotated[str, Field(min_length=1, description="Relative to the scenario or the project.")]


PairGap = Annotated[ExponentialGap | LognormalGap | CdfGap, Field(discriminator="kind")]


class SizeClass(Model):
    """Flow sizes of a part of the pairs."""

    share: Annotated[float, Field(gt=0, le=1e9, description="Relative to the other classes'.")]
    size: FlowSize
    """The sizes of these pairs' flows."""


# docs/algorithms/traffic.md#skewed, step 4: "{small: AliStorage, mid: FB_Hadoop, large: WebSearch with tail
# 30M:99.5, 70M:100} with probability {0.5, 0.3, 0.2}".
DEFAULT_CLASSES = [
    SizeClass(share=share, size=CdfSize(kind="cdf", file=f"experiments/cdf/{name}.cdf"))
    for share, name in ((0.5, "ali_storage"), (0.3, "fb_hadoop"), (0.2, "web_search_long_tail"))
]


class DrawnMatrix(Model):
    """Pairs drawn for each seed: weights of hosts and pods, intensities, classes of sizes.

    All weights are log-normal with mean 1. A matrix that leaves too few or too many pod pairs empty is drawn again.

    Source: docs/algorithms/traffic.md#skewed.
    """

    kind: Annotated[Literal["drawn"], USUAL_KIND] = "drawn"
    pairs: Annotated[int, Field(ge=1, le=100_000)] | None = Field(
        default=None, description="Ordered pairs that talk; as many as hosts if absent."
    )
    sigma: Sigma = Field(default=1.5, description="The skew: sigma of the pairs' intensities.")
    host_sigma: Sigma = Field(default=1.0, description="Sigma of a host's weights as sender and as receiver.")
    pod_sigma: Sigma = Field(default=0.6, description="Sigma of the factors that the hosts of a pod share.")
    gap: PairGap = LognormalGap(kind="lognormal")
    """Gaps between the flows of a pair."""
    classes: Annotated[list[SizeClass], Field(min_length=1, max_length=1_000)] = DEFAULT_CLASSES
    """Classes of flow sizes, of which each pair is given one."""
    empty_share: Annotated[list[Share], Field(min_length=2, max_length=2)] = Field(
        default=[0.15, 0.40], description="Least and largest share of (full) pods' pairs between which nobody talks."
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.empty_share[0] > self.empty_share[1]:
            raise ValueError(f"empty_share falls from {self.empty_share[0]} to {self.empty_share[1]}")
        return self


class FileMatrix(Model):
    """A matrix of one's own: lines of `src dst intensity [sizes [gaps]]`, the last two files of distributions."""

    kind: Annotated[Literal["file"], KIND] = "file"
    file: Annotated[str, Field(min_length=1, description="Relative to the scenario or the project.")]
    size: FlowSize = Field(description="Sizes of pairs that name no file.")
    gap: PairGap = Field(default=ExponentialGap(kind="exponential"), description="Gaps of pairs that name no file.")


Matrix = Annotated[DrawnMatrix | FileMatrix, Field(discriminator="kind")]
