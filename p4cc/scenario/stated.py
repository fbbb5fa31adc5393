"""What a source states: a number, its place, how it was read, and the band that follows from that alone.

Nobody types a band for a source's number. Where the source gives error bars they are the band; else the way in which
the number was read decides (docs/reproduction/README.md#rules).
"""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from p4cc.scenario.base import Anything, Model
from p4cc.scenario.where import Interval

Reading = Literal["error_bars", "text", "table", "figure", "tail"]
SHARE_IN_WORDS = 0.1
"""Half the width of the band of a number in text or a table, as a share of it."""
SHARE_IN_A_FIGURE = 0.2
"""The same of a number that is read off a figure without a grid."""
TAIL_FACTOR = 2.0
"""A tail percentile of few samples may be off by this."""

Day = Annotated[str, Field(pattern=r"^20\d\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$")]
Line = Annotated[str, Field(min_length=1, max_length=400)]


class Range(NamedTuple):
    """The band of a source's number, both ends included."""

    low: float
    high: float

    def holds(self, value: float) -> bool:
        """Whether a value lies within; binary fractions at an end do not decide."""
        slack = 1e-9 * max(abs(self.low), abs(self.high))
        return self.low - slack <= value <= self.high + slack


class ErrorBars(Model):
    """The ends of the source's own error bars or interval."""

    low: float
    """The lower end."""
    high: float
    """The upper end."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.low > self.high:
            raise ValueError(f"low {self.low} is above high {self.high}")
        return self


class Change(Model):
    """One change of a claim after a run: of its band's kind, measure, grid, base, or of the source's number."""

    date: Day
    """When it changed."""
    before: Line
    """Its former value."""
    after: Line
    """Its value since then."""
    why: Line
    """The reason."""


History = Annotated[list[Change], Field(max_length=32)]


class Stated(Model):
    """A number of a source."""

    paper: float
    """The source's statement."""
    at: Line
    """Where the source states it: its section, figure or table."""
    reading: Reading
    """How the number is known. It decides the band: the source's `error_bars`; 10 % in `text` or a `table`; 20 % or
    half a grid step, whichever is more, off a `figure`; a factor of two for a `tail` percentile of few samples."""
    error_bars: ErrorBars | None = Field(default=None, description="The source's own, with `reading: error_bars`.")
    grid_step: float | None = Field(
        default=None, gt=0, description="Distance of the figure's grid lines or points, with `reading: figure`."
    )
    whole: float | None = Field(
        default=None,
        gt=0,
        description="Of a share or an index: its greatest value, such as 1 or 100. The band is then a share of the "
        "smaller of the number and what it lacks to the whole: 10 % of 0.95 would hold every value up to 1.",
    )
    last_digit: float | None = Field(
        default=None,
        gt=0,
        description="The unit of the last digit that the source prints, with `whole`: the band is at least half of it.",
    )

    @model_validator(mode="before")
    @classmethod
    def _no_typed_band(cls, data: Anything) -> Anything:
        if isinstance(data, dict) and "band" in data:
            raise ValueError(
                "the band of a source's number follows from `reading`: leave `band` out, or give error_bars"
            )
        return data

    @model_validator(mode="after")
    def _of_its_reading(self) -> Self:
        if (self.reading == "error_bars") != (self.error_bars is not None):
            raise ValueError("`reading: error_bars` and `error_bars` go together")
        if self.grid_step is not None and self.reading != "figure":
            raise ValueError("only a number read off a figure has a grid step")
        if self.whole is not None and self.reading in ("error_bars", "tail"):
            raise ValueError(f"`reading: {self.reading}` decides the band whatever the whole is: leave `whole` out")
        if self.whole is not None and not 0 <= self.paper <= self.whole:
            raise ValueError(f"a share of {self.whole:g} is not {self.paper:g}")
        if self.last_digit is not None and self.whole is None:
            raise ValueError("only a share has a last digit: give `whole`")
        return self

    @property
    def scale(self) -> float:
        """What a band is a share of: the number, or what a share lacks to its whole if that is less."""
        lacks = abs(self.paper) if self.whole is None else self.whole - self.paper
        return min(abs(self.paper), lacks)

    @property
    def range(self) -> Range:
        """The two-sided band."""
        match self.reading:
            case "error_bars":
                bars = self.error_bars
                return Range(self.paper, self.paper) if bars is None else Range(bars.low, bars.high)
            case "tail":
                ends = sorted((self.paper / TAIL_FACTOR, self.paper * TAIL_FACTOR))
                return Range(ends[0], ends[1])
            case "figure":
                half = max(self.scale * SHARE_IN_A_FIGURE, (self.grid_step or 0.0) / 2)
            case "text" | "table":
                half = self.scale * SHARE_IN_WORDS
        half = max(half, (self.last_digit or 0.0) / 2)
        return Range(_short(self.paper - half), _short(self.paper + half))


def _short(value: float) -> float:
    """Without the digits that binary fractions add."""
    return float(f"{value:.12g}")


class Band(Interval):
    """Where p4cc expects a value; one side may be open."""

    source: Annotated[
        str, Field(min_length=1, description="Why: a paper and its section, an anchor of docs/algorithms, or our own.")
    ]
