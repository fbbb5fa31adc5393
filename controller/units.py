"""Units of queue depths: packets, or on a chip the cells that a packet takes."""

from collections.abc import Mapping

from controller.features import PortName
from topos import Topology

CELL_BYTES = 80
"""Of Tofino, and of the unit of depth where a scenario counts cells."""
CHIP_CELL_BYTES: Mapping[str, int] = {"tna": CELL_BYTES, "t2na": 176}
"""Architectures, as P4Info names them, whose traffic manager counts cells: Tofino's and Tofino 2's."""


def cells_by_port(topology: Topology, cell_bytes: Mapping[str, int], packet_bytes: int) -> dict[PortName, int]:
    """Cells of a full packet at every port of the switches that `cell_bytes` names; `packet_bytes` are its IP bytes.

    A packet takes whole cells.
    """
    return {
        (switch, port.peer): -(-(packet_bytes + topology.links[port.link_index].framing_bytes) // size)
        for switch, size in cell_bytes.items()
        for port in topology.ports[switch]
    }
