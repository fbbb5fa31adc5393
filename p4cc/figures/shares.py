"""How packets or bytes are shared among ports of switches: a bar for each variant and swept value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from p4cc.analysis.human import swept
from p4cc.figures.chart import Axis, Bars, Chart, Panel
from p4cc.figures.rows import need_columns, of_seed, split
from p4cc.planning.state_records import matches

if TYPE_CHECKING:
    from p4cc.scenario.figures import PortSharesFigure

_LEAST_SAID = 0.05
"""A smaller share has no room for its number."""
_COLOURS = 9
"""Links beyond so many have a pattern too."""
_WORDS = {"tx": "sent", "rx": "received", "pkts": "packets", "bytes": "bytes"}


def chart(ports: pl.DataFrame, figure: PortSharesFigure) -> Chart:
    """The bars; raises UserError for a swept column that is not there."""
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
    base = [0.0] * len(cases)
    marks: list[Bars] = []
    for number, link in enumerate(links):
        widths = [100 * one.get(link, 0.0) for one in shares]
        texts = [f"{width:.1f}" if width >= 100 * _LEAST_SAID else "" for width in widths]
        pattern = number // _COLOURS
        marks.append(
            Bars(
                list(range(len(cases))),
                widths,
                link,
                colour=number % _COLOURS,
                base=base,
                width=0.7,
                lying=True,
                pattern=pattern,
                texts=texts,
                text_at="inside",
            )
        )
        base = [start + width for start, width in zip(base, widths, strict=True)]
    way, unit = figure.y.split("_")
    shown = Axis(f"share of {_WORDS[unit]} {_WORDS[way]}", "%", low=0, high=100 if links else None)
    y = Axis(ticks=list(enumerate(names)), reversed=bool(links))
    panel = Panel(shown, y, marks, says="" if links else "nothing passed these ports", ruled=False)
    added = any(rows.select("switch", "port").is_duplicated().any() for _, _, rows in cases)
    notes = ["runs of other swept values are added up"] if added else []
    size = (6.8, 1.2 + 0.4 * max(len(cases), 1))
    return Chart(figure.title, [panel], size, notes=notes, legend="small" if links else "")


def shared(rows: pl.DataFrame, column: str) -> dict[str, float]:
    """Which share of a column's sum each link has, by name and in order; nothing where the sum is 0."""
    sums = rows.group_by("switch", "peer", maintain_order=True).agg(pl.col(column).sum())
    whole = sums[column].sum()
    each = sums.select("switch", "peer", column).rows()
    return {f"{switch} to {peer}": value / whole for switch, peer, value in each} if whole else {}


def _name(variant: str, over: str | None, rows: pl.DataFrame) -> str:
    """The label of a bar: the variant, and the swept value if there is one."""
    return variant if over is None else f"{variant}, {swept(over, rows[over][0])}"
