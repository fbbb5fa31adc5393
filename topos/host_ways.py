"""Which links of a host with several lead to which hosts: the nearer ones first.

A host forwards nothing, so what it sends takes one of its own links, and then the shortest way from the switch there.
Links from whose switches the way is equally long are a group; a flow takes one of the first group by a hash of its
number (`engine/netsim/src/describe/interfaces.rs`), and one of the next group while all of those are down.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from topos.routes import FAR, Distances, Homes, host_hops

if TYPE_CHECKING:
    from collections.abc import Iterator

    from topos.graph import Topology

Groups = tuple[tuple[int, ...], ...]
"""Interfaces by number, from 0 in the order of the host's links, in groups of one distance."""


@dataclass(frozen=True)
class Way:
    """The groups that lead to some hosts; those of the last one of a host lead to all that no other names."""

    groups: Groups
    hosts: tuple[str, ...]


class HostWays:
    """The ways of all hosts of a topology."""

    def __init__(self, topology: Topology) -> None:
        """Searches nothing before it is asked for hosts with several links."""
        self._topology = topology
        self._known: dict[tuple[str, int], Groups] = {}

    @cached_property
    def _found(self) -> tuple[Homes, Distances]:
        return host_hops(self._topology)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: index for index, name in enumerate(self._topology.switch_names)}

    def groups(self, src: str, dst: str) -> Groups:
        """The interfaces of a host that lead to another host."""
        ends = self._topology.interfaces[src]
        if len(ends) == 1:
            return ((0,),)
        homes, hops = self._found
        home = homes.of_host[dst]
        result = self._known.get((src, home))
        if result is None:
            by_distance: dict[int, list[int]] = {}
            for place, (switch, _) in enumerate(ends):
                by_distance.setdefault(int(hops[home, self._numbers[switch]]), []).append(place)
            near = sorted(distance for distance in by_distance if distance != FAR)
            result = self._known[src, home] = tuple(tuple(by_distance[distance]) for distance in near)
        return result

    def of(self, src: str) -> Iterator[Way]:
        """The ways of a host with several links; the last one leads to most hosts and names none."""
        others = [host for host in self._topology.host_names if host != src]
        by_groups: dict[Groups, list[str]] = {}
        for dst in others:
            by_groups.setdefault(self.groups(src, dst), []).append(dst)
        usual = Counter({groups: len(hosts) for groups, hosts in by_groups.items()}).most_common(1)[0][0]
        yield from (Way(groups, tuple(hosts)) for groups, hosts in by_groups.items() if groups != usual)
        yield Way(usual, ())

    def rate_bps(self, host: str) -> int:
        """Together, of the links by which a host reaches most others."""
        ends = self._topology.interfaces[host]
        places = (0,) if len(ends) == 1 else list(self.of(host))[-1].groups[0]
        return sum(self._topology.links[ends[place][1].link_index].rate_bps for place in places)
