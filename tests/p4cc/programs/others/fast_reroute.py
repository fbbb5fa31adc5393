"""p4-learning, 12-Fast-Reroute: next hops and loop-free alternates, as the exercise's controller computes them."""

from __future__ import annotations

from collections import defaultdict
from heapq import heappop, heappush
from ipaddress import IPv4Address
from typing import TYPE_CHECKING

import finsy as fy
from paths import mac_behind

import p4cc

if TYPE_CHECKING:
    from collections.abc import Mapping


class Reroute(p4cc.Controller):
    """Tells a switch at once that a link of its own is down, and gives all switches new next hops later."""

    def __init__(self, weights: str, recompute_ns: int, alternates: bool) -> None:
        """`weights` are those of links that do not weigh 1: `s3-s4 5, s1-s3 10`."""
        each = [one.split() for one in weights.split(",")]
        self.weights = {frozenset(link.split("-")): int(weight) for link, weight in each}
        self.recompute_ns = recompute_ns
        self.alternates = alternates
        self.down: set[frozenset[str]] = set()

    async def start(self) -> None:
        self.hosts = sorted(self.addresses.hosts)
        for name, switch in self.switches.items():
            rewrites = [
                _entry("rewrite_mac", {"nextHop": port.number}, "rewriteMac", dstAddr=self.mac(name, port.peer))
                for port in self.topology.ports[name]
            ]
            indices = [
                _entry("ipv4_lpm", {"dstAddr": f"{self.ipv4(host)}/32"}, "read_port", index=index)
                for index, host in enumerate(self.hosts)
            ]
            await switch.insert(rewrites + indices)
        await self.update()

    async def on_port_change(self, switch: fy.Switch, port: int, up: bool) -> None:
        peer = next(one.peer for one in self.topology.ports[switch.name] if one.number == port)
        await switch.modify([fy.P4RegisterEntry("linkState", index=port, data=int(not up))])
        link = frozenset((switch.name, peer))
        if up == (link in self.down):
            self.down ^= {link}
            self.after(self.recompute_ns, self.update)

    async def update(self) -> None:
        """Writes the next hop of each host, and the one to take while its link is down, to all switches."""
        distances = {name: self.distances(name) for name in [*self.switches, *self.hosts]}
        for name, switch in self.switches.items():
            cells: list[fy.P4RegisterEntry] = []
            for index, host in enumerate(self.hosts):
                primary, alternate = self.next_hops(name, host, distances)
                cells += [
                    fy.P4RegisterEntry("primaryNH", index=index, data=self.topology.port_to(name, primary).number),
                    fy.P4RegisterEntry(
                        "alternativeNH", index=index, data=self.topology.port_to(name, alternate).number
                    ),
                ]
            await switch.modify(cells)

    def next_hops(self, switch: str, host: str, distances: Mapping[str, Mapping[str, int]]) -> tuple[str, str]:
        """The nearest neighbour on the way to a host, and the nearest one that would not send it back here."""
        cost = {peer: weight + distances[peer][host] for peer, weight in self.neighbours(switch).items()}
        primary = min(cost, key=lambda peer: cost[peer])
        others = [
            peer
            for peer in cost.keys() & self.switches.keys()
            if peer != primary and distances[peer][host] < distances[peer][switch] + distances[switch][host]
        ]
        if not others or primary == host or not self.alternates:
            return primary, primary
        return primary, min(others, key=lambda peer: (cost[peer], peer))

    def neighbours(self, name: str) -> dict[str, int]:
        """Nodes at the other ends of links that are up, with the links' weights."""
        peers = [port.peer for port in self.topology.ports[name]] if name in self.switches else [self.switch_of(name)]
        return {
            peer: self.weights.get(frozenset((name, peer)), 1)
            for peer in peers
            if frozenset((name, peer)) not in self.down
        }

    def distances(self, source: str) -> dict[str, int]:
        """Of all nodes from one, by Dijkstra's algorithm."""
        found: dict[str, int] = defaultdict(lambda: 1 << 30)
        heap = [(0, source)]
        while heap:
            distance, name = heappop(heap)
            if name in found:
                continue
            found[name] = distance
            for peer, weight in self.neighbours(name).items():
                heappush(heap, (distance + weight, peer))
        return found

    def switch_of(self, host: str) -> str:
        """The switch that a host hangs on."""
        return next(name for name, ports in self.topology.ports.items() if any(port.peer == host for port in ports))

    def mac(self, switch: str, peer: str) -> int:
        """The address behind a port."""
        return mac_behind(self.topology, self.addresses, switch, peer)

    def ipv4(self, host: str) -> IPv4Address:
        """A host's address."""
        return IPv4Address(self.addresses.hosts[host].ipv4)


def _entry(table: str, match: dict[str, int | str], action: str, **params: int) -> fy.P4TableEntry:
    return fy.P4TableEntry(table, match=fy.P4TableMatch(match), action=fy.P4TableAction(action, **params))
