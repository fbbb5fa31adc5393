"""The costliest path between hosts that talk, for all pairs at once: networks of thousands of hosts have millions.

Of several shortest paths, the one with the lowest ports represents all.
"""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from topos.graph import Topology
from topos.routes import Routes

Costs: TypeAlias = npt.NDArray[np.int64]


def longest_cost(topology: Topology, routes: Routes, costs: Sequence[int]) -> int:
    """The largest sum of links' costs on the path from a host that sends to another that receives; 0 without two.

    `costs` has the cost of each link of the topology, 0 or more.
    """
    roles = topology.roles
    senders = _ends(topology, roles.senders or topology.host_names, costs)
    receivers = _ends(topology, roles.receivers or topology.host_names, costs)
    between = _between(topology, routes, costs)
    # A sender's way begins at the switch of its home, and ends at that of the receiver's.
    found = senders.costs[:, None] + between[senders.homes[:, None], receivers.homes] + receivers.costs
    found[senders.hosts[:, None] == receivers.hosts] = 0
    return int(found.max(initial=0))


class _Ends:
    """Hosts as arrays: their number, the number of the switch they hang on, and their link's cost."""

    def __init__(self, found: Iterable[tuple[int, int, int]]) -> None:
        table = np.array(list(found), dtype=np.int64).reshape(-1, 3)
        self.hosts, self.homes, self.costs = table.T


def _ends(topology: Topology, names: Sequence[str], costs: Sequence[int]) -> _Ends:
    """At most two hosts for each switch and cost: others of the kind have the same paths."""
    places = {name: place for place, name in enumerate(topology.host_names)}
    numbers = {name: number for number, name in enumerate(topology.switch_names)}
    seen: dict[tuple[str, int], int] = {}
    result: list[tuple[int, int, int]] = []
    for name in names:
        switch, port = topology.attachments[name]
        cost = costs[port.link_index]
        seen[switch, cost] = seen.get((switch, cost), 0) + 1
        if seen[switch, cost] <= 2:
            result.append((places[name], numbers[switch], cost))
    return _Ends(result)


def _between(topology: Topology, routes: Routes, costs: Sequence[int]) -> Costs:
    """Cost of the path from each switch (row) to each (column) that has hosts; 0 to others."""
    numbers = {name: number for number, name in enumerate(topology.switch_names)}
    homes = {switch: number for number, switch in enumerate(dict.fromkeys(s for s, _ in topology.attachments.values()))}
    peers, steps = (np.zeros((len(numbers), len(homes)), dtype=np.int64) for _ in range(2))
    for switch, number in numbers.items():
        ports = {port.number: port for port in topology.ports[switch]}
        ways, way_of_home = routes[switch].by_home()
        firsts = [ports[way[0]] if way else None for way in ways]
        peers[number] = np.array([number if port is None else numbers[port.peer] for port in firsts])[way_of_home]
        steps[number] = np.array([0 if port is None else costs[port.link_index] for port in firsts])[way_of_home]
    total, at = np.zeros_like(steps), np.broadcast_to(np.arange(len(numbers))[:, None], steps.shape)
    columns = np.arange(len(homes))
    # All paths advance by a link at a time; those that have arrived stay.
    while (step := steps[at, columns]).any() or (at != peers[at, columns]).any():
        total += step
        at = peers[at, columns]
    result = np.zeros((len(numbers), len(numbers)), dtype=np.int64)
    result[:, [numbers[switch] for switch in homes]] = total
    return result
