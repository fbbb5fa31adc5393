"""The desired state of every switch: routes with ECMP groups, thresholds per port, the codepoint map.

Pure and deterministic: the same topology and settings give the same entities in the same order. A next hop's member
id is its port number (a port has one neighbour), and groups are numbered from 1 in the order of their ports.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from controller import program
from controller.ecn import Level, Profile, codepoint_map
from controller.entities import (
    ActionCall,
    Entity,
    Entry,
    EntryKey,
    Exact,
    Group,
    GroupKey,
    GroupRef,
    Lpm,
    Member,
    MemberKey,
    MemberRef,
    Scope,
)
from controller.errors import PlannerError
from controller.features import Feature, PortName
from controller.model import Bottleneck
from controller.planner import DEFAULT_K_DC_PKTS, KRule, Thresholds, choose_k, threshold_warnings
from topos import AddressPlan, Routes, Topology, plan_addresses, shortest_routes
from topos.routes import distances_to

# `ECMP_MAX_GROUP_SIZE` of the P4 programs (p4src/include/sizes.p4).
MAX_GROUP_WEIGHT = 32


@dataclass(frozen=True)
class EcnSettings:
    """Codepoints and thresholds: one profile for the network; a port that `thresholds` does not name never marks."""

    profile: Profile
    thresholds: Mapping[PortName, Thresholds]


@dataclass(frozen=True)
class SwitchPlan:
    """What one switch should hold (`ports`: number -> neighbour, in order), in what it owns, and what to beware of."""

    switch: str
    device_id: int
    ports: Mapping[int, str]
    entities: tuple[Entity, ...]
    warnings: tuple[str, ...]
    scope: Scope = program.SCOPE


def plan_network(
    topology: Topology, ecn: EcnSettings | None, features: Sequence[Feature] = ()
) -> tuple[SwitchPlan, ...]:
    """Plan every switch in order: routes, thresholds where the program has them, and what its features need.

    Raises TopologyError for a port or route that does not exist.
    """
    for switch, peer in ecn.thresholds if ecn else ():
        topology.port_to(switch, peer)
    addresses = plan_addresses(topology)
    routes = shortest_routes(topology)
    weights = member_weights(topology, routes)
    return tuple(
        _plan_switch(topology, addresses, routes[switch], weights[switch], ecn, features, switch)
        for switch in topology.switch_names
    )


def member_weights(topology: Topology, routes: Routes) -> dict[str, int]:
    """Weight of every member of a switch's groups: in how many ways the switches before have split the traffic.

    All switches hash the same fields alike, and a group takes the hash modulo the sum of its weights. If a second stage
    with as many members took the same remainder again, every flow that reached it would leave by one member. With each
    member repeated as often as the stage before has choices, the second stage decides by the next digit of the hash.
    """
    weights = dict.fromkeys(topology.switch_names, 1)
    homes = {switch: host for host, (switch, _) in topology.attachments.items()}
    for home, host in homes.items():
        ways = dict.fromkeys(topology.switch_names, 1)
        hops = distances_to(topology, home)
        for switch in sorted(hops, key=lambda name: -hops[name]):
            ports = routes[switch][host]
            if len(ports) > 1:
                weights[switch] = max(weights[switch], min(ways[switch], MAX_GROUP_WEIGHT // len(ports)))
            for number in ports:
                peer = topology.ports[switch][number - 1].peer
                if peer in ways:
                    ways[peer] = max(ways[peer], ways[switch] * len(ports))
    return {switch: max(1, weight) for switch, weight in weights.items()}


def same_thresholds(topology: Topology, thresholds: Thresholds) -> dict[PortName, Thresholds]:
    """The same thresholds at every switch port."""
    return {(switch, port.peer): thresholds for switch, ports in topology.ports.items() for port in ports}


def thresholds_by_rule(
    topology: Topology,
    *,
    rule: KRule,
    rtt_ns: int,
    packet_bytes: int,
    fixed_k_pkts: int | None = None,
    k_dc_pkts: int = DEFAULT_K_DC_PKTS,
) -> dict[PortName, Thresholds]:
    """Thresholds of every switch port from the planner, with the rate and queue of the port's own link.

    Raises PlannerError that names the port for which the rule has no answer.
    """
    chosen: dict[PortName, Thresholds] = {}
    for switch, ports in topology.ports.items():
        for port in ports:
            link = topology.links[port.link_index]
            try:
                # No rule depends on the number of senders.
                at = Bottleneck(link.queue_capacity_pkts, link.rate_bps, rtt_ns, packet_bytes, senders=1)
                chosen[switch, port.peer] = Thresholds(choose_k(at, rule, fixed_k_pkts), k_dc_pkts)
            except PlannerError as error:
                place = f"port {switch}:{port.number} to {port.peer}: {error.place}"
                raise PlannerError(place, error.cause, error.remedy) from None
    return chosen


def _plan_switch(
    topology: Topology,
    addresses: AddressPlan,
    routes: Mapping[str, tuple[int, ...]],
    weight: int,
    ecn: EcnSettings | None,
    features: Sequence[Feature],
    switch: str,
) -> SwitchPlan:
    """Plan one switch."""
    entities: list[Entity] = [
        *_members(topology, addresses, switch),
        *_routes(addresses, routes, weight),
        *(_codepoints(ecn.profile) if ecn else ()),
    ]
    warnings: list[str] = []
    for port in topology.ports[switch]:
        thresholds = ecn.thresholds.get((switch, port.peer)) if ecn else None
        if thresholds is None:
            continue
        entities.append(_threshold_entry(port.number, thresholds))
        buffer_pkts = topology.links[port.link_index].queue_capacity_pkts
        place = f"port {switch}:{port.number} to {port.peer}"
        warnings.extend(f"{place}: {warning}" for warning in threshold_warnings(thresholds, buffer_pkts))
    ports = {port.number: port.peer for port in topology.ports[switch]}
    for feature in features:
        entities.extend(feature.entries(switch, ports))
    scope = _scope(ecn, features)
    return SwitchPlan(switch, addresses.device_ids[switch], ports, tuple(entities), tuple(warnings), scope)


def _scope(ecn: EcnSettings | None, features: Sequence[Feature]) -> Scope:
    """What the controller owns in a program with these parts."""
    thresholds = (program.THRESHOLDS, program.CODEPOINTS) if ecn else ()
    more = tuple(table for feature in features for table in feature.tables)
    return Scope(tables=(program.ROUTES, *thresholds, *more), profiles=(program.NEXT_HOPS,))


def _members(topology: Topology, addresses: AddressPlan, switch: str) -> Iterator[Member]:
    """One next hop for each port: out of it, towards the neighbour's interface."""
    for port in topology.ports[switch]:
        if port.peer in addresses.hosts:
            mac = addresses.hosts[port.peer].mac
        else:
            mac = addresses.port_mac(port.peer, topology.port_to(port.peer, switch).number)
        call = ActionCall(program.SET_NEXT_HOP, (("dst_mac", mac), ("port", port.number)))
        yield Member(MemberKey(program.NEXT_HOPS, port.number), call)


def _routes(addresses: AddressPlan, routes: Mapping[str, tuple[int, ...]], weight: int) -> Iterator[Entity]:
    """Groups for the ECMP sets in use, then a host route for each host."""
    sets = sorted({ports for ports in routes.values() if len(ports) > 1})
    group_ids: dict[tuple[int, ...], int] = {ports: index + 1 for index, ports in enumerate(sets)}
    for ports, group_id in group_ids.items():
        yield Group(GroupKey(program.NEXT_HOPS, group_id), tuple((port, weight) for port in ports))
    for host, ports in routes.items():
        match = (Lpm(program.ROUTES_KEY, addresses.hosts[host].ipv4, 32),)
        action = GroupRef(group_ids[ports]) if ports in group_ids else MemberRef(ports[0])
        yield Entry(EntryKey(program.ROUTES, match), action)


def _codepoints(profile: Profile) -> Iterator[Entry]:
    """The codepoint map of the profile."""
    for rule in codepoint_map(profile):
        match = (
            Exact(program.CODEPOINTS_ECN_KEY, rule.incoming),
            Exact(program.CODEPOINTS_LEVEL_KEY, int(rule.level)),
        )
        call = ActionCall(program.SET_CODEPOINT, (("ecn", rule.outgoing),))
        yield Entry(EntryKey(program.CODEPOINTS, match), call)


def _threshold_entry(port: int, thresholds: Thresholds) -> Entry:
    """The thresholds of one port."""
    call = ActionCall(program.SET_THRESHOLDS, (("k", thresholds.k_pkts), ("k_dc", thresholds.k_dc_pkts)))
    return Entry(EntryKey(program.THRESHOLDS, (Exact(program.THRESHOLDS_KEY, port),)), call)


def level_cells(ports: Iterable[int]) -> dict[int, tuple[int, int]]:
    """Cells of the level counter for these ports: cell -> (port, level)."""
    return {port * program.LEVELS_PER_PORT + level: (port, int(level)) for port in ports for level in Level}
