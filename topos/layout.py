"""Coordinates of nodes in a drawing: hosts at the bottom, switches in layers above them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from topos.graph import Topology


def layout(topology: Topology) -> dict[str, tuple[float, float]]:
    """A place for each node: the layer is the distance from the nearest host, nodes of a layer are spread evenly.

    Switches without hosts are placed above switches with hosts; a row of equal switches is on one line.
    """
    layers: dict[str, int] = dict.fromkeys(topology.host_names, 0)
    edge = [name for name in topology.switch_names if any(port.peer in layers for port in topology.ports[name])]
    while edge:
        level = max(layers.values()) + 1
        layers.update(dict.fromkeys(edge, level))
        edge = [
            name
            for name in topology.switch_names
            if name not in layers and any(port.peer in layers for port in topology.ports[name])
        ]
    rows: dict[int, list[str]] = {}
    for name, level in layers.items():
        rows.setdefault(level, []).append(name)
    return {
        name: ((place + 0.5) / len(names), float(level))
        for level, names in rows.items()
        for place, name in enumerate(names)
    }
