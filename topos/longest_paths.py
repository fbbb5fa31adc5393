"""The costliest path between hosts that talk, for all pairs at once: networks of thousands of hosts have millions.

Of several shortest paths, the one with the lowest ports represents all; of several links of a sender that lead there,
the first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from topos.graph import Topology
from topos.routes import FAR, Distances, Homes, Routes, homes_of, host_hops

Costs: TypeAlias = npt.NDArray[np.int64]

_CHUNK = 256
"""Senders that are looked at together."""


def longest_cost(topology: Topology, routes: Routes, costs: Sequence[int]) -> int:
    """The largest sum of links' costs on the path from a host that sends to another that receives; 0 without two.

    `costs` has the cost of each link of the topology, 0 or more.
    """
    roles = topology.roles
    homes, hops = host_hops(topology) if topology.has_several_links else (homes_of(topology), None)
    senders = _ends(topology, homes, roles.senders or topology.host_names, costs)
    receivers = _ends(topology, homes, roles.receivers or topology.host_names, costs)
    between, ends = _between(topology, homes, routes, costs)
    longest = 0
    for first in range(0, len(senders.hosts), _CHUNK):
        some = senders.part(first, first + _CHUNK)
        # A sender's way begins at the switch of its nearest link, and ends at one of the receiver's home.
        nearest = some.nearest(hops, receivers.homes)
        rows = np.arange(len(some.hosts))[:, None]
        start, home = some.switches[rows, nearest], receivers.homes
        found = some.costs[rows, nearest] + between[start, home]
        found += receivers.cost_at(ends[start, home])
        found[some.hosts[:, None] == receivers.hosts] = 0
        longest = max(longest, int(found.max(initial=0)))
    return longest


@dataclass(frozen=True)
class _Ends:
    """Hosts as arrays: number and home; by link in order the number of the switch, -1 for none, and the cost."""

    hosts: Costs
    homes: Costs
    switches: Costs
    costs: Costs

    def part(self, first: int, last: int) -> "_Ends":
        """Some of them."""
        return _Ends(*(one[first:last] for one in (self.hosts, self.homes, self.switches, self.costs)))

    def nearest(self, hops: Distances | None, homes: Costs) -> Costs:
        """For each of these senders (row) and each receiver of these homes, the sender's nearest link."""
        if hops is None:
            return np.zeros((len(self.hosts), len(homes)), dtype=np.int64)
        distances = hops[homes[None, :, None], self.switches[:, None, :]]
        return np.where(self.switches[:, None, :] < 0, FAR, distances).argmin(axis=2)

    def cost_at(self, ends: Costs) -> Costs:
        """Costs of these receivers' links (column) from the switches that ways end at."""
        result = np.zeros_like(ends)
        for link in range(self.switches.shape[1]):
            result = np.where(ends == self.switches[:, link], self.costs[:, link], result)
        return result


def _ends(topology: Topology, homes: Homes, names: Sequence[str], costs: Sequence[int]) -> _Ends:
    """At most two hosts for each home and costs: others of the kind have the same paths."""
    places = {name: place for place, name in enumerate(topology.host_names)}
    numbers = {name: number for number, name in enumerate(topology.switch_names)}
    seen: dict[tuple[tuple[int, int], ...], int] = {}
    found: list[tuple[int, int, list[int], list[int]]] = []
    most = max((len(topology.interfaces[name]) for name in names), default=1)
    for name in names:
        links = tuple((numbers[switch], costs[port.link_index]) for switch, port in topology.interfaces[name])
        seen[links] = seen.get(links, 0) + 1
        if seen[links] <= 2:
            switches, paid = (list(part) for part in zip(*links, strict=True))
            none = [-1] * (most - len(links))
            found.append((places[name], homes.of_host[name], switches + none, paid + none))
    columns = zip(*found, strict=True) if found else ((), (), (), ())
    hosts, own, switches, paid = (np.array(list(column), dtype=np.int64) for column in columns)
    return _Ends(hosts, own, switches.reshape(-1, most), paid.reshape(-1, most))


def _between(topology: Topology, homes: Homes, routes: Routes, costs: Sequence[int]) -> tuple[Costs, Costs]:
    """Cost of the path from each switch (row) to each home (column), and the switch that it ends at."""
    numbers = {name: number for number, name in enumerate(topology.switch_names)}
    peers, steps = (np.zeros((len(numbers), len(homes.switches)), dtype=np.int64) for _ in range(2))
    for switch, number in numbers.items():
        ports = {port.number: port for port in topology.ports[switch]}
        ways, way_of_home = routes[switch].by_home()
        firsts = [ports[way[0]] if way else None for way in ways]
        peers[number] = np.array([number if port is None else numbers[port.peer] for port in firsts])[way_of_home]
        steps[number] = np.array([0 if port is None else costs[port.link_index] for port in firsts])[way_of_home]
    total, at = np.zeros_like(steps), np.broadcast_to(np.arange(len(numbers))[:, None], steps.shape)
    columns = np.arange(len(homes.switches))
    # All paths advance by a link at a time; those that have arrived stay.
    while (step := steps[at, columns]).any() or (at != peers[at, columns]).any():
        total += step
        at = peers[at, columns]
    return total, at
