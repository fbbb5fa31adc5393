"""What a scenario reproduces: numbers that a source states, how each is measured here, and the band it should fall in.

A claim without a band is reported, not judged. Bands name their source and are never changed to fit a result.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from p4cc.scenario.base import Model
from p4cc.scenario.flow_claims import FLOW_MEASURES
from p4cc.scenario.samples import (
    AfterPeakMeasure,
    CorrelationMeasure,
    KolmogorovMeasure,
    ReachMeasure,
    SampleMeasure,
)
from p4cc.scenario.where import Interval, OfRuns

ClaimName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,47}$")]
FigureName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 _-]{0,31}$")]


class Band(Interval):
    """Where the measured value should fall."""

    source: Annotated[str, Field(min_length=1, description="Who says so: section of the spec, or OWN.")]


class LimitMeasure(OfRuns):
    """The largest value of a swept column up to which the median run has none of `column` (spec 17, supported).

    With `at_least`: up to which the median run has at least so much of it (spec 17, flows supported).
    """

    kind: Literal["limit"]
    over: str = "senders"
    column: str = "timeouts"
    at_least: float | None = None


class ValueMeasure(OfRuns):
    """A column, over the seeds of each point and then over the points."""

    kind: Literal["value"]
    column: str
    seeds: Literal["median", "mean", "min", "max", "share_above_0"] = "median"
    points: Literal["median", "mean", "min", "max"] = "mean"
    scale: float = 1.0


class TableMeasure(OfRuns):
    """A column of a table of the results: over the rows and seeds of each point, then over the points."""

    kind: Literal["table"]
    table: Annotated[str, Field(pattern=r"^[a-z_]{1,32}$")]
    column: str
    rows: Literal["median", "mean", "min", "max"] = "median"
    points: Literal["median", "mean", "min", "max"] = "mean"
    scale: float = 1.0


class BinsMeasure(OfRuns):
    """Goodput of all flows together in bins of time (table `goodput`), over bins and seeds, then over the points."""

    kind: Literal["bins"]
    start_ns: Annotated[int, Field(ge=0)] = 0
    end_ns: Annotated[int, Field(ge=1)]
    bins: Literal["median", "mean", "min", "max"] = "median"
    points: Literal["median", "mean", "min", "max"] = "mean"
    scale: float = 1.0


class WorstRatioMeasure(OfRuns):
    """The smallest ratio, over the points, of a column's median for one variant to that for another."""

    kind: Literal["smallest_ratio"]
    to_variant: str
    column: str


class FlowShareMeasure(OfRuns):
    """Share of the flows of all seeds whose column is at most a value, in percent."""

    kind: Literal["flow_share"]
    column: str
    at_most: float


class RoundModelMeasure(Model):
    """Rounds, or seconds, from the first window of `from_segments` to the first of `to_segments` in the round model.

    The variant's own slow start runs on an ideal path of this round-trip time.
    """

    kind: Literal["round_model"]
    variant: str
    rtt_ns: Annotated[int, Field(ge=1)]
    from_segments: float | None = Field(default=None, description="The start of the flow if absent.")
    to_segments: float
    unit: Literal["rounds", "seconds"] = "rounds"


class RiseMeasure(OfRuns):
    """Seconds from the first sample with a window of `from_segments` to the first with `to_segments`; needs windows."""

    kind: Literal["rise"]
    flow_id: int
    from_segments: float | None = Field(default=None, description="The start of the flow if absent.")
    to_segments: float


class TraceMeasure(OfRuns):
    """Of the flow that waits longest: how long it got nothing acknowledged (ms), or the largest window before that.

    Of all seeds, the median; needs windows.
    """

    kind: Literal["longest_wait"]
    give: Literal["wait_ms", "peak_segments_before", "segments_after"] = "wait_ms"


class ModelMeasure(Model):
    """The window at which the model of spec 6.5 has its greatest utilisation, searched on the curve itself."""

    kind: Literal["model_peak"]
    printed: bool = Field(default=False, description="The paper's own formula for it, (B + BDP)/(2n), instead.")


class CombineMeasure(Model):
    """Two other claims by name; in a study those of all figures as `FIGURE.NAME`."""

    kind: Literal["ratio", "difference", "increase"]
    of: str
    to: str


class ReadingsMeasure(OfRuns):
    """How many combinations of swept values (readings of the paper) have their limit within an interval.

    The limit is that of `kind: limit`, with `at_least` or without. The note lists them.
    """

    kind: Literal["readings"]
    by: Annotated[list[str], Field(min_length=1, max_length=6)]
    limit: Interval
    over: str = "senders"
    column: str = "timeouts"
    at_least: float | None = None


Measure = Annotated[
    LimitMeasure
    | ValueMeasure
    | TableMeasure
    | BinsMeasure
    | WorstRatioMeasure
    | FlowShareMeasure
    | RoundModelMeasure
    | RiseMeasure
    | TraceMeasure
    | ModelMeasure
    | CombineMeasure
    | ReadingsMeasure
    | SampleMeasure
    | KolmogorovMeasure
    | CorrelationMeasure
    | ReachMeasure
    | AfterPeakMeasure
    | FLOW_MEASURES,
    Field(discriminator="kind"),
]


class Claim(Model):
    """One number."""

    name: ClaimName
    text: Annotated[str, Field(min_length=1)]
    unit: str = ""
    paper: float | None = Field(default=None, description="What the paper states, if it states a number.")
    band: Band | None = None
    measure: Measure
    cause: str = Field(default="", description="The likely cause when the value falls outside the band.")


class Reproduction(Model):
    """The figure of the source that a scenario stands for."""

    figure: FigureName
    note: str = ""
    claims: Annotated[list[Claim], Field(min_length=1, max_length=64)]

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        names = [claim.name for claim in self.claims]
        if len(set(names)) != len(names):
            raise ValueError("two claims have one name; give each its own")
        return self
