"""One look for all figures: readable at column width, safe for colour-blind readers, the same bytes for one input."""

# matplotlib's stubs leave **kwargs untyped.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import matplotlib as mpl

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

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
}


def use_style() -> None:
    """Sets the style for the figures made next."""
    mpl.rcParams.update(cast("Any", _SETTINGS))


def save(figure: Figure, path: Path) -> Path:
    """Writes a PNG without dates or versions in it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150, bbox_inches="tight", metadata={"Software": None})
    return path
