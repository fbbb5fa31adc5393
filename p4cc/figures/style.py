"""One look for all figures: readable at column width, safe for colour-blind readers, the same bytes for one input."""

# matplotlib's stubs leave **kwargs untyped.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any, cast

import matplotlib as mpl

from p4cc.errors import UserError

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from p4cc.scenario.figures import Panel

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

_SETTINGS: dict[str, Any] = {
    "font.size": 9,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "svg.hashsalt": "p4cc",
}


_UNDATED: dict[str, dict[str, Any]] = {
    ".png": {"Software": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    ".svg": {"Date": None, "Creator": None},
}
"""What a file of each format would else hold of when and by what it was made."""


def use_style() -> None:
    """Sets the style for the figures made next."""
    mpl.rcParams.update(cast("Any", _SETTINGS))


def need_columns(file: str, frame: pl.DataFrame, *columns: str) -> None:
    """Raises UserError for the first column that the frame of a figure lacks."""
    for column in columns:
        if column not in frame.columns:
            raise UserError(
                f"figure {file}: the runs have no column {column!r}", remedy=f"columns: {', '.join(frame.columns)}"
            )


def say(axes: Axes, text: str) -> None:
    """Says in a panel why nothing is drawn in it."""
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", wrap=True)


def legend(axes: Axes) -> None:
    """A legend where something has a label."""
    if axes.get_legend_handles_labels()[0]:
        axes.legend()


def log_scale(axes: Axes, *, x: bool = False) -> None:
    """A logarithmic axis; a linear one, with a word in the panel, where no value is above 0."""
    least = axes.dataLim.minposx if x else axes.dataLim.minposy
    if isfinite(least):
        (axes.set_xscale if x else axes.set_yscale)("log")
    else:
        say(axes, "no value above 0 for a logarithmic axis")


def of_seed(frame: pl.DataFrame, seed: int | None) -> pl.DataFrame:
    """Rows of one seed: the first if none is named."""
    if frame.is_empty():
        return frame
    wanted = frame["seed"][0] if seed is None else seed
    return frame.filter(frame["seed"] == wanted)


def split(frame: pl.DataFrame, over: str | None) -> list[tuple[str, str, pl.DataFrame]]:
    """Rows by variant and value of a swept column (as text; empty without one), in order of appearance."""
    keys = ["variant", *([over] if over else [])]
    groups = frame.group_by(*keys, maintain_order=True)
    return [(str(key[0]), str(key[1]) if over else "", group) for key, group in groups]


def label_axes(axes: Axes, panel: Panel, x_label: str) -> None:
    """Scale, title and labels of a panel whose values are not negative."""
    if panel.log:
        log_scale(axes)
    else:
        axes.set_ylim(bottom=0)
    axes.set_title(panel.title)
    axes.set_xlabel(x_label)
    axes.set_ylabel(panel.label or panel.y)


def save(figure: Figure, path: Path) -> Path:
    """Writes a figure without dates or versions in it; the name's ending says the format."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150, bbox_inches="tight", metadata=_UNDATED[path.suffix])
    return path
