"""A picture of a topology: hosts at the bottom, switches in layers by their distance from hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from p4cc.figures.style import COLOURS, save, use_style
from topos.layout import layout

if TYPE_CHECKING:
    from pathlib import Path

    from topos import Topology

_MAX_LABELS = 60


def draw(topology: Topology, path: Path) -> Path:
    """Draws the network; slower links are drawn thinner. Returns the file written."""
    use_style()
    places = layout(topology)
    width = max(6.0, min(24.0, 0.22 * max(len(topology.hosts), len(topology.switches))))
    page = Figure(figsize=(width, 4.5), layout="constrained")
    axes = page.add_subplot(1, 1, 1)
    fastest = max(link.rate_bps for link in topology.links)
    for link in topology.links:
        (x, y), (to_x, to_y) = places[link.a], places[link.b]
        share = link.rate_bps / fastest
        axes.plot([x, to_x], [y, to_y], color="0.6", linewidth=0.4 + 1.2 * share, zorder=1)
    for names, marker, colour in ((topology.host_names, "o", COLOURS[0]), (topology.switch_names, "s", COLOURS[1])):
        axes.scatter(*zip(*(places[name] for name in names), strict=True), marker=marker, color=colour, s=24, zorder=2)
    for name, (x, y) in places.items():
        if name in topology.ports or len(topology.hosts) <= _MAX_LABELS:
            axes.annotate(name, (x, y), xytext=(0, 6), textcoords="offset points", ha="center", fontsize=6)
    axes.set_axis_off()
    return save(page, path)
