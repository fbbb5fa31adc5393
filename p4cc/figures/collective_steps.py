"""Pieces of a collective over time: a line of bars for each rank, coloured by step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
import polars as pl
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from p4cc.errors import UserError
from p4cc.figures.style import need_columns, of_seed, save, say, split, use_style

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from p4cc.scenario.flow_figures import CollectiveStepsFigure

_COLUMNS = 2
_INCHES_PER_RANK = 0.16


def draw(steps: pl.DataFrame, figure: CollectiveStepsFigure, folder: Path) -> Path:
    """Draws a panel for each variant and value of `over`; returns the file, raises UserError for an unknown job."""
    need_columns(figure.file, steps, *([figure.over] if figure.over else []))
    jobs = steps["job"].unique(maintain_order=True).to_list()
    job = jobs[0] if figure.job is None else figure.job
    if job not in jobs:
        raise UserError(f"figure {figure.file}: there is no job {job}", remedy=f"jobs: {', '.join(jobs)}")
    of_iteration = (pl.col("job") == job) & (pl.col("iteration") == figure.iteration)
    parts = split(of_seed(steps, figure.seed).filter(of_iteration), figure.over)
    use_style()
    columns = min(_COLUMNS, max(len(parts), 1))
    rows = -(-max(len(parts), 1) // columns)
    ranks = max((part["src"].n_unique() for _, _, part in parts), default=1)
    page = Figure(figsize=(4.6 * columns, rows * (1.2 + _INCHES_PER_RANK * ranks)), layout="constrained")
    colours = ScalarMappable(Normalize(0, max([1, *steps["step"].to_list()])), mpl.colormaps["viridis"])
    axes: list[Axes] = []
    for number, (variant, value, part) in enumerate(parts):
        axes.append(page.add_subplot(rows, columns, number + 1, sharex=axes[0] if axes else None))
        _draw_bars(axes[-1], part, colours)
        axes[-1].set_title(f"{variant}, {figure.over} {value}" if figure.over else variant)
    if axes:
        page.colorbar(colours, ax=axes, label="step")
    else:
        say(page.add_subplot(), f"no piece of {job} left in iteration {figure.iteration}")
    page.suptitle(figure.title)
    return save(page, folder / figure.file)


def _draw_bars(axes: Axes, part: pl.DataFrame, colours: ScalarMappable) -> None:
    """A bar from leaving to whole for each piece, side by side where a rank sends several; open pieces have none."""
    ranks = {host: place for place, host in enumerate(part["src"].unique(maintain_order=True))}
    whole = part.filter(pl.col("received_ns").is_not_null())
    sent = whole["sent_ns"].cast(pl.Int64).to_numpy()
    took = whole["received_ns"].cast(pl.Int64).to_numpy() - sent
    places = [ranks[host] for host in whole["src"]]
    axes.barh(
        places, took / 1e3, left=sent / 1e3, height=0.8, alpha=0.75, color=colours.to_rgba(whole["step"].to_numpy())
    )
    axes.set_yticks(list(ranks.values()), list(ranks))
    axes.tick_params(axis="y", labelsize=6)
    axes.invert_yaxis()
    axes.set_xlabel("time (us)")
    if left := part.height - whole.height:
        axes.text(0.99, 0.02, f"{left} pieces not whole", transform=axes.transAxes, ha="right", fontsize=7)
