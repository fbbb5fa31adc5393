"""What a scenario reproduces: numbers that a source states, what p4cc expects of itself, and how each is measured.

The band of a source's number follows from the source alone (p4cc/scenario/stated.py). A claim's history records what
changes after a run.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, model_validator

from p4cc.scenario.base import KIND, Model, kinds
from p4cc.scenario.beside_claims import BesideMeasure
from p4cc.scenario.distribution_claims import (
    AfterPeakMeasure,
    CorrelationMeasure,
    KolmogorovMeasure,
    ReachMeasure,
    Rows,
    SampleMeasure,
    ShiftMeasure,
)
from p4cc.scenario.flow_claims import FLOW_MEASURES, FlowRankMeasure, PodPairMeasure, Sizes
from p4cc.scenario.stated import Band, History, Line, Reading, Stated
from p4cc.scenario.where import Cited, Factor, Interval, OfRuns

if TYPE_CHECKING:
    from collections.abc import Sequence

ClaimName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,47}$")]
FigureName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 _-]{0,31}$")]


class LimitMeasure(OfRuns):
    """Largest value of a swept column up to which `column` is 0 in the median run.

    With `at_least`: largest value up to which `column` reaches at least that much in the median run
    (docs/algorithms/metrics.md#metrics, flows supported).

    Source: docs/algorithms/metrics.md#metrics, supported.
    """

    kind: Annotated[Literal["limit"], KIND]
    over: str = "senders"
    """The swept column."""
    column: str = "timeouts"
    """Column of the runs table."""
    at_least: float | None = None
    """Minimum value of the column; if absent, the column must be 0."""
    beside: float = Field(default=0.0, description="Number added to it, such as flows that are not swept.")


class ValueMeasure(OfRuns):
    """A column aggregated over the seeds of each point, then over the points."""

    kind: Annotated[Literal["value"], KIND]
    column: str
    """Column of the runs table."""
    seeds: Literal["median", "mean", "min", "max", "share_above_0"] = "median"
    """How the seeds of a point are aggregated."""
    points: Literal["median", "mean", "min", "max"] = "mean"
    """How the points are aggregated."""
    scale: Factor = 1.0
    """Factor applied to the value."""
    offset: float = Field(default=0.0, description="Offset added after scaling.")


class TableMeasure(OfRuns):
    """A column of a result table, aggregated over the rows and seeds of each point, then over the points."""

    kind: Annotated[Literal["table"], KIND]
    table: Annotated[str, Field(pattern=r"^[a-z_]{1,32}$")]
    """The result table."""
    column: str
    """Column of that table."""
    rows: Literal["median", "mean", "min", "max"] = "median"
    """How the rows and seeds of a point are aggregated."""
    points: Literal["median", "mean", "min", "max"] = "mean"
    """How the points are aggregated."""
    scale: Factor = 1.0
    """Factor applied to the value."""


class BinsMeasure(OfRuns):
    """Total goodput of all flows in time bins (table `goodput`), aggregated over bins and seeds, then over points."""

    kind: Annotated[Literal["bins"], KIND]
    start_ns: Annotated[int, Field(ge=0)] = 0
    """Earlier bins are ignored."""
    end_ns: Annotated[int, Field(ge=1)]
    """Later bins are ignored."""
    source: str = Field(
        default="",
        description="Who leaves out earlier bins. A source's number may do so only as the source does.",
    )
    """The citation."""
    bins: Literal["median", "mean", "min", "max"] = "median"
    """How the bins and seeds of a point are aggregated."""
    points: Literal["median", "mean", "min", "max"] = "mean"
    """How the points are aggregated."""
    scale: Factor = 1.0
    """Factor applied to the value."""


class WorstRatioMeasure(OfRuns):
    """Smallest ratio, over all points, of a column's median for one variant to that for another.

    With `either_way`, the ratio that is farthest from 1.
    """

    kind: Annotated[Literal["smallest_ratio"], KIND]
    to_variant: str
    """The variant in the denominator."""
    column: str
    """Column of the runs table."""
    either_way: bool = Field(default=False, description="Of all ratios, take the one farthest from 1.")


class FlowShareMeasure(OfRuns):
    """Percentage of flows, over all seeds, whose column is at most `value`."""

    kind: Annotated[Literal["flow_share"], KIND]
    column: str
    """Column of the flows table."""
    at_most: float
    """The threshold."""


class RoundModelMeasure(Model):
    """Rounds or seconds from the first window of `from_segments` to the first of `to_segments` in the round model.

    The variant's slow start runs on an ideal path with this round-trip time.
    """

    kind: Annotated[Literal["round_model"], KIND]
    variant: str
    """The variant whose slow start runs."""
    rtt_ns: Annotated[int, Field(ge=1)]
    """Round-trip time of the path."""
    from_segments: float | None = Field(
        default=None, description="The window at which the count begins; the start of the flow if absent."
    )
    to_segments: float
    """The window at which the count ends."""
    unit: Literal["rounds", "seconds"] = "rounds"
    """The unit of the count."""


class RiseMeasure(OfRuns):
    """Seconds from the first sample with a window of `from_segments` to the first with `to_segments`.

    Needs the `windows` table.
    """

    kind: Annotated[Literal["rise"], KIND]
    flow_id: int
    """The flow."""
    from_segments: float | None = Field(
        default=None, description="The window at which the time begins; the start of the flow if absent."
    )
    to_segments: float
    """The window at which the time ends."""


class TraceMeasure(OfRuns):
    """For the flow that stalls longest: the time without acknowledged data (ms), its begin, or the windows around it.

    The value is the median over the seeds; it needs the `windows` table.
    """

    kind: Annotated[Literal["longest_wait"], KIND]
    give: Literal["wait_ms", "begin_ms", "peak_segments_before", "segments_after"] = "wait_ms"
    """Which property of the flow is reported."""


class ModelMeasure(Model):
    """The window with the highest utilisation in GST's model, searched on the curve itself.

    Source: docs/algorithms/slow-start.md#gst-model.
    """

    kind: Annotated[Literal["model_peak"], KIND]
    printed: bool = Field(
        default=False, description="Use the paper's closed-form approximation, (B + BDP)/(2n), instead."
    )


class ModelSlopeMeasure(Model):
    """The slope of GST's model, dG/dw per packet, where a branch is flattest: of all whole windows of the branch.

    On the rising branch, up to the corner, that is the smallest slope; on the falling one the largest.
    Source: docs/algorithms/slow-start.md#gst-model.
    """

    kind: Annotated[Literal["model_slope"], KIND]
    senders: Annotated[int, Field(ge=1, le=10_000)]
    """Flows that share the bottleneck."""
    branch: Literal["rising", "falling"]
    """The side of the corner."""
    most_segments: Annotated[int, Field(ge=2, le=10_000)]
    """The largest window of the curve."""


class CombineMeasure(Model):
    """Arithmetic on two other claims, referred to by name; in a study, by `FIGURE.NAME`."""

    kind: Annotated[Literal["ratio", "difference", "increase"], KIND]
    of: str
    """Name of the first claim."""
    to: str
    """Name of the claim that divides it or is subtracted from it."""


class ReadingsMeasure(OfRuns):
    """Number of combinations of swept values (readings of the paper) whose limit lies within an interval.

    The limit is that of `kind: limit`, with or without `at_least`. The note lists the combinations.
    """

    kind: Annotated[Literal["readings"], KIND]
    by: Annotated[list[str], Field(min_length=1, max_length=6)]
    """Swept columns whose values form the readings."""
    limit: Interval
    """Interval in which the limit of a reading should lie."""
    over: str = "senders"
    """Swept column to which the limit refers."""
    column: str = "timeouts"
    """Column of the runs table."""
    at_least: float | None = None
    """Minimum value of the column; if absent, the column must be 0."""


class FarthestMeasure(Model):
    """Of all combinations of swept values (readings of the source), the value that is farthest from the source's.

    A source's number is within for every reading if it is for this one. A limit at the end of its sweep counts only
    beyond the number's band. The note has the range of all.
    """

    kind: Annotated[Literal["farthest"], KIND]
    of: Annotated[LimitMeasure | ValueMeasure, Field(discriminator="kind")]
    """The number that each reading has."""
    to: Annotated[LimitMeasure | ValueMeasure, Field(discriminator="kind")] | None = Field(
        default=None, description="A number with which each reading's is combined, such as that of another variant."
    )
    combined: Literal["ratio", "increase"] = Field(default="ratio", description="How, with `to`.")
    by: Annotated[list[str], Field(min_length=1, max_length=6)]
    """Swept columns whose values form the readings."""
    from_number: float
    """The source's number."""

    @model_validator(mode="after")
    def _of_the_same_points(self) -> Self:
        if self.to is not None:
            check_same_points("of the farthest reading", self.of, self.to)
        return self


Measure = Annotated[
    LimitMeasure
    | FarthestMeasure
    | ValueMeasure
    | TableMeasure
    | BinsMeasure
    | WorstRatioMeasure
    | FlowShareMeasure
    | RoundModelMeasure
    | RiseMeasure
    | TraceMeasure
    | ModelMeasure
    | ModelSlopeMeasure
    | CombineMeasure
    | ReadingsMeasure
    | SampleMeasure
    | KolmogorovMeasure
    | ShiftMeasure
    | CorrelationMeasure
    | ReachMeasure
    | AfterPeakMeasure
    | BesideMeasure
    | FLOW_MEASURES,
    Field(discriminator="kind"),
]
MEASURE_KINDS = kinds(Measure)


class Number(Model):
    """A number of ours that is shown and not judged."""

    name: ClaimName
    """Name of the claim within the figure, by which other claims refer to it."""
    text: Annotated[str, Field(min_length=1)]
    """The measure in words for the reader."""
    unit: str = ""
    """Unit of the measured value, as shown to the reader."""
    measure: Measure
    """How it is measured."""


class Also(Model):
    """Variants that are other readings of a number or a statement."""

    variants: Annotated[list[str], Field(min_length=1, max_length=16)]
    """Their names."""
    cause: str = Field(default="", description="Likely cause of a value outside the band.")
    history: History = Field(default=[], description="Changes after a run.")


class Expectation(Number):
    """What a source states without a number, or with a bound, if `at` says where; else what p4cc expects of itself.

    Sanity, orders, monotony, bounds. The two are counted apart, and neither among the source's numbers.
    """

    band: Band
    """Where the value should fall."""
    at: str = Field(
        default="",
        max_length=400,
        description="Where a source states the bound, the order or the yes or no; nothing for p4cc's own expectations.",
    )
    cause: str = Field(default="", description="Likely cause of a value outside the band.")
    counted_by: str = Field(
        default="",
        description="The line of the same statement that counts, as the source supports that reading: NAME in this "
        "figure, or FIGURE.NAME. This line is judged all the same.",
    )
    also: Also | None = Field(
        default=None, description="Further variants that are judged likewise: each becomes an expectation of its own."
    )
    history: History = Field(default=[], description="Changes after a run.")

    @model_validator(mode="after")
    def _is_a_statement(self) -> Self:
        _check_also(self)
        if self.counted_by and not self.at:
            raise ValueError("`counted_by` is for what a source states: say where in `at`")
        return self

    def counts_as(self, figure: str) -> str:
        """FIGURE.NAME of the line that counts in this one's place; empty if this one counts."""
        return _whole_name(self.counted_by, figure)

    def readings(self) -> list[Expectation]:
        """This expectation, then one for each variant of `also`."""
        also = self.also
        if also is None:
            return [self]
        copies = [self.model_copy(update=_reading(self, variant, also)) for variant in also.variants]
        return [self.model_copy(update={"also": None}), *copies]


class Apart(Model):
    """Numbers that are measured as one of the source's is, and are no readings of it."""

    numbers: Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=1, max_length=64)]
    """Their names; `*` is a wildcard."""
    why: Annotated[str, Field(min_length=1, max_length=400)]
    """Why no number of the source is compared with them."""


class Claim(Number, Stated):
    """A number of the source."""

    cause: str = Field(default="", description="Likely cause of a value outside the band.")
    not_comparable: str = Field(
        default="", description="Why ours is not the same number as the source's, if it is not."
    )
    same_as: str = Field(
        default="",
        description="The claim of the same number of the source, of which this is another reading: NAME in this "
        "figure, or FIGURE.NAME. The number counts once for all of them.",
    )
    derived: str = Field(
        default="",
        description="Why the number does not count: how it follows from others of the source that are claimed, or who "
        "quotes it, if the source does not state it itself. It is judged all the same.",
    )
    also: Also | None = Field(
        default=None,
        description="Further variants that are readings of the same number: each becomes a claim of its own, with "
        "`same_as` this one.",
    )
    history: History = Field(default=[], description="Changes after a run.")

    @model_validator(mode="after")
    def _filters_are_cited(self) -> Self:
        check_citations(self.measure)
        how = self.measure
        if isinstance(how, FarthestMeasure) and how.from_number != self.paper:
            raise ValueError(f"from_number is {how.from_number:g}, and the source's number is {self.paper:g}")
        _check_also(self)
        return self

    def readings(self) -> list[Claim]:
        """This claim, then one for each variant of `also`."""
        also = self.also
        if also is None:
            return [self]
        return [self.model_copy(update={"also": None}), *(self._as(variant, also) for variant in also.variants)]

    def _as(self, variant: str, also: Also) -> Claim:
        same_as = self.same_as or ("" if self.derived else self.name)
        return self.model_copy(update={**_reading(self, variant, also), "same_as": same_as})

    def counts_as(self, figure: str) -> str:
        """The number of the source, as FIGURE.NAME of the claim that has it; nothing for a derived one."""
        if self.derived:
            return ""
        return _whole_name(self.same_as or self.name, figure)


Cell = Annotated[str, Field(pattern=r"^\d+,\d+$")]


class PodTable(Model):
    """A table of the source by pairs of pods: each number in it is a claim, NAME_SOURCE_DESTINATION."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
    """What the names of its claims begin with."""
    text: Annotated[str, Field(min_length=1)]
    """The measure in words; the pods are added."""
    at: Line
    """Where the source has the table."""
    reading: Reading = "table"
    """How its numbers are known."""
    rows: Annotated[list[list[float | None]], Field(max_length=64)] = Field(
        default=[], description="By source pod, then by destination; null where the source has no number."
    )
    readings_of: str = Field(
        default="", description="In place of `rows`: the table of the same numbers, of which these are other readings."
    )
    measure: PodPairMeasure
    """How its first number is measured; the others are measured likewise, each for its pods."""
    same_as: dict[Cell, str] = Field(
        default={}, description="For `SOURCE,DESTINATION`: the claim of the same number, if the source repeats it."
    )
    derived: dict[Cell, Line] = Field(
        default={}, description="For `SOURCE,DESTINATION`: why its number does not count by itself."
    )
    not_comparable: str = Field(default="", description="Why ours are not the same numbers, if they are not.")
    cause: str = Field(default="", description="Likely cause of values outside their bands.")
    history: History = Field(default=[], description="Changes after a run.")

    def claims(self, first: PodTable) -> list[Claim]:
        """One for each number of `first`, which is this table or the one of which it has other readings."""
        return [
            self._claim(first, source, destination, paper)
            for source, row in enumerate(first.rows)
            for destination, paper in enumerate(row)
            if paper is not None
        ]

    def _claim(self, first: PodTable, source: int, destination: int, paper: float) -> Claim:
        cell, ends = f"{source},{destination}", f"{source}_{destination}"
        derived = first.derived.get(cell, "")
        own = "" if first is self else f"{first.name}_{ends}"
        return Claim(
            name=f"{self.name}_{ends}",
            text=f"{self.text}, pod {source} to {destination}",
            paper=paper,
            at=self.at,
            reading=self.reading,
            same_as="" if derived else first.same_as.get(cell, own),
            derived=derived,
            measure=self.measure.model_copy(update={"src_pod": source, "dst_pod": destination}),
            not_comparable=self.not_comparable,
            cause=self.cause,
            history=self.history,
        )


def _of_tables(tables: Sequence[PodTable]) -> list[Claim]:
    """The claims of all tables; raises ValueError for other readings of an unknown one."""
    known = {table.name: table for table in tables if table.rows}
    claims: list[Claim] = []
    for table in tables:
        first = known.get(table.readings_of or table.name)
        if first is None or bool(table.rows) == bool(table.readings_of):
            raise ValueError(f"pod_tables: {table.name} needs `rows`, or `readings_of` a table that has some")
        claims += table.claims(first)
    return claims


def _check_also(number: Claim | Expectation) -> None:
    if number.also is not None and not isinstance(number.measure, OfRuns):
        raise ValueError("`also` needs a measure of a variant's runs")


def _reading(number: Claim | Expectation, variant: str, also: Also) -> dict[str, object]:
    """What differs in the reading of a further variant."""
    return {
        "also": None,
        "name": f"{number.name}_{_slug(variant)}",
        "text": f"{number.text}; as {variant}",
        "measure": number.measure.model_copy(update={"variant": variant}),
        "cause": also.cause or number.cause,
        "history": also.history,
    }


def _whole_name(name: str, figure: str) -> str:
    return name if "." in name or not name else f"{figure}.{name}"


def _slug(variant: str) -> str:
    return re.sub("[^a-z0-9]+", "_", variant.lower()).strip("_")


EACH = "*"
"""Placeholder for the variant in a measure that is repeated for every variant of the scenario."""


class EachVariant(Number):
    """A number measured for every variant; its measure names the variant `*`.

    It becomes a column of a study's league table.
    """

    better: Literal["less", "more"] | None = Field(
        default=None, description="Which value ranks first; no ranking if absent."
    )

    @model_validator(mode="after")
    def _of_each(self) -> Self:
        if getattr(self.measure, "variant", None) != EACH:
            raise ValueError(f'each_variant repeats the measure for every variant: give it variant: "{EACH}"')
        return self

    def name_of(self, variant: str) -> str:
        """The name of one variant's number."""
        return f"{self.name}_{_slug(variant)}"

    def number_of(self, variant: str) -> Number:
        """The number of one variant."""
        return Number(
            name=self.name_of(variant),
            text=f"{self.text}: {variant}",
            unit=self.unit,
            measure=self.measure.model_copy(update={"variant": variant}),
        )


class Reproduction(Model):
    """The figure in the paper that a scenario reproduces."""

    figure: FigureName
    """The figure's name in the paper."""
    note: str = ""
    """Remarks for the reader of the table."""
    claims: list[Claim] = Field(default=[], max_length=128, description="The source's numbers.")
    expectations: list[Expectation] = Field(
        default=[], max_length=128, description="Bounds and statements of the source, and what p4cc expects of itself."
    )
    numbers: list[Number] = Field(default=[], max_length=1_000, description="Numbers that are shown and not judged.")
    pod_tables: list[PodTable] = Field(
        default=[], max_length=8, description="The source's tables by pairs of pods: a claim for each number."
    )
    apart: list[Apart] = Field(
        default=[],
        max_length=32,
        description="Of `numbers` that are measured as one of the source's is: why they are no readings of it.",
    )
    each_variant: list[EachVariant] = Field(
        default=[],
        max_length=16,
        description="Numbers that are measured for every variant, each named and described once.",
    )
    history: History = Field(default=[], description="Changes of the grid or the base, which all claims share.")

    @property
    def measured(self) -> list[Number]:
        """All that is measured."""
        return [*self.claims, *self.expectations, *self.numbers]

    @model_validator(mode="after")
    def _has_numbers(self) -> Self:
        if not self.measured and not self.pod_tables and not self.each_variant:
            raise ValueError("no number is claimed: give claims, pod_tables, expectations, numbers or each_variant")
        _differ([one.name for one in (*self.measured, *_of_tables(self.pod_tables), *self.each_variant)])
        self._same_points()
        shown = [one.name for one in self.numbers]
        for wanted in (name for one in self.apart for name in one.numbers):
            if not any(fnmatchcase(name, wanted) for name in shown):
                raise ValueError(f"apart: no number {wanted!r} is shown")
        return self

    def _same_points(self) -> None:
        known = {one.name: one.measure for one in self.measured}
        for claim in self.claims:
            how = claim.measure
            if isinstance(how, CombineMeasure) and how.of in known and how.to in known:
                check_citations(known[how.of], known[how.to])
                check_same_points(claim.name, known[how.of], known[how.to])

    def of(self, variants: Sequence[str]) -> Reproduction:
        """With a number for each of these variants instead of one for all; raises ValueError."""
        claims = [reading for claim in self.claims for reading in claim.readings()]
        claims += _of_tables(self.pod_tables)
        expectations = [reading for one in self.expectations for reading in one.readings()]
        numbers = [*self.numbers, *(one.number_of(variant) for one in self.each_variant for variant in variants)]
        _differ([one.name for one in (*claims, *expectations, *numbers)])
        found = {"claims": claims, "pod_tables": [], "expectations": expectations, "numbers": numbers}
        return self.model_copy(update=found)

    def why_apart(self, name: str) -> str:
        """Why a number that is shown is no reading of a source's number, if it says so."""
        return next((one.why for one in self.apart if any(fnmatchcase(name, each) for each in one.numbers)), "")


def spans(measure: Measure) -> dict[str, Cited]:
    """The intervals by which a measure chooses rows, by column."""
    parts = (measure, getattr(measure, "of", None), getattr(measure, "to", None))
    chosen = [part.where for part in parts if isinstance(part, OfRuns | Rows | FlowRankMeasure)]
    return {column: want for where in chosen for column, want in where.items() if isinstance(want, Cited)}


def check_citations(*measures: Measure) -> None:
    """Raises ValueError where measures of a source's number leave out points or flows without saying who does so."""
    for measure in measures:
        uncited = [f"where.{column}" for column, one in spans(measure).items() if not one.source.strip()]
        if isinstance(measure, Sizes) and measure.leaves_out and not measure.source.strip():
            uncited.append("max_bytes" if measure.min_bytes == 0 else "min_bytes")
        if isinstance(measure, BinsMeasure) and measure.start_ns > 0 and not measure.source.strip():
            uncited.append("start_ns")
        if uncited:
            raise ValueError(
                f"{uncited[0]} leaves points out of a source's number: cite the source that does so (`source`)"
            )


def check_same_points(name: str, of: Measure, to: Measure) -> None:
    """Raises ValueError where two combined numbers are of different points."""
    ends = [{column: (one.min, one.max) for column, one in spans(part).items()} for part in (of, to)]
    if ends[0] != ends[1]:
        raise ValueError(
            f"claim {name} combines numbers over different points: {ends[0] or 'all'} and {ends[1] or 'all'}"
        )


def _differ(names: list[str]) -> None:
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"two claims are named {twice}; give each a unique name")
