"""Which links of a host with several lead to which hosts: the nearer ones first.

A host forwards nothing, so what it sends takes one of its own links, and then the shortest way from the switch there.
Links from whose switches the way is equally long are a group; a flow takes one of the first group by a hash of its
number (`engine/netsim/src/describe/interfaces.rs`), and one of the next group while all of those are down.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from topos.routes import FAR, Distances, Homes, host_hops

if TYPE_CHECKING:
    from collections.abc import Iterator

    from topos.graph import Topology
    from topos.routes import Ids

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
        self._usual: dict[str, Groups] = {}

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
        sets, number_of = self._numbered(src)
        usual = _most_common(sets, number_of)
        names = self._topology.host_names
        for number, groups in enumerate(sets):
            if groups != usual:
                yield Way(groups, tuple(names[place] for place in np.flatnonzero(number_of == number).tolist()))
        yield Way(usual, ())

    def _numbered(self, src: str) -> tuple[list[Groups], Ids]:
        """The distinct groups of a host in the order of the hosts, and for each host the number of its own; -1 for src.

        For all destinations at once: one by one, the pairs of 8,192 hosts would take minutes.
        """
        homes, hops = self._found
        ends = self._topology.interfaces[src]
        # Hosts to which each link is as far lead to one number.
        kinds = np.zeros(len(homes.homes), dtype=np.int64)
        for switch, _ in ends:
            distances = hops[homes.homes, self._numbers[switch]].astype(np.int64)
            kinds = np.unique(kinds * (FAR + 1) + distances, return_inverse=True)[1].reshape(-1)
        kinds[homes.places[src]] = -1
        _, firsts, inverse = np.unique(kinds, return_index=True, return_inverse=True)
        names = self._topology.host_names
        sets: dict[Groups, int] = {}
        numbers = np.full(len(firsts), -1, dtype=np.int32)
        for place in np.argsort(firsts).tolist():
            dst = names[int(firsts[place])]
            if dst != src:
                numbers[place] = sets.setdefault(self.groups(src, dst), len(sets))
        return list(sets), numbers[inverse.reshape(-1)]

    def rate_bps(self, host: str) -> int:
        """Together, of the links by which a host reaches most others."""
        ends = self._topology.interfaces[host]
        if len(ends) > 1 and host not in self._usual:
            self._usual[host] = _most_common(*self._numbered(host))
        places = (0,) if len(ends) == 1 else self._usual[host][0]
        return sum(self._topology.links[ends[place][1].link_index].rate_bps for place in places)


def _most_common(sets: list[Groups], number_of: Ids) -> Groups:
    """The groups that lead to most hosts; of several, those that lead to the first host."""
    return sets[int(np.argmax(np.bincount(number_of[number_of >= 0], minlength=len(sets))))]
