"""A picture of a topology: hosts at the bottom, switches in layers by their distance from hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.collections import LineCollection
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
    page = Figure(figsize=(width, 4.5))
    axes = page.add_axes((0, 0, 1, 1))
    fastest = max(link.rate_bps for link in topology.links)
    lines = [(places[link.a], places[link.b]) for link in topology.links]
    widths = [0.4 + 1.2 * link.rate_bps / fastest for link in topology.links]
    # One artist for all: one for each link takes most of the time.
    axes.add_collection(LineCollection(lines, colors="0.6", linewidths=widths, zorder=1))
    for names, marker, colour in ((topology.host_names, "o", COLOURS[0]), (topology.switch_names, "s", COLOURS[1])):
        axes.scatter(*zip(*(places[name] for name in names), strict=True), marker=marker, color=colour, s=24, zorder=2)
    for name, (x, y) in places.items():
        if name in topology.ports or len(topology.hosts) <= _MAX_LABELS:
            axes.annotate(name, (x, y), xytext=(0, 6), textcoords="offset points", ha="center", fontsize=6)
    axes.set_axis_off()
    return save(page, path)
