"""What controllers of this folder ask of a network: shortest paths, and who is behind a port."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from topos import AddressPlan, Topology


def ports_towards(topology: Topology, switch: str, host: str) -> tuple[int, ...]:
    """Ports of a switch on shortest paths to a host."""
    distance = {host: 0}
    nearest = [host]
    while nearest:
        nearest = [
            name
            for name, ports in topology.ports.items()
            if name not in distance and any(port.peer in nearest for port in ports)
        ]
        distance |= dict.fromkeys(nearest, max(distance.values()) + 1)
    least = min(distance[port.peer] for port in topology.ports[switch] if port.peer in distance)
    return tuple(port.number for port in topology.ports[switch] if distance.get(port.peer) == least)


def mac_behind(topology: Topology, addresses: AddressPlan, switch: str, peer: str) -> int:
    """The address at the other end of a switch's link to a host or another switch."""
    if peer in addresses.hosts:
        return addresses.hosts[peer].mac
    return addresses.port_mac(peer, topology.port_to(peer, switch).number)
