"""A packet takes whole cells, framing included."""

from __future__ import annotations

import pytest

from controller.units import cells_by_port
from topos import generate


@pytest.mark.parametrize(
    ("packet_bytes", "framing_bytes", "cell_bytes", "cells"),
    [
        (1_500, 0, 80, 19),
        (1_500, 24, 80, 20),
        (1_600, 0, 80, 20),
        (1_576, 24, 80, 20),
        (1_500, 24, 176, 9),
        (1, 0, 80, 1),
    ],
)
def test_a_packet_takes_whole_cells(packet_bytes: int, framing_bytes: int, cell_bytes: int, cells: int) -> None:
    topology = generate("star", {"senders": 2, "framing_bytes": framing_bytes})
    (switch,) = topology.ports
    found = cells_by_port(topology, {switch: cell_bytes}, packet_bytes)
    assert found == {(switch, port.peer): cells for port in topology.ports[switch]}
    assert len(found) == 3


def test_switches_that_count_packets_have_none() -> None:
    assert cells_by_port(generate("star", {"senders": 2}), {}, 1_500) == {}
