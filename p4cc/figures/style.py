"""One look for all figures: readable at column width, safe for colour-blind readers, the same bytes for one input."""

from __future__ import annotations

import textwrap
from contextlib import contextmanager
from contextvars import ContextVar
from math import isfinite
from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib.ticker import LogFormatterSciNotation

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#882255", "#999933")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", "*", ">")
"""One more than colours, so that the first 90 lines differ in one or the other."""

DASHES = ("-", "--", ":", "-.", (0, (5, 1, 1, 1, 1, 1)))
HATCHES = ("", "///", "...", "xx")

_NOTE_SIZE = 7
_NOTE_LETTERS_PER_INCH = 17
"""Roughly, at that size."""

_LABELS_INSIDE = 5
"""Labels that leave room for the lines of a panel."""
_LEGEND_LETTERS = 64
"""Letters that roughly fit below a panel."""
_LEGEND_LINE = 0.17
"""Inches of a line of a legend in small letters."""

_UNDATED: dict[str, dict[str, None]] = {
    ".png": {"Software": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    ".svg": {"Date": None, "Creator": None},
}
"""Metadata to leave out of each format: when and by what program a file was made."""


_MM_PER_INCH = 25.4
_LEAST_HEIGHT = 0.62
"""Of a figure for a column, by its width: about the golden ratio."""
_width_in: ContextVar[float | None] = ContextVar("_width_in", default=None)


@contextmanager
def column_width(width_mm: float | None) -> Generator[None]:
    """What is drawn within fits a column of this width, in the fonts of a paper; None changes nothing."""
    token = _width_in.set(None if width_mm is None else width_mm / _MM_PER_INCH)
    try:
        with mpl.rc_context():
            yield
    finally:
        _width_in.reset(token)


def use_style() -> None:
    """Sets the style for the figures made next."""
    mpl.rc("font", size=9)
    mpl.rc("axes", grid=True)
    mpl.rc("axes.spines", top=False, right=False)
    mpl.rc("grid", alpha=0.3)
    mpl.rc("legend", frameon=False)
    mpl.rc("lines", linewidth=1.4)
    mpl.rc("svg", hashsalt="p4cc")
    if _width_in.get() is not None:
        # STIX goes with Times and Computer Modern; TrueType (42) is what publishers' checks ask for.
        mpl.rc("font", size=8, family="STIXGeneral")
        mpl.rc("mathtext", fontset="stix")
        mpl.rc("pdf", fonttype=42)
        mpl.rc("lines", linewidth=1.0)
        mpl.rc("legend", fontsize=7, labelspacing=0.3)


def say(axes: Axes, text: str) -> None:
    """Says in a panel why nothing is drawn in it."""
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", wrap=True)


def note(page: Figure, text: str) -> None:
    """Says something of the figure below its panels, once."""
    message = page.get_supxlabel()
    width_in = _width_in.get() or page.get_figwidth()
    wrapped = textwrap.fill(text, max(40, int(width_in * _NOTE_LETTERS_PER_INCH)))
    if wrapped not in message:
        page.supxlabel("\n".join(filter(None, (message, wrapped))), x=0.01, ha="left", fontsize=_NOTE_SIZE)


def legend(axes: Axes) -> None:
    """A legend where something has a label."""
    if axes.get_legend_handles_labels()[0]:
        axes.legend()


def legends(page: Figure) -> None:
    """A legend for the first panel, and for each with labels not seen before it, such as other numbers of values.

    Labels that do not fit a panel are placed below it, and the page grows by them.
    """
    shown: set[str] = set()
    most_lines = 0
    for axes in page.axes:
        labels = axes.get_legend_handles_labels()[1]
        if not set(labels) - shown:
            continue
        shown |= set(labels)
        if len(labels) <= _LABELS_INSIDE:
            axes.legend()
            continue
        columns = max(1, _LEGEND_LETTERS // (max(map(len, labels)) + 8))
        most_lines = max(most_lines, -(-len(labels) // columns))
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=columns, fontsize="small")
    page.set_figheight(page.get_figheight() + _LEGEND_LINE * most_lines)


class _PlainLog(LogFormatterSciNotation):
    """Numbers at a logarithmic axis: 0.5 and 200 as such, powers of ten all along an axis with many zeros."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        text = super().__call__(x, pos)
        low, high = self.axis.get_view_interval() if self.axis is not None else (x, x)
        return f"{x:g}" if text and low >= 1e-3 and high <= 2e4 else text


def log_scale(axes: Axes, *, x: bool = False, left_out: int | None = 0) -> None:
    """A logarithmic axis; a linear one, with a word in the panel, where no value is above 0 (`left_out` is None)."""
    least = axes.dataLim.minposx if x else axes.dataLim.minposy
    if left_out is None or not isfinite(least):
        say(axes, "no value above 0 for a logarithmic axis")
        return
    (axes.set_xscale if x else axes.set_yscale)("log")
    of_axis = axes.xaxis if x else axes.yaxis
    of_axis.set_major_formatter(_PlainLog())
    # Between powers of ten only where few of these are seen.
    of_axis.set_minor_formatter(_PlainLog(minor_thresholds=(1, 0.4)))
    if left_out:
        corner(axes, f"values of 0, not on the logarithmic axis: {left_out}")


def corner(axes: Axes, text: str) -> None:
    """States in a panel what it omits."""
    axes.text(0.99, 0.01, text, transform=axes.transAxes, ha="right", va="bottom", fontsize=6)


def save(figure: Figure, path: Path) -> Path:
    """Writes a figure without dates or versions in it; the name's ending says the format."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if (width_in := _width_in.get()) is not None:
        height_in = max(figure.get_figheight() * width_in / figure.get_figwidth(), _LEAST_HEIGHT * width_in)
        figure.set_size_inches(width_in, height_in)
        # A tight box would have another width.
        figure.savefig(path, dpi=300, metadata=_UNDATED[path.suffix])
        return path
    figure.savefig(path, dpi=150, bbox_inches="tight", metadata=_UNDATED[path.suffix])
    return path
