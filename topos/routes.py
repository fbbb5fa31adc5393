"""All shortest paths: for each switch and destination host, the ports that lie on one (an ECMP set).

Paths are counted in links, never lead through a host and keep to the direction of one-way links. The order is fixed:
switches and hosts as described, ports ascending; the result depends on nothing else.

By capacity (weighted ECMP, docs/algorithms/topologies.md#wcmp), a set holds each port as often as its weight says.

Hosts on one switch, or on the same switches, share the ways there: the switches of a host's links are its home. So a
network's routes are held by switch and home of the destination: 8,192 hosts behind 1,280 switches have ten million
routes, but 655,360 ways, of which few differ.

Where hosts have several links, a switch may have no way to some of them (an NVSwitch to other servers): the set is
empty, and no host sends what is for them there.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import gcd
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from topos.errors import fail
from topos.graph import Topology

FAR = np.iinfo(np.int16).max
"""More links than any path has."""
_UNBOUNDED_BPS = 1 << 62
"""Of a switch to its own hosts: their links are no part of a choice between ways."""
_WORD_BYTES = 8
MAX_WEIGHTS = 32
"""Largest sum of weights of a set of ports, as p4src's groups take (`ECMP_MAX_GROUP_SIZE`); shares that need more are
rounded."""

Ids: TypeAlias = npt.NDArray[np.int32]
Distances: TypeAlias = npt.NDArray[np.int16]
Rates: TypeAlias = npt.NDArray[np.int64]
Ports: TypeAlias = tuple[int, ...]


class SwitchRoutes(Mapping[str, Ports]):
    """Routes of one switch: host name -> egress ports, ascending, none where there is no way; hosts in order."""

    def __init__(self, network: "Homes", own: Mapping[str, Ports], ways: Sequence[Ports], way_of_home: Ids) -> None:
        """`own` has the ports to the switch's own hosts; `way_of_home` has the place in `ways` of each home."""
        self._network = network
        self._own = own
        self._ways = ways
        self._way_of_home = way_of_home

    def __getitem__(self, host: str) -> Ports:
        """The ports towards a host; raises KeyError for an unknown one."""
        if (own := self._own.get(host)) is not None:
            return own
        return self._ways[int(self._way_of_home[self._network.of_host[host]])]

    def __iter__(self) -> Iterator[str]:
        return iter(self._network.of_host)

    def __len__(self) -> int:
        return len(self._network.of_host)

    def by_home(self) -> tuple[Sequence[Ports], Ids]:
        """The distinct sets of ports, and by home, in the order of its first host, the number of its own.

        The set is empty at the home's own switches, where each host has ports, and where there is no way.
        """
        return self._ways, self._way_of_home

    def numbered(self) -> tuple[list[Ports], Ids]:
        """The distinct sets of ports, and for each host in order the number of its own."""
        ids = self._way_of_home[self._network.homes]
        ways = list(self._ways)
        for host, ports in self._own.items():
            ids[self._network.places[host]] = len(ways)
            ways.append(ports)
        return ways, ids


Routes: TypeAlias = Mapping[str, SwitchRoutes]
"""switch name -> host name -> egress ports, ascending."""


@dataclass(frozen=True)
class Homes:
    """Where hosts hang: by name the number of its home among homes; as an array in order."""

    of_host: Mapping[str, int]
    switches: tuple[tuple[str, ...], ...]
    """Of each home, in the order of their first hosts."""
    homes: Ids

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Place of each host among hosts."""
        return {host: place for place, host in enumerate(self.of_host)}


def homes_of(topology: Topology) -> Homes:
    """The homes of a topology's hosts."""
    numbers: dict[tuple[str, ...], int] = {}
    of_host = {
        host: numbers.setdefault(tuple(dict.fromkeys(switch for switch, _ in ends)), len(numbers))
        for host, ends in topology.interfaces.items()
    }
    return Homes(of_host, tuple(numbers), np.array(list(of_host.values()), dtype=np.int32))


def shortest_routes(topology: Topology, *, by_capacity: bool = False, check: bool = True) -> Routes:
    """Routes of every switch to every host; raises TopologyError where a switch cannot reach a host, unless unchecked.

    By capacity, ports have weights: the bits per second that reach the destination's switch through each.
    """
    homes = homes_of(topology)
    number = {name: index for index, name in enumerate(topology.switch_names)}
    hops = _distances(topology, number, [[number[name] for name in home] for home in homes.switches])
    if check:
        _check_reached(topology, homes, hops)
    own = _own_hosts(topology)
    capacities = _capacities(topology, number, hops) if by_capacity else None
    return {
        switch: SwitchRoutes(homes, own[switch], *_ways(topology, switch, number, hops, capacities))
        for switch in topology.switch_names
    }


def _own_hosts(topology: Topology) -> Mapping[str, Mapping[str, Ports]]:
    """By switch: the hosts there in order, with the ports towards them."""
    found: dict[str, dict[str, Ports]] = {switch: {} for switch in topology.switch_names}
    for host, ends in topology.interfaces.items():
        for switch, port in ends:
            found[switch][host] = (*found[switch].get(host, ()), port.number)
    return found


def host_hops(topology: Topology) -> tuple[Homes, Distances]:
    """The homes, and the links between each home (row) and each switch (column); `FAR` without a way."""
    homes = homes_of(topology)
    number = {name: index for index, name in enumerate(topology.switch_names)}
    return homes, _distances(topology, number, [[number[name] for name in home] for home in homes.switches])


def _distances(topology: Topology, number: Mapping[str, int], targets: Sequence[Sequence[int]]) -> Distances:
    """Links from every switch (column) to each set of targets (row), found layer by layer for all at once."""
    heads, tails = _edges(topology, number)
    hops = np.full((len(targets), len(number)), FAR, dtype=np.int16)
    for row, switches in enumerate(targets):
        hops[row, switches] = 0
    for distance in range(len(number)):
        # Edges that end in the last layer, by target, whose beginnings are not reached yet.
        found = hops[:, heads] == distance
        found &= hops[:, tails] == FAR
        rows, edges = np.nonzero(found)
        if len(rows) == 0:
            break
        hops[rows, tails[edges]] = distance + 1
    return hops


def _edges(topology: Topology, number: Mapping[str, int]) -> tuple[Ids, Ids]:
    """Links between switches by direction: the switch that each leads to, and the one that it leads from."""
    pairs = [(number[there], number[here]) for here, there, _ in _between_switches(topology, number)]
    ends = np.array(pairs, dtype=np.int32).reshape(-1, 2)
    return ends[:, 0], ends[:, 1]


def _between_switches(topology: Topology, number: Mapping[str, int]) -> Iterator[tuple[str, str, int]]:
    """Links between switches in each direction that routes may use: from, to, rate in bit/s."""
    for link in topology.links:
        for here, there in ((link.a, link.b), (link.b, link.a)):
            if here in number and there in number and link.carries_from(here):
                yield here, there, link.rate_bps


def _capacities(topology: Topology, number: Mapping[str, int], hops: Distances) -> Rates:
    """Bits per second from every switch (column) to each target (row) over all shortest paths, layer by layer."""
    heads, tails = _edges(topology, number)
    rates = np.array([rate for _, _, rate in _between_switches(topology, number)], dtype=np.int64)
    found = np.where(hops == 0, _UNBOUNDED_BPS, 0).astype(np.int64)
    for distance in range(1, int(hops.max(initial=0)) + 1):
        rows, edges = np.nonzero((hops[:, tails] == distance) & (hops[:, heads] == distance - 1))
        through = np.minimum(rates[edges], found[rows, heads[edges]])
        np.add.at(found, (rows, tails[edges]), through)
    return found


def _check_reached(topology: Topology, homes: Homes, hops: Distances) -> None:
    """Raise TopologyError that names the first switch and host without a path, and how many pairs have none.

    Where hosts have several links, another of them may lead there: then each host must reach each other one.
    """
    if not (hops == FAR).any():
        return
    remedy = "connect the parts of the network with a link"
    if topology.has_several_links:
        number = {name: index for index, name in enumerate(topology.switch_names)}
        of_home = np.array([hops[:, [number[name] for name in home]].min(axis=1) for home in homes.switches])
        pairs = np.argwhere(of_home == FAR)
        if len(pairs) == 0:
            return
        by_home = {home: host for host, home in reversed(tuple(homes.of_host.items()))}
        src, dst = (by_home[int(home)] for home in pairs[0])
        raise fail(f"host {src!r}", f"cannot reach host {dst!r}", remedy)
    apart = [
        (switch, host)
        for host, home in homes.of_host.items()
        for index, switch in enumerate(topology.switch_names)
        if hops[home, index] == FAR
    ]
    switch, host = apart[0]
    more = f", nor do {len(apart) - 1} other pairs of a switch and a host have a path" if apart[1:] else ""
    raise fail(f"switch {switch!r}", f"cannot reach host {host!r}{more}", remedy)


def _ways(
    topology: Topology, switch: str, number: Mapping[str, int], hops: Distances, capacities: Rates | None
) -> tuple[list[Ports], Ids]:
    """The distinct sets of ports of one switch on shortest paths, and by home the place of its own among them."""
    ports = [
        port
        for port in topology.ports[switch]
        if port.peer in number and topology.links[port.link_index].carries_from(switch)
    ]
    peers = [number[port.peer] for port in ports]
    here = hops[:, number[switch]]
    leads = hops[:, peers] == here[:, None] - 1
    numbers = np.array([port.number for port in ports], dtype=np.int32)
    if capacities is not None:
        rates = np.array([topology.links[port.link_index].rate_bps for port in ports], dtype=np.int64)
        through = np.where(leads, np.minimum(rates, capacities[:, peers]), 0)
        rows, inverse = np.unique(through, axis=0, return_inverse=True)
        weighted = [tuple(np.repeat(numbers, weights_of(row.tolist())).tolist()) for row in rows]
        return weighted, inverse.reshape(-1).astype(np.int32)
    packed = np.packbits(leads, axis=1)
    if (width := packed.shape[1]) <= _WORD_BYTES:
        # Words sort in the order of their bytes, and faster than rows.
        words = np.zeros((len(packed), _WORD_BYTES), dtype=np.uint8)
        words[:, :width] = packed
        found, inverse = np.unique(words.view(">u8").reshape(-1).astype(np.uint64), return_inverse=True)
        rows = found.astype(">u8").view(np.uint8).reshape(-1, _WORD_BYTES)[:, :width]
    else:
        rows, inverse = np.unique(packed, axis=0, return_inverse=True)
    flags = np.unpackbits(rows, axis=1, count=len(ports)).astype(bool)
    ways: list[Ports] = [tuple(numbers[row].tolist()) for row in flags]
    return ways, inverse.reshape(-1).astype(np.int32)


def weights_of(rates_bps: Sequence[int]) -> list[int]:
    """The smallest weights in proportion to rates; with a sum of at most `MAX_WEIGHTS`, rounded where they must be.

    A way with a rate has at least weight 1, one without a rate 0. More ways than `MAX_WEIGHTS` have weight 1 each.
    """
    whole = gcd(*rates_bps) or 1
    weights = [rate // whole for rate in rates_bps]
    together = sum(weights)
    if together <= MAX_WEIGHTS:
        return weights
    weights = [max(1, rate * MAX_WEIGHTS // together) if rate else 0 for rate in weights]
    # Slow ways that have more than their share take it from the fastest.
    while sum(weights) > MAX_WEIGHTS and max(weights) > 1:
        weights[weights.index(max(weights))] -= 1
    return weights
