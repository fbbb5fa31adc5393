"""The desired state of every switch: routes with ECMP groups, thresholds per port, the codepoint map.

Pure and deterministic: the same topology and settings give the same entities in the same order.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, lru_cache

from controller import program
from controller.ecn import Level, Profile, codepoint_map
from controller.entities import (
    ActionCall,
    Entity,
    Entry,
    EntryKey,
    Exact,
    Scope,
)
from controller.errors import PlannerError
from controller.features import Cloning, Feature, PortName
from controller.model import MAX_TIME_NS, Bottleneck
from controller.planner import ThresholdRule, Thresholds, bound_warning, choose_thresholds, threshold_warnings
from controller.red import MAX_DEPTH
from controller.route_plan import Ordered, Routing, Shared, ordered
from controller.route_table import OWN, RouteTable
from topos import AddressPlan, Paths, Port, Routes, SwitchRoutes, Topology, plan_addresses, shortest_routes


@dataclass(frozen=True)
class EcnSettings:
    """Codepoints and thresholds: one profile for the network; a port that `thresholds` does not name never marks."""

    profile: Profile
    thresholds: Mapping[PortName, Thresholds]
    cells: Mapping[PortName, int] = field(default_factory=dict[PortName, int])
    """Units of depth that a packet takes at each port, where the switch does not count packets."""


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
    fixed: tuple[Entity, ...] = ()
    """What files and rows of the user's say beside it, and features' clone sessions; what else the switch holds of
    those tables stays.
    """
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    """Names in p4cc's own programs to those in the switch's, where they differ."""
    marks: bool = True
    """Whether its program compares depths with thresholds."""
    cells: Mapping[int, int] = field(default_factory=dict[int, int])
    """Units of depth that a packet takes at each port, by its number, where the switch does not count packets."""

    def name_of(self, name: str) -> str:
        """What the switch's program calls something of p4cc's."""
        return self.names.get(name, name)


# Ports that a line names before it counts the others.
_PORTS_NAMED = 3


def port_warnings(plans: Sequence[SwitchPlan]) -> tuple[str, ...]:
    """The plans' warnings, one line for each text, with the ports that it is about."""
    return one_line_each(warning for plan in plans for warning in plan.warnings)


def one_line_each(warnings: Iterable[PortWarning]) -> tuple[str, ...]:
    """A line for each text, with the ports that it is about."""
    places: dict[str, list[str]] = {}
    for warning in warnings:
        places.setdefault(warning.text, []).append(warning.place)
    return tuple(f"{_named(at)}: {text}" for text, at in places.items())


def _named(places: Sequence[str]) -> str:
    """The first few places, and how many others."""
    if len(places) <= _PORTS_NAMED:
        return ", ".join(places)
    return f"{', '.join(places[: _PORTS_NAMED - 1])} and {len(places) - _PORTS_NAMED + 1} other ports"


@dataclass(frozen=True)
class SwitchProgram:
    """What the controller finds in the program of one switch, and what the user adds."""

    tables: frozenset[str] | None = None
    """Its tables; None for a program that has whatever is planned."""
    routes: RouteTable | None = OWN
    """Where routes go; None where the user's entries or controller see to them."""
    fixed: tuple[Entity, ...] = ()
    """Entries of the user's."""
    filled: frozenset[str] = frozenset()
    """Tables that the user's entries fill, which the controller leaves to them."""
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    """Names in p4cc's own programs, as `tables` has them, to those in this one, where they differ."""

    def has(self, tables: Iterable[str]) -> bool:
        """Whether the program has these tables."""
        return self.tables is None or self.tables.issuperset(tables)


def plan_network(
    topology: Topology,
    ecn: EcnSettings | None,
    features: Sequence[Feature] = (),
    ecmp_seed: int = 0,
    *,
    watching: bool = False,
    programs: Mapping[str, SwitchProgram] | None = None,
    routes: Routes | None = None,
) -> tuple[SwitchPlan, ...]:
    """Plan every switch in order: routes, thresholds where its program has them, and what its features need.

    Switches with groups choose members by seeds of their own, which follow from `ecmp_seed`; with `watching`, a member
    whose port is down is not chosen. `programs` has the program of each switch; without, each has all that is planned.
    `routes` are the shortest ones of this topology, if they are known already.

    Raises TopologyError for a port or route that does not exist.
    """
    for switch, peer in ecn.thresholds if ecn else ():
        topology.port_to(switch, peer)
    addresses = plan_addresses(topology)
    routes = shortest_routes(topology) if routes is None else routes
    network = _Network(topology, addresses, ordered(addresses), ecn, features, ecmp_seed, watching, {})
    found = programs or {}
    return tuple(
        network.plan(switch, found.get(switch, SwitchProgram()), routes[switch]) for switch in topology.switch_names
    )


def same_thresholds(topology: Topology, thresholds: Thresholds) -> dict[PortName, Thresholds]:
    """The same thresholds at every switch port."""
    return {(switch, port.peer): thresholds for switch, ports in topology.ports.items() for port in ports}


RuleOf = Callable[[str, str], ThresholdRule | None]
"""The rule of a switch's port to a neighbour; None for a port that never marks, or whose thresholds others set."""


def marking_ports(
    topology: Topology, rule: ThresholdRule | RuleOf, *, packet_bytes: int, paths: Paths | None = None
) -> Iterator[tuple[str, Port, ThresholdRule, Bottleneck]]:
    """Switch ports that mark, in order, each with its rule and what its own link is like.

    `paths` are those of the topology, if they are known already. Raises PlannerError that names the port whose link the
    planner does not know how to serve.
    """
    found_ns: int | None = None
    for switch, ports in topology.ports.items():
        for port in ports:
            of = rule if isinstance(rule, ThresholdRule) else rule(switch, port.peer)
            if of is None:
                continue
            if (rtt_ns := of.rtt_ns) is None:
                found_ns = rtt_ns = longest_rtt_ns(topology, packet_bytes, paths) if found_ns is None else found_ns
            link = topology.links[port.link_index]
            # No rule depends on the number of senders or on their timeout.
            senders, rto_ns = 1, MAX_TIME_NS
            with _at_port(switch, port):
                at = Bottleneck(link.queue_capacity_pkts, link.rate_bps, rtt_ns, packet_bytes, senders, rto_ns)
            yield switch, port, of, at


def thresholds_by_rule(
    topology: Topology, rule: ThresholdRule | RuleOf, *, packet_bytes: int, paths: Paths | None = None
) -> dict[PortName, Thresholds]:
    """Thresholds of every switch port that marks, from the planner, with the rate and queue of the port's own link.

    Raises PlannerError that names the port for which a rule has no answer.
    """
    chosen: dict[PortName, Thresholds] = {}
    for switch, port, of, at in marking_ports(topology, rule, packet_bytes=packet_bytes, paths=paths):
        with _at_port(switch, port):
            chosen[switch, port.peer] = choose_thresholds(at, of)
    return chosen


def bound_warnings(
    topology: Topology, rule: ThresholdRule | RuleOf, *, packet_bytes: int, paths: Paths | None = None
) -> tuple[str, ...]:
    """What follows at ports whose queues end before DCTCP's bound, one line for each text."""
    found: list[PortWarning] = []
    for switch, port, of, at in marking_ports(topology, rule, packet_bytes=packet_bytes, paths=paths):
        if (text := bound_warning(at, of.k_dc_pkts)) is not None:
            found.append(PortWarning(_place(switch, port), text))
    return one_line_each(found)


def _place(switch: str, port: Port) -> str:
    return f"port {switch}:{port.number} to {port.peer}"


@contextmanager
def _at_port(switch: str, port: Port) -> Generator[None]:
    """Puts the port in front of a PlannerError's place."""
    try:
        yield
    except PlannerError as error:
        raise PlannerError(f"{_place(switch, port)}: {error.place}", error.cause, error.remedy) from None


def longest_rtt_ns(topology: Topology, packet_bytes: int, paths: Paths | None = None) -> int:
    """The longest base round-trip time between hosts, with a packet's time on each link of one way.

    At least 1: it is rounded down, and links may have no delay.

    Raises PlannerError where no two hosts talk.
    """
    paths = Paths(topology) if paths is None else paths
    if paths.most_links() == 0:
        raise PlannerError("topology", "has no two hosts that talk", "give an rtt_ns for the thresholds")
    return max(1, paths.longest_rtt_ns(packet_bytes))


@dataclass(frozen=True)
class _Network:
    """What the plans of all switches share."""

    topology: Topology
    addresses: AddressPlan
    by_address: Ordered
    ecn: EcnSettings | None
    features: Sequence[Feature]
    ecmp_seed: int
    watching: bool
    shared: Shared
    """Many switches have the same route to a host: one value for all of them."""

    def plan(self, switch: str, has: SwitchProgram, routes: SwitchRoutes) -> SwitchPlan:
        """Plan one switch."""
        ecn = self.ecn if has.has((program.THRESHOLDS,)) else None
        features = [feature for feature in self.features if has.has(feature.tables)]
        entities: list[Entity] = []
        if has.routes is not None:
            routing = Routing(self.topology, self.addresses, self.by_address, switch, routes, has.routes, self.shared)
            entities += routing.entities(watching=self.watching)
            entities += routing.seeds(self.ecmp_seed)
        entities += _codepoints(ecn.profile) if ecn else ()
        warnings: list[PortWarning] = []
        cells = self._cells(switch)
        for port in self.topology.ports[switch]:
            thresholds = ecn.thresholds.get((switch, port.peer)) if ecn else None
            if thresholds is None:
                continue
            entities.append(_threshold_entry(port.number, thresholds, cells.get(port.number, 1)))
            buffer_pkts = self.topology.links[port.link_index].queue_capacity_pkts
            warnings.extend(
                PortWarning(_place(switch, port), text) for text in threshold_warnings(thresholds, buffer_pkts)
            )
        ports = {port.number: port.peer for port in self.topology.ports[switch]}
        for feature in features:
            entities.extend(feature.entries(switch, ports))
        sessions = [one for feature in features if isinstance(feature, Cloning) for one in feature.sessions(ports)]
        # The user's own session of a number is the one that counts.
        fixed = {one.key: one for one in (*sessions, *has.fixed)}
        scope = _scope(has.routes, ecn, features)
        if has.filled or has.names:
            entities = [renamed(one, has.names) for one in entities if _table(one) not in has.filled]
            tables = (table for table in scope.tables if table not in has.filled)
            scope = Scope(tuple(has.names.get(table, table) for table in tables), scope.profiles)
        return SwitchPlan(
            switch,
            self.addresses.device_ids[switch],
            ports,
            tuple(entities),
            tuple(warnings),
            scope,
            tuple(fixed.values()),
            has.names,
            ecn is not None,
            cells,
        )

    def _cells(self, switch: str) -> dict[int, int]:
        """By port, as a plan has them."""
        if self.ecn is None:
            return {}
        known, ports = self.ecn.cells, self.topology.ports[switch]
        return {port.number: known[switch, port.peer] for port in ports if (switch, port.peer) in known}


def _scope(routes: RouteTable | None, ecn: EcnSettings | None, features: Sequence[Feature]) -> Scope:
    """What the controller owns in a program with these parts."""
    tables: list[str] = []
    if routes is not None:
        tables += (routes.table, program.ECMP_SEEDS) if routes.is_own else (routes.table,)
    tables += (program.THRESHOLDS, program.CODEPOINTS) if ecn else ()
    tables += (table for feature in features for table in feature.tables)
    profile = routes.profile if routes is not None else None
    return Scope(tables=tuple(tables), profiles=() if profile is None else (profile,))


def renamed(entity: Entity, names: Mapping[str, str]) -> Entity:
    """A table's entry with other names for table and action; members and groups are of routes and stay."""
    match entity:
        case Entry(EntryKey(table, match, priority), ActionCall(name, args)):
            return Entry(EntryKey(names.get(table, table), match, priority), ActionCall(names.get(name, name), args))
        case _:
            return entity


def _table(entity: Entity) -> str | None:
    return entity.key.table if isinstance(entity, Entry) else None


@cache
def _codepoints(profile: Profile) -> tuple[Entry, ...]:
    """The codepoint map of the profile."""
    entries: list[Entry] = []
    for rule in codepoint_map(profile):
        match = (
            Exact(program.CODEPOINTS_ECN_KEY, rule.incoming),
            Exact(program.CODEPOINTS_LEVEL_KEY, int(rule.level)),
        )
        call = ActionCall(program.SET_CODEPOINT, (("ecn", rule.outgoing),))
        entries.append(Entry(EntryKey(program.CODEPOINTS, match), call))
    return tuple(entries)


@lru_cache(maxsize=1 << 12)
def _threshold_entry(port: int, thresholds: Thresholds, units: int) -> Entry:
    """The thresholds of one port, where a packet takes so many units of depth."""
    k, k_dc = (min(pkts * units, MAX_DEPTH) for pkts in (thresholds.k_pkts, thresholds.k_dc_pkts))
    call = ActionCall(program.SET_THRESHOLDS, (("k", k), ("k_dc", k_dc)))
    return Entry(EntryKey(program.THRESHOLDS, (Exact(program.THRESHOLDS_KEY, port),)), call)


def level_cells(ports: Iterable[int]) -> dict[int, tuple[int, int]]:
    """Cells of the level counter for these ports: cell -> (port, level)."""
    return {port * program.LEVELS_PER_PORT + level: (port, int(level)) for port in ports for level in Level}
