"""A report: sections of blocks, and the series, points and seeds that its controls select.

Python decides what is shown and how much of it; the page (`static/`) draws it. Texts are plain, and are escaped when
written to HTML or passed to Plotly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias

from p4cc.figures.chart import Number

Cell: TypeAlias = Number | str


@dataclass(frozen=True)
class Series:
    """A variant of a folder; each has its colour."""

    label: str
    variant: str
    folder: int


@dataclass(frozen=True)
class Map:
    """Values over two axes, of one series."""

    series: int
    x: Sequence[Cell]
    y: list[str]
    z: list[list[Number]]
    point: int | None = None
    seed: int | None = None
    text: list[list[str]] | None = None
    """Texts of the cells; None if there are too many."""


@dataclass(frozen=True)
class HeatMap:
    """A figure of maps, shown one at a time."""

    block: ClassVar[str] = "heat"
    title: str
    caption: str
    x_label: str
    y_label: str
    z_label: str
    maps: list[Map]
    notes: list[str] = field(default_factory=list[str])


@dataclass(frozen=True)
class View:
    """Plotly's input (`interactive.figure`) at a point of the sweep and a seed; None means all of them."""

    point: int | None
    seed: int | None
    data: list[dict[str, Any]]
    layout: dict[str, Any]


@dataclass(frozen=True)
class Figure:
    """Lines, bars and maps, of a scenario's figure or of the report."""

    block: ClassVar[str] = "figure"
    title: str
    caption: str
    views: list[View]
    notes: list[str] = field(default_factory=list[str])
    """Omissions and other explanations."""
    pick: str = ""
    """Kind of the lines that the reader selects by name (`flows`, `port`); empty if all are drawn."""
    picked: int = 1
    """Number of lines drawn at first."""


@dataclass(frozen=True)
class Network:
    """A topology's nodes with their coordinates, and links by node index."""

    names: list[str]
    switches: int
    """Number of switches, which come first; the other nodes are hosts."""
    x: list[float]
    y: list[float]
    ends: list[tuple[int, int]]
    rates_bps: list[int]


@dataclass(frozen=True)
class Load:
    """Load of a network's links in one run: a list per direction, first the one from the first end."""

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
    """A drawing of networks with the load of their links."""

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
    """The column's meaning."""


@dataclass(frozen=True)
class Table:
    """Rows that can be sorted and filtered; `series`, `points` and `seeds` have an entry per row (None: for all)."""

    block: ClassVar[str] = "table"
    title: str
    columns: list[Column]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""
    series: list[int] | None = None
    points: list[int] | None = None
    seeds: list[int] | None = None
    order: tuple[int, Literal["asc", "desc"]] | None = None
    at_point: bool = False
    """Whether only rows of the selected point are shown."""


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
    """Indices of percentiles of few values."""


@dataclass(frozen=True)
class Summary:
    """Medians and ranges over the selected seeds: one row per series and point."""

    block: ClassVar[str] = "summary"
    title: str
    caption: str
    metrics: list[Metric]
    runs: list[Run]


@dataclass(frozen=True)
class Facts:
    """Names and their texts."""

    block: ClassVar[str] = "facts"
    rows: list[tuple[str, str]]


@dataclass(frozen=True)
class Text:
    """A paragraph; `warning` and `why` (nothing to show, and what to set) are highlighted."""

    block: ClassVar[str] = "text"
    text: str
    tone: Literal["plain", "warning", "note", "why"] = "plain"


@dataclass(frozen=True)
class Code:
    """Lines to copy, or a file; `folded` hides it under its title."""

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


Block = Figure | HeatMap | Topology | Table | Summary | Facts | Text | Code | Image
DRAWN = (Figure, HeatMap, Topology, Table, Summary)
"""Blocks that the page's script fills in; the others are HTML from the start."""


@dataclass(frozen=True)
class Section:
    """A heading with its blocks."""

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
    """The point to show first."""


def plain(document: Document) -> dict[str, object]:
    """The data of the page's script: the controls, and the blocks to draw in page order."""
    blocks = [block for section in document.sections for block in section.blocks if isinstance(block, DRAWN)]
    return {
        "series": document.series,
        "points": document.points,
        "seeds": document.seeds,
        "first_point": document.first_point,
        "blocks": [{"block": block.block, **vars(block)} for block in blocks],
    }
