"""A figure's data, once for every reader: `picture` draws it into files, `interactive` into pages.

A function of a figure's kind makes a chart of results; it draws nothing. Places in the palette name colours, so
that a page can have its own in the dark.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from p4cc.analysis.slowdown import LABEL

Number: TypeAlias = float | int | None
Place: TypeAlias = float | int | str
"""A value along an axis; texts are categories."""
Colour: TypeAlias = int | Literal["black", "grey"] | None
"""A place in the palette; None for the place of the variant among the chart's."""
Samples: TypeAlias = Sequence[Sequence[tuple[int, Number]]]
"""For each value a median is drawn of: the seed and value of every run."""


@dataclass(frozen=True)
class Axis:
    """One axis of a panel."""

    label: str = ""
    unit: str = ""
    log: bool = False
    low: float | None = None
    """Where it begins and ends; None: with the values."""
    high: float | None = None
    ticks: Sequence[tuple[float, str]] | None = None
    """Places with names; None: numbers."""
    tick_size: float | None = None
    slanted: bool = False
    reversed: bool = False

    @property
    def text(self) -> str:
        """The label with its unit."""
        return f"{self.label} ({self.unit})" if self.unit else self.label


@dataclass(frozen=True)
class Part:
    """A distribution of one seed: values in order with the share of its `rows` up to each."""

    seed: int
    rows: int
    x: Sequence[float]
    y: Sequence[float]


@dataclass(frozen=True)
class Line:
    """Values over x."""

    x: Sequence[Place]
    y: Sequence[Number]
    label: str = ""
    """In the legend, if it is not empty."""
    name: str = ""
    """Whose values these are, where no legend says so."""
    variant: str = ""
    colour: Colour = None
    shape: Literal["line", "steps"] = "line"
    """`steps`: a value holds until the next one."""
    dash: int | None = 0
    """A place among the dashes; None for points only."""
    marker: str = ""
    """`own` is the marker at the place of the colour."""
    size: float = 4
    width: float = 1.4
    opacity: float = 1.0
    band: tuple[Sequence[Number], Sequence[Number]] | None = None
    """From the least to the largest y around each value."""
    x_range: tuple[Sequence[float], Sequence[float]] | None = None
    """From the least to the largest around each value, as bars."""
    y_range: tuple[Sequence[float], Sequence[float]] | None = None
    few: Sequence[int] = ()
    """Indices of percentiles of few values: hollow."""
    samples: Samples | None = None
    parts: Sequence[Part] = ()
    """The values of a distribution."""
    point: int | None = None
    """The point of a sweep and seed that a page shows it at; None for all."""
    seed: int | None = None
    role: str = ""
    """The meaning of an additional line of a name, such as `K`."""


@dataclass(frozen=True)
class Bars:
    """Bars from a base, upright or lying."""

    at: Sequence[float]
    values: Sequence[float]
    label: str = ""
    names: Sequence[str] = ()
    """The name of each bar, if neither ticks nor a legend show it."""
    variant: str = ""
    colour: Colour = None
    base: Sequence[float] | None = None
    width: float = 0.8
    lying: bool = False
    steps: Sequence[float] | None = None
    """Of each bar, on the chart's scale of colours, in place of a colour."""
    range: tuple[Sequence[float], Sequence[float]] | None = None
    few: Sequence[bool] | None = None
    """Which are percentiles of few values: hatched."""
    pattern: int = 0
    """A place among the hatches."""
    texts: Sequence[str] = ()
    text_at: Literal["above", "inside", "beside"] = "above"
    samples: Samples | None = None
    point: int | None = None
    """As of lines."""
    seed: int | None = None
    role: str = ""


@dataclass(frozen=True)
class Grid:
    """Values of cells, by row and column, as colours."""

    values: Sequence[Sequence[Number]]
    label: str
    """Beside the scale of colours."""
    texts: Sequence[Sequence[str]] | None = None
    text_size: float = 7
    low: float | None = None
    """Ends of the scale of colours; None: with the values."""
    high: float | None = None
    span: tuple[float, float] | None = None
    """Where the columns begin and end along x; None: at 0, 1, 2 and so on."""
    square: bool = False


@dataclass(frozen=True)
class Level:
    """A line across the panel at a value."""

    at: float
    label: str = ""
    name: str = ""
    upright: bool = False
    colour: Colour = "black"
    width: float = 0.8
    opacity: float = 1.0


@dataclass(frozen=True)
class Word:
    """A text at a value; without y in a row at the bottom."""

    x: Place
    y: Number
    text: str
    name: str = ""
    variant: str = ""
    colour: Colour = None
    row: int = 0
    beside: bool = False
    """Right above the value, in place of above its middle."""


Mark: TypeAlias = Line | Bars | Grid | Level | Word


@dataclass(frozen=True)
class Panel:
    """One pair of axes."""

    x: Axis
    y: Axis
    marks: Sequence[Mark] = ()
    title: str = ""
    says: str = ""
    """Why nothing is drawn."""
    corner: str = ""
    """Omissions of this panel."""
    variant: str = ""
    """Whose values these are, where all are of one."""
    legend: bool = False
    bare: bool = False
    """Without axes."""
    ruled: bool = True
    margin: float | None = None

    def left_out(self, of: Literal["x", "y"]) -> int | None:
        """Number of values that a logarithmic axis omits; None if it omits all."""
        drawn: list[object] = []
        for mark in self.marks:
            if isinstance(mark, Line):
                drawn += mark.x if of == "x" else mark.y
            elif isinstance(mark, Bars) and mark.lying == (of == "x"):
                drawn += mark.values
        numbers = [one for one in drawn if isinstance(one, int | float)]
        return sum(one <= 0 for one in numbers) if any(one > 0 for one in numbers) else None


@dataclass(frozen=True)
class Scale:
    """Colours that all panels share."""

    label: str
    low: float
    high: float


@dataclass(frozen=True)
class Chart:
    """A figure: panels from left to right and from top to bottom."""

    title: str
    panels: Sequence[Panel]
    size: tuple[float, float]
    """Of a file, in inches."""
    columns: int | None = None
    """Panels per row; None for all."""
    notes: Sequence[str] = ()
    """Notes on the whole figure."""
    variants: Sequence[str] = ()
    """In the order of their colours."""
    legend: Literal["", "each", "beside", "small", "last"] = ""
    """`each`: in panels with labels not seen before; `beside` all (`small`, in small letters); `last`: as a panel."""
    keys: Sequence[Line] = ()
    """Entries of the legend, where they are not lines' own."""
    scale: Scale | None = None
    same_x: bool = False

    def place(self, mark: Line | Bars | Word) -> int | str:
        """The colour of a mark, as a place in the palette or by its name."""
        if mark.colour is not None:
            return mark.colour
        return self.variants.index(mark.variant) if mark.variant in self.variants else 0


def axis_label(column: str, label: str) -> str:
    """The label of an axis: the scenario's, that of slowdowns, or the column's name."""
    if label or not column.startswith("slowdown") or column.startswith("slowdown_rate_only"):
        return label or column
    rest = column.removeprefix("slowdown").strip("_")
    return f"{LABEL}, {rest}" if rest else LABEL


def saying(title: str, text: str, size: tuple[float, float], *, bare: bool = False) -> Chart:
    """A chart with nothing to draw, and why."""
    return Chart(title, [Panel(Axis(), Axis(), says=text, bare=bare)], size)
