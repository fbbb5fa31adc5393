"""The times of a network's longest path, from which timeouts follow that nobody gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p4cc.scenario.timeouts import PathTimes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from topos import Paths, Topology


def path_times(topology: Topology, paths: Paths, packet_bytes: int, buffers: Mapping[str, int]) -> PathTimes:
    """Round trip and longest queue for packets of this size; `buffers` has the bytes that a switch's ports share."""
    queues_ns = [0]
    for switch, ports in topology.ports.items():
        for port in ports:
            link = topology.links[port.link_index]
            held_bytes = link.queue_capacity_pkts * packet_bytes
            queues_ns.append(8_000_000_000 * min(held_bytes, buffers.get(switch, held_bytes)) // link.rate_bps)
    return PathTimes(paths.longest_rtt_ns(packet_bytes), max(queues_ns))
