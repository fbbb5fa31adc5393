"""How packets or bytes are shared among ports of switches: a bar for each variant and swept value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
from matplotlib.figure import Figure

from p4cc.analysis.human import swept
from p4cc.figures.style import COLOURS, need_columns, note, of_seed, save, say, split, use_style
from p4cc.planning.state_records import matches

if TYPE_CHECKING:
    from pathlib import Path

    from p4cc.scenario.figures import PortSharesFigure

_LEAST_SAID = 0.05
"""A smaller share has no room for its number."""
_HATCHES = ("", "///", "...", "xx")
"""Of links beyond the number of colours."""
_WORDS = {"tx": "sent", "rx": "received", "pkts": "packets", "bytes": "bytes"}


def draw(ports: pl.DataFrame, figure: PortSharesFigure, folder: Path) -> Path:
    """Draws the bars; returns the file written. Raises UserError for a swept column that is not there."""
    need_columns(figure.file, ports, *([figure.over] if figure.over is not None else []))
    wanted = {
        column: [name for name in ports[column].unique().to_list() if matches(name, patterns)]
        for column, patterns in (("switch", figure.switches), ("peer", figure.peers))
    }
    chosen = of_seed(ports.filter(*(pl.col(column).is_in(names) for column, names in wanted.items())), figure.seed)
    cases = split(chosen, figure.over)
    names = [_name(variant, figure.over, rows) for variant, _, rows in cases]
    shares = [shared(rows, figure.y) for _, _, rows in cases]
    links = list(dict.fromkeys(link for one in shares for link in one))
    use_style()
    page = Figure(figsize=(6.8, 1.2 + 0.4 * max(len(cases), 1)), layout="constrained")
    axes = page.add_subplot()
    left = [0.0] * len(cases)
    for number, link in enumerate(links):
        widths = [100 * one.get(link, 0.0) for one in shares]
        colour, hatch = COLOURS[number % len(COLOURS)], _HATCHES[number // len(COLOURS) % len(_HATCHES)]
        axes.barh(range(len(cases)), widths, 0.7, left=left, color=colour, hatch=hatch, edgecolor="white", label=link)
        for place, (start, width) in enumerate(zip(left, widths, strict=True)):
            if width >= 100 * _LEAST_SAID:
                middle = start + width / 2
                axes.text(middle, place, f"{width:.1f}", ha="center", va="center", color="white", fontsize=8)
        left = [start + width for start, width in zip(left, widths, strict=True)]
    if links:
        axes.set_xlim(0, 100)
        axes.invert_yaxis()
        page.legend(loc="outside right center", fontsize="small")
    else:
        say(axes, "nothing passed these ports")
    axes.set_yticks(range(len(cases)), names)
    way, unit = figure.y.split("_")
    axes.set_xlabel(f"share of {_WORDS[unit]} {_WORDS[way]} (%)")
    axes.grid(visible=False)
    if any(rows.select("switch", "port").is_duplicated().any() for _, _, rows in cases):
        note(page, "runs of other swept values are added up")
    page.suptitle(figure.title)
    return save(page, folder / figure.file)


def shared(rows: pl.DataFrame, column: str) -> dict[str, float]:
    """Which share of a column's sum each link has, by name and in order; nothing where the sum is 0."""
    sums = rows.group_by("switch", "peer", maintain_order=True).agg(pl.col(column).sum())
    whole = sums[column].sum()
    each = sums.select("switch", "peer", column).rows()
    return {f"{switch} to {peer}": value / whole for switch, peer, value in each} if whole else {}


def _name(variant: str, over: str | None, rows: pl.DataFrame) -> str:
    """The label of a bar: the variant, and the swept value if there is one."""
    return variant if over is None else f"{variant}, {swept(over, rows[over][0])}"
