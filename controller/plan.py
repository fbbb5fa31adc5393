"""The desired state of every switch: routes with ECMP groups, thresholds per port, the codepoint map.

Pure and deterministic: the same topology and settings give the same entities in the same order.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache

from controller.ecn import CODEPOINTS, LEVELS_PER_PORT, THRESHOLDS, Level, Profile, codepoint_map
from controller.entities import Entity, Entry, Scope
from controller.errors import PlannerError
from controller.features import Cloning, Feature, PortName
from controller.model import MAX_TIME_NS, Bottleneck
from controller.planner import ThresholdRule, Thresholds, bound_warning, choose_thresholds, threshold_warnings
from controller.roles import DEPTH, NO_ROLES, Roles, Row, TablePart
from controller.route_plan import Ordered, Routing, Shared, ordered
from controller.route_table import ECMP_SEEDS, RouteTable
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
    scope: Scope
    fixed: tuple[Entity, ...] = ()
    """What files and rows of the user's say beside it, and features' clone sessions; what else the switch holds of
    those tables stays.
    """
    roles: Roles = field(default=NO_ROLES, repr=False, compare=False)
    """What its program's tables are for."""
    marks: bool = True
    """Whether its program compares depths with thresholds."""
    cells: Mapping[int, int] = field(default_factory=dict[int, int])
    """Units of depth that a packet takes at each port, by its number, where the switch does not count packets."""


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

    roles: Roles = NO_ROLES
    """What its tables are for."""
    routes: RouteTable | None = None
    """Where routes go; None where the user's entries or controller see to them."""
    fixed: tuple[Entity, ...] = ()
    """Entries of the user's."""
    filled: frozenset[str] = frozenset()
    """Tables that the user's entries fill, which the controller leaves to them."""

    def has(self, *roles: str) -> bool:
        """Whether the program has tables with these roles."""
        return all(role in self.roles for role in roles)

    def fills(self, role: str) -> bool:
        """Whether it has a table with this role that the user's entries do not fill."""
        table = self.roles.tables.get(role)
        return table is not None and table.name not in self.filled


def plan_network(
    topology: Topology,
    ecn: EcnSettings | None,
    features: Sequence[Feature] = (),
    ecmp_seed: int = 0,
    *,
    watching: bool = False,
    programs: Mapping[str, SwitchProgram],
    routes: Routes | None = None,
) -> tuple[SwitchPlan, ...]:
    """Plan every switch in order: routes, thresholds where its program has them, and what its features need.

    Switches with groups choose members by seeds of their own, which follow from `ecmp_seed`; with `watching`, a member
    whose port is down is not chosen. `programs` has the program of each switch.
    `routes` are the shortest ones of this topology, if they are known already.

    Raises TopologyError for a port or route that does not exist, PlanError for a table that does not take its row.
    """
    for switch, peer in ecn.thresholds if ecn else ():
        topology.port_to(switch, peer)
    addresses = plan_addresses(topology)
    routes = shortest_routes(topology) if routes is None else routes
    network = _Network(topology, addresses, ordered(addresses), ecn, features, ecmp_seed, watching, {})
    return tuple(network.plan(switch, programs[switch], routes[switch]) for switch in topology.switch_names)


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
    result: list[PortWarning] = []
    for switch, port, of, at in marking_ports(topology, rule, packet_bytes=packet_bytes, paths=paths):
        if (text := bound_warning(at, of.k_dc_pkts)) is not None:
            result.append(PortWarning(_place(switch, port), text))
    return one_line_each(result)


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
        raise PlannerError("topology", "has no two hosts that exchange traffic", "set rtt_ns for the thresholds")
    return max(1, paths.longest_rtt_ns(packet_bytes))


@dataclass(frozen=True)
class _Network:
    """The common parts of all switches' plans."""

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
        ecn = self.ecn if has.has(THRESHOLDS) else None
        features = [feature for feature in self.features if has.has(*feature.roles)]
        ports = {port.number: port.peer for port in self.topology.ports[switch]}
        cells = self._cells(switch)
        entities: list[Entity] = []
        tables: list[str] = []
        if has.routes is not None:
            routing = Routing(self.topology, self.addresses, self.by_address, switch, routes, has.routes, self.shared)
            entities += routing.entities(watching=self.watching)
            tables.append(has.routes.table)
            if has.routes.is_said and has.fills(ECMP_SEEDS):
                entities += routing.seeds(self.ecmp_seed, has.roles.table(ECMP_SEEDS))
                tables.append(has.roles.table(ECMP_SEEDS).name)
        warnings: list[PortWarning] = []
        if ecn is not None:
            tables += (has.roles.table(role).name for role in (THRESHOLDS, CODEPOINTS) if has.fills(role))
            entities += _codepoints(ecn.profile, has.roles.table(CODEPOINTS)) if has.fills(CODEPOINTS) else ()
            entities += self._thresholds(switch, ecn, has, warnings)
        for feature in features:
            tables += (has.roles.table(role).name for role in feature.roles if has.fills(role))
            rows = (row for row in feature.rows(switch, ports) if has.fills(row.role))
            entities += (has.roles.table(row.role).entry(row) for row in rows)
        sessions = [one for feature in features if isinstance(feature, Cloning) for one in feature.sessions(ports)]
        # The user's own session of a number is the one that counts.
        fixed = {one.key: one for one in (*sessions, *has.fixed)}
        profile = has.routes.profile if has.routes is not None else None
        return SwitchPlan(
            switch,
            self.addresses.device_ids[switch],
            ports,
            tuple(entities),
            tuple(warnings),
            Scope(tuple(tables), () if profile is None else (profile,)),
            tuple(fixed.values()),
            has.roles,
            ecn is not None,
            cells,
        )

    def _thresholds(
        self, switch: str, ecn: EcnSettings, has: SwitchProgram, warnings: list[PortWarning]
    ) -> Iterator[Entry]:
        """Thresholds of the ports that mark; adds what to beware of at them."""
        table, cells = has.roles.table(THRESHOLDS), self._cells(switch)
        for port in self.topology.ports[switch]:
            thresholds = ecn.thresholds.get((switch, port.peer))
            if thresholds is None:
                continue
            buffer_pkts = self.topology.links[port.link_index].queue_capacity_pkts
            entry, cut = _threshold_entry(port.number, thresholds, cells.get(port.number, 1), table)
            texts = (*threshold_warnings(thresholds, buffer_pkts), *cut)
            warnings.extend(PortWarning(_place(switch, port), text) for text in texts)
            if has.fills(THRESHOLDS):
                yield entry

    def _cells(self, switch: str) -> dict[int, int]:
        """By port, as a plan has them."""
        if self.ecn is None:
            return {}
        known, ports = self.ecn.cells, self.topology.ports[switch]
        return {port.number: known[switch, port.peer] for port in ports if (switch, port.peer) in known}


@lru_cache(maxsize=1 << 8)
def _codepoints(profile: Profile, table: TablePart) -> tuple[Entry, ...]:
    """The codepoint map of the profile, the same for all switches with a program."""
    rows = (
        Row(CODEPOINTS, {"ecn": one.incoming, "level": int(one.level)}, "set_codepoint", {"ecn": one.outgoing})
        for one in codepoint_map(profile)
    )
    return tuple(map(table.entry, rows))


_UNITS = {"k": DEPTH, "k_dc": DEPTH}


@lru_cache(maxsize=1 << 12)
def _threshold_entry(port: int, thresholds: Thresholds, units: int, table: TablePart) -> tuple[Entry, tuple[str, ...]]:
    """The thresholds of one port, where a packet takes so many units of depth; what to beware of."""
    args: dict[str, int] = {}
    cut: list[str] = []
    for name, pkts in (("k", thresholds.k_pkts), ("k_dc", thresholds.k_dc_pkts)):
        most = (1 << table.param("set_thresholds", name, DEPTH).bits) - 1
        args[name] = min(pkts * units, most)
        if pkts * units > most:
            cut.append(
                f"{name} of {pkts} packets is {pkts * units} units of depth, which exceeds the limit, so it "
                f"is reduced to {most}"
            )
    row = Row(THRESHOLDS, {"egress_port": port}, "set_thresholds", args, units=_UNITS)
    return table.entry(row), tuple(cut)


def level_cells(ports: Iterable[int]) -> dict[int, tuple[int, int]]:
    """Cells of the level counter for these ports: cell -> (port, level)."""
    return {port * LEVELS_PER_PORT + level: (port, int(level)) for port in ports for level in Level}
