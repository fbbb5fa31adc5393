"""How much of some hosts' traffic crosses a link, when each flow takes one of all shortest paths by its hash."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING

from topos import shortest_routes
from topos.host_ways import HostWays

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from topos import Topology
    from topos.routes import Routes


@dataclass(frozen=True)
class DirectedLink:
    """A link in one direction, or the parallel links between the same two nodes."""

    topology: Topology
    ends: tuple[str, str]
    """Names of the nodes from which and to which its packets go."""
    by_capacity: bool
    """Whether switches choose ports by the capacity behind them (docs/algorithms/topologies.md#wcmp)."""
    _known: dict[tuple[str, str], float] = field(default_factory=dict[tuple[str, str], float])

    @property
    def rate_bps(self) -> int:
        """Its rate; 0 if no link joins the nodes."""
        return sum(
            link.rate_bps
            for link in self.topology.links
            if set(self.ends) == {link.a, link.b} and link.carries_from(self.ends[0])
        )

    def share(self, sources: Sequence[str], destinations: Sequence[str]) -> float:
        """The share of flows that cross it: of evenly drawn sources, each to another of the destinations."""
        routes = shortest_routes(self.topology, by_capacity=self.by_capacity)
        ways = HostWays(self.topology)
        shares: list[float] = []
        for source in sources:
            crossing = [
                fmean(
                    self._from_host(routes, source, first, destination) for first in ways.groups(source, destination)[0]
                )
                for destination in destinations
                if destination != source
            ]
            shares.append(fmean(crossing))
        return fmean(shares)

    def _from_host(self, routes: Routes, source: str, interface: int, destination: str) -> float:
        switch, _ = self.topology.interfaces[source][interface]
        return 1.0 if self.ends == (source, switch) else self._from_switch(routes, switch, destination)

    def _from_switch(self, routes: Routes, switch: str, destination: str) -> float:
        """The probability that a flow at a switch still crosses it."""
        found = self._known.get((switch, destination))
        if found is None:
            beyond = list(self._beyond(routes, switch, destination))
            found = fmean(beyond) if beyond else 0.0
            self._known[switch, destination] = found
        return found

    def _beyond(self, routes: Routes, switch: str, destination: str) -> Iterator[float]:
        for port in routes[switch][destination]:
            peer = self.topology.port(switch, port).peer
            if self.ends == (switch, peer):
                yield 1.0
            else:
                yield 0.0 if peer == destination else self._from_switch(routes, peer, destination)
