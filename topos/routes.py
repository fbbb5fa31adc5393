"""All shortest paths: for each switch and destination host, the ports that lie on one (an ECMP set).

Paths are counted in links, never lead through a host and keep to the direction of one-way links. The order is fixed:
switches and hosts as described, ports ascending; the result depends on nothing else.
"""

from collections import deque
from collections.abc import Mapping

from topos.errors import Problem, TopologyError
from topos.graph import Topology

Routes = Mapping[str, Mapping[str, tuple[int, ...]]]
"""switch name -> host name -> egress ports, ascending."""


def shortest_routes(topology: Topology) -> Routes:
    """Routes of every switch to every host; raises TopologyError where a switch cannot reach a host."""
    routes: dict[str, dict[str, tuple[int, ...]]] = {name: {} for name in topology.switch_names}
    unreachable: list[Problem] = []
    # Hosts on one switch share the ways there, so those are searched once per switch.
    ways: dict[str, Mapping[str, tuple[int, ...]]] = {}
    for host, (home, home_port) in topology.attachments.items():
        if home not in ways:
            ways[home] = _ports_towards(topology, home)
        towards = ways[home]
        for switch in topology.switch_names:
            if switch == home:
                routes[switch][host] = (home_port.number,)
            elif switch in towards:
                routes[switch][host] = towards[switch]
            else:
                cause = f"cannot reach host {host!r}"
                unreachable.append(Problem(f"switch {switch!r}", cause, "join the two parts of the network by a link"))
    if unreachable:
        raise TopologyError(tuple(unreachable))
    return routes


def _ports_towards(topology: Topology, target: str) -> Mapping[str, tuple[int, ...]]:
    """For each switch that reaches the switch `target`, its ports on the shortest paths there."""
    hops = distances_to(topology, target)
    return {
        switch: tuple(
            port.number
            for port in topology.ports[switch]
            if hops.get(port.peer) == distance - 1 and topology.links[port.link_index].carries_from(switch)
        )
        for switch, distance in hops.items()
    }


def distances_to(topology: Topology, target: str) -> Mapping[str, int]:
    """Links between each switch that reaches the switch `target` and that switch."""
    hops = {target: 0}
    queue = deque([target])
    while queue:
        here = queue.popleft()
        for port in topology.ports[here]:
            is_new = port.peer in topology.ports and port.peer not in hops
            if is_new and topology.links[port.link_index].carries_from(port.peer):
                hops[port.peer] = hops[here] + 1
                queue.append(port.peer)
    return hops
