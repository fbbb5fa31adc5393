"""The desired state of every switch: routes with ECMP groups, thresholds per port, the codepoint map.

Pure and deterministic: the same topology and settings give the same entities in the same order. A next hop's member
id is its port number (a port has one neighbour), and groups are numbered from 1 in the order of their ports.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from controller import program
from controller.ecmp import switch_factor
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
from controller.model import MAX_TIME_NS, Bottleneck
from controller.planner import KRule, Thresholds, choose_thresholds, threshold_warnings
from topos import AddressPlan, Paths, Topology, plan_addresses, shortest_routes


@dataclass(frozen=True)
class EcnSettings:
    """Codepoints and thresholds: one profile for the network; a port that `thresholds` does not name never marks."""

    profile: Profile
    thresholds: Mapping[PortName, Thresholds]


@dataclass(frozen=True)
class PortWarning:
    """What to beware of at one port: where, such as `port s1:2 to h2`, and what."""

    place: str
    text: str


@dataclass(frozen=True)
class SwitchPlan:
    """What one switch should hold (`ports`: number -> neighbour, in order), in what it owns, and what to beware of."""

    switch: str
    device_id: int
    ports: Mapping[int, str]
    entities: tuple[Entity, ...]
    warnings: tuple[PortWarning, ...]
    scope: Scope = program.SCOPE


# Ports that a line names before it counts the others.
_PORTS_NAMED = 3


def port_warnings(plans: Sequence[SwitchPlan]) -> tuple[str, ...]:
    """The plans' warnings, one line for each text, with the ports that it is about."""
    places: dict[str, list[str]] = {}
    for plan in plans:
        for warning in plan.warnings:
            places.setdefault(warning.text, []).append(warning.place)
    return tuple(f"{_named(at)}: {text}" for text, at in places.items())


def _named(places: Sequence[str]) -> str:
    """The first few places, and how many others."""
    if len(places) <= _PORTS_NAMED:
        return ", ".join(places)
    return f"{', '.join(places[: _PORTS_NAMED - 1])} and {len(places) - _PORTS_NAMED + 1} other ports"


def plan_network(
    topology: Topology,
    ecn: EcnSettings | None,
    features: Sequence[Feature] = (),
    ecmp_seed: int = 0,
    *,
    watching: bool = False,
) -> tuple[SwitchPlan, ...]:
    """Plan every switch in order: routes, thresholds where the program has them, and what its features need.

    Switches with groups choose members by seeds of their own, which follow from `ecmp_seed`; with `watching`, a member
    whose port is down is not chosen.

    Raises TopologyError for a port or route that does not exist.
    """
    for switch, peer in ecn.thresholds if ecn else ():
        topology.port_to(switch, peer)
    addresses = plan_addresses(topology)
    routes = shortest_routes(topology)
    # Many switches have the same route to a host: one value for all of them.
    shared: dict[Entry, Entry] = {}
    return tuple(
        _plan_switch(topology, addresses, routes[switch], ecmp_seed, ecn, features, switch, shared, watching)
        for switch in topology.switch_names
    )


def same_thresholds(topology: Topology, thresholds: Thresholds) -> dict[PortName, Thresholds]:
    """The same thresholds at every switch port."""
    return {(switch, port.peer): thresholds for switch, ports in topology.ports.items() for port in ports}


def thresholds_by_rule(
    topology: Topology,
    *,
    rule: KRule = KRule.PROPORTIONAL,
    rtt_ns: int | None = None,
    packet_bytes: int,
    fixed_k_pkts: int | None = None,
    k_dc_pkts: int | None = None,
) -> dict[PortName, Thresholds]:
    """Thresholds of every switch port from the planner, with the rate and queue of the port's own link.

    `rtt_ns` is the network's longest if not given. Raises PlannerError that names the port for which a rule has no
    answer.
    """
    rtt_ns = longest_rtt_ns(topology, packet_bytes) if rtt_ns is None else rtt_ns
    chosen: dict[PortName, Thresholds] = {}
    for switch, ports in topology.ports.items():
        for port in ports:
            link = topology.links[port.link_index]
            try:
                # No rule depends on the number of senders or on their timeout.
                senders, rto_ns = 1, MAX_TIME_NS
                at = Bottleneck(link.queue_capacity_pkts, link.rate_bps, rtt_ns, packet_bytes, senders, rto_ns)
                chosen[switch, port.peer] = choose_thresholds(at, rule, fixed_k_pkts, k_dc_pkts)
            except PlannerError as error:
                place = f"port {switch}:{port.number} to {port.peer}: {error.place}"
                raise PlannerError(place, error.cause, error.remedy) from None
    return chosen


def longest_rtt_ns(topology: Topology, packet_bytes: int) -> int:
    """The longest base round-trip time between hosts, with a packet's time on each link of one way.

    Raises PlannerError where no two hosts talk.
    """
    found = Paths(topology).longest_rtt_ns(packet_bytes)
    if found == 0:
        raise PlannerError("topology", "has no two hosts that talk", "give --rtt-ns")
    return found


def _plan_switch(
    topology: Topology,
    addresses: AddressPlan,
    routes: Mapping[str, tuple[int, ...]],
    ecmp_seed: int,
    ecn: EcnSettings | None,
    features: Sequence[Feature],
    switch: str,
    shared: dict[Entry, Entry],
    watching: bool,
) -> SwitchPlan:
    """Plan one switch."""
    entities: list[Entity] = [
        *_members(topology, addresses, switch),
        *_groups(routes, watching),
        *(shared.setdefault(entry, entry) for entry in _routes(addresses, routes)),
        *_seeds(routes, ecmp_seed, addresses.device_ids[switch]),
        *(_codepoints(ecn.profile) if ecn else ()),
    ]
    warnings: list[PortWarning] = []
    for port in topology.ports[switch]:
        thresholds = ecn.thresholds.get((switch, port.peer)) if ecn else None
        if thresholds is None:
            continue
        entities.append(_threshold_entry(port.number, thresholds))
        buffer_pkts = topology.links[port.link_index].queue_capacity_pkts
        place = f"port {switch}:{port.number} to {port.peer}"
        warnings.extend(PortWarning(place, text) for text in threshold_warnings(thresholds, buffer_pkts))
    ports = {port.number: port.peer for port in topology.ports[switch]}
    for feature in features:
        entities.extend(feature.entries(switch, ports))
    scope = _scope(ecn, features)
    return SwitchPlan(switch, addresses.device_ids[switch], ports, tuple(entities), tuple(warnings), scope)


def _scope(ecn: EcnSettings | None, features: Sequence[Feature]) -> Scope:
    """What the controller owns in a program with these parts."""
    thresholds = (program.THRESHOLDS, program.CODEPOINTS) if ecn else ()
    more = tuple(table for feature in features for table in feature.tables)
    return Scope(tables=(program.ROUTES, program.ECMP_SEEDS, *thresholds, *more), profiles=(program.NEXT_HOPS,))


def _members(topology: Topology, addresses: AddressPlan, switch: str) -> Iterator[Member]:
    """One next hop for each port: out of it, towards the neighbour's interface."""
    for port in topology.ports[switch]:
        if port.peer in addresses.hosts:
            mac = addresses.hosts[port.peer].mac
        else:
            mac = addresses.port_mac(port.peer, topology.port_to(port.peer, switch).number)
        call = ActionCall(program.SET_NEXT_HOP, (("dst_mac", mac), ("port", port.number)))
        yield Member(MemberKey(program.NEXT_HOPS, port.number), call)


def _group_ids(routes: Mapping[str, tuple[int, ...]]) -> dict[tuple[int, ...], int]:
    """Groups by their ports, for the ECMP sets in use."""
    sets = sorted({ports for ports in routes.values() if len(ports) > 1})
    return {ports: index + 1 for index, ports in enumerate(sets)}


def _groups(routes: Mapping[str, tuple[int, ...]], watching: bool) -> Iterator[Group]:
    """A group for each ECMP set in use."""
    for ports, group_id in _group_ids(routes).items():
        yield Group(GroupKey(program.NEXT_HOPS, group_id), tuple((port, 1) for port in ports), watching)


def _routes(addresses: AddressPlan, routes: Mapping[str, tuple[int, ...]]) -> Iterator[Entry]:
    """A host route for each host."""
    group_ids = _group_ids(routes)
    for host, ports in routes.items():
        match = (Lpm(program.ROUTES_KEY, addresses.hosts[host].ipv4, 32),)
        action = GroupRef(group_ids[ports]) if ports in group_ids else MemberRef(ports[0])
        yield Entry(EntryKey(program.ROUTES, match), action)


def _seeds(routes: Mapping[str, tuple[int, ...]], ecmp_seed: int, device_id: int) -> Iterator[Entry]:
    """The seed of a switch that has a choice; others need none."""
    if any(len(ports) > 1 for ports in routes.values()):
        match = (Exact(program.ECMP_SEEDS_KEY, program.ETHERTYPE_IPV4),)
        call = ActionCall(program.SET_SEED, (("factor", switch_factor(ecmp_seed, device_id)),))
        yield Entry(EntryKey(program.ECMP_SEEDS, match), call)


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
