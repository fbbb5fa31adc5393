"""What a report consists of: sections of blocks, and the series, points and seeds that its controls switch.

Python decides what is shown and how much of it; the page (`static/`) draws it. Texts are plain: whoever writes them
into HTML or hands them to Plotly escapes them.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any, ClassVar, Literal

Number = float | int | None


@dataclass(frozen=True)
class Series:
    """A variant of a folder: what a colour stands for."""

    label: str
    variant: str
    folder: int


@dataclass(frozen=True)
class Line:
    """Values of one series in a panel.

    `steps`: `y` holds from its `x` on. `spread` and `bars`: `y` has, for each `x`, a value per seed of `seeds`; the
    page draws their median with the range from the 5th to the 95th percentile. `cdf`: `x` and `y` have a list for each
    of `seeds`, values in order and the share of its `rows` up to each; the page merges those of the seeds that are on.
    """

    series: int
    kind: Literal["steps", "spread", "bars", "cdf"]
    x: list[Any]
    y: list[Any]
    point: int | None = None
    """The point of the sweep that it is of; None: of all."""
    seed: int | None = None
    seeds: list[int] = field(default_factory=list[int])
    rows: list[int] = field(default_factory=list[int])
    name: str = ""
    """Which flow or port it is of, for charts where the reader picks."""
    role: str = ""
    """What a line beside the values says, such as `K`; empty for the values themselves."""


@dataclass(frozen=True)
class Panel:
    """One pair of axes."""

    x_label: str
    y_label: str
    lines: list[Line]
    title: str = ""
    x_log: bool = False
    y_log: bool = False
    until: float | None = None
    """Where the x axis ends; where the values end if None."""


@dataclass(frozen=True)
class Chart:
    """A figure of lines or bars."""

    block: ClassVar[str] = "chart"
    title: str
    caption: str
    panels: list[Panel]
    notes: list[str] = field(default_factory=list[str])
    """What is left out, and why something is as it is."""
    pick: str = ""
    """What the reader picks lines by (`flows`, `port`); empty where all are drawn."""
    picked: int = 1
    """How many of them are drawn at first."""


@dataclass(frozen=True)
class Map:
    """Values over two axes, of one series."""

    series: int
    x: list[Any]
    y: list[str]
    z: list[list[Number]]
    point: int | None = None
    seed: int | None = None
    text: list[list[str]] | None = None
    """What stands in the cells; nothing where there are too many."""


@dataclass(frozen=True)
class HeatMap:
    """A figure of maps, of which the reader sees one at a time."""

    block: ClassVar[str] = "heat"
    title: str
    caption: str
    x_label: str
    y_label: str
    z_label: str
    maps: list[Map]
    notes: list[str] = field(default_factory=list[str])


@dataclass(frozen=True)
class Network:
    """A topology's nodes with their places, and links by the places of nodes in the list."""

    names: list[str]
    switches: int
    """The first so many nodes are switches, the others hosts."""
    x: list[float]
    y: list[float]
    ends: list[tuple[int, int]]
    rates_bps: list[int]


@dataclass(frozen=True)
class Load:
    """What a network's links did in one run: both ways, the one from the first end first, a number for each link."""

    network: int
    series: int
    point: int
    seed: int
    span_ns: int
    """From the first start of a flow to the end of the run."""
    bytes: tuple[list[int], list[int]]
    marks: tuple[list[int], list[int]]
    drops: tuple[list[int], list[int]]
    paused_ns: tuple[list[int], list[int]]


@dataclass(frozen=True)
class Topology:
    """The drawing of networks with what their links did."""

    block: ClassVar[str] = "topology"
    title: str
    caption: str
    networks: list[Network]
    loads: list[Load]
    notes: list[str] = field(default_factory=list[str])


@dataclass(frozen=True)
class Column:
    """One column of a table."""

    label: str
    numeric: bool = True
    tip: str = ""
    """What the column holds."""


@dataclass(frozen=True)
class Table:
    """Rows that sort and filter; `series`, `points` and `seeds` say, row by row, what each is of (None: of all)."""

    block: ClassVar[str] = "table"
    title: str
    columns: list[Column]
    rows: list[list[Any]]
    caption: str = ""
    series: list[int] | None = None
    points: list[int] | None = None
    seeds: list[int] | None = None
    order: tuple[int, Literal["asc", "desc"]] | None = None
    at_point: bool = False
    """Whether only rows of the point that is chosen are shown."""


@dataclass(frozen=True)
class Metric:
    """A number of runs in a summary: `value = number * scale`."""

    name: str
    label: str
    scale: float
    digits: int
    tip: str = ""


@dataclass(frozen=True)
class Run:
    """One run's numbers, in the order of the summary's metrics."""

    series: int
    point: int
    seed: int
    values: list[Number]
    few: list[int]
    """Metrics that are percentiles of few values."""


@dataclass(frozen=True)
class Summary:
    """Medians and ranges over the seeds that are on: a row for each series and point."""

    block: ClassVar[str] = "summary"
    title: str
    caption: str
    metrics: list[Metric]
    runs: list[Run]


@dataclass(frozen=True)
class Facts:
    """Names and what they are."""

    block: ClassVar[str] = "facts"
    rows: list[tuple[str, str]]


@dataclass(frozen=True)
class Text:
    """A paragraph; `warning` and `why` (nothing to show, and what to set) stand out."""

    block: ClassVar[str] = "text"
    text: str
    tone: Literal["plain", "warning", "note", "why"] = "plain"


@dataclass(frozen=True)
class Code:
    """Lines to copy, or a file; `folded` under its title."""

    block: ClassVar[str] = "code"
    text: str
    title: str = ""
    folded: bool = False


@dataclass(frozen=True)
class Image:
    """A picture from the folder, as a `data:` address."""

    block: ClassVar[str] = "image"
    title: str
    caption: str
    address: str


Block = Chart | HeatMap | Topology | Table | Summary | Facts | Text | Code | Image
DRAWN = (Chart, HeatMap, Topology, Table, Summary)
"""Blocks that the page fills in; the others are HTML from the start."""


@dataclass(frozen=True)
class Section:
    """A heading with what stands below it."""

    name: str
    """For links within the page."""
    title: str
    blocks: list[Block]


@dataclass(frozen=True)
class Document:
    """A report."""

    title: str
    subtitle: str
    sections: list[Section]
    series: list[Series] = field(default_factory=list[Series])
    points: list[str] = field(default_factory=list[str])
    seeds: list[int] = field(default_factory=list[int])
    first_point: int = 0
    """The point that is shown at first."""


def plain(document: Document) -> dict[str, Any]:
    """What the page's script reads: the controls, and the blocks to draw in the order of the page."""
    return {
        "series": [asdict(one) for one in document.series],
        "points": document.points,
        "seeds": document.seeds,
        "first_point": document.first_point,
        "blocks": [
            {"block": block.block, **_bare(block)}
            for section in document.sections
            for block in section.blocks
            if isinstance(block, DRAWN)
        ],
    }


def _bare(node: Any) -> Any:
    """A dataclass as JSON holds it, without copying its lists of numbers."""
    return {one.name: _value(getattr(node, one.name)) for one in fields(node)}


def _value(value: Any) -> Any:
    if hasattr(value, "__dataclass_fields__"):
        return _bare(value)
    if isinstance(value, list | tuple):
        held: list[Any] = list(value)  # pyright: ignore[reportUnknownArgumentType]
        return [_value(one) for one in held] if held and not isinstance(held[0], int | float | str) else held
    return value
