"""Pieces of a collective over time: a line of bars for each rank, coloured by step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from p4cc.errors import UserError
from p4cc.figures.chart import Axis, Bars, Chart, Panel, Scale, saying
from p4cc.figures.rows import need_columns, of_seed, split

if TYPE_CHECKING:
    from p4cc.scenario.flow_figures import CollectiveStepsFigure

_COLUMNS = 2
_INCHES_PER_RANK = 0.16


def chart(steps: pl.DataFrame, figure: CollectiveStepsFigure) -> Chart:
    """A panel for each variant and value of `over`; raises UserError for an unknown job."""
    need_columns(figure.file, steps, *([figure.over] if figure.over else []))
    jobs = steps["job"].unique(maintain_order=True).to_list()
    job = jobs[0] if figure.job is None else figure.job
    if job not in jobs:
        raise UserError(f"figure {figure.file}: there is no job {job}", remedy=f"jobs: {', '.join(jobs)}")
    of_iteration = (pl.col("job") == job) & (pl.col("iteration") == figure.iteration)
    parts = split(of_seed(steps, figure.seed).filter(of_iteration), figure.over)
    if not parts:
        return saying(figure.title, f"no piece of {job} left in iteration {figure.iteration}", (4.6, 1.36))
    columns = min(_COLUMNS, len(parts))
    ranks = max(part["src"].n_unique() for _, _, part in parts)
    size = (4.6 * columns, -(-len(parts) // columns) * (1.2 + _INCHES_PER_RANK * ranks))
    panels = [
        _panel(part, variant, f"{variant}, {figure.over} {value}" if figure.over else variant)
        for variant, value, part in parts
    ]
    scale = Scale("step", 0, max([1, *steps["step"].to_list()]))
    return Chart(figure.title, panels, size, columns, scale=scale, same_x=True)


def _panel(part: pl.DataFrame, variant: str, title: str) -> Panel:
    """A bar from leaving to whole for each piece, side by side where a rank sends several; open pieces have none."""
    ranks = {host: place for place, host in enumerate(part["src"].unique(maintain_order=True))}
    whole = part.filter(pl.col("received_ns").is_not_null())
    sent = whole["sent_ns"].cast(pl.Int64)
    took = whole["received_ns"].cast(pl.Int64) - sent
    bars = Bars(
        [ranks[host] for host in whole["src"]],
        (took / 1e3).to_list(),
        base=(sent / 1e3).to_list(),
        names=[f"{src}, step {step}" for src, step in whole.select("src", "step").iter_rows()],
        lying=True,
        steps=whole["step"].to_list(),
    )
    left = part.height - whole.height
    return Panel(
        Axis("time", "us"),
        Axis(ticks=[(place, host) for host, place in ranks.items()], tick_size=6, reversed=True),
        [bars],
        title,
        corner=f"{left} pieces not whole" if left else "",
        variant=variant,
    )
