"""The desired state of every switch: routes with ECMP groups, thresholds per port, the codepoint map.

Pure and deterministic: the same topology and settings give the same entities in the same order.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from controller.ecn import CODEPOINTS, LEVELS_PER_PORT, THRESHOLDS, Level, Profile, codepoint_map
from controller.entities import Entity, Entry, Scope
from controller.features import Cloning, Feature, PortName
from controller.planner import PortWarning, Thresholds, one_line_each, port_place, threshold_entry, threshold_warnings
from controller.roles import NO_ROLES, Roles, Row, TablePart
from controller.route_plan import Ordered, Routing, Shared, ordered
from controller.route_table import ECMP_SEEDS, RouteTable
from topos import AddressPlan, Routes, SwitchRoutes, Topology, plan_addresses, shortest_routes
from topos.routes import Ports


@dataclass(frozen=True)
class EcnSettings:
    """Codepoints and thresholds: one profile for the network; a port that `thresholds` does not name never marks."""

    profile: Profile
    thresholds: Mapping[PortName, Thresholds]
    cells: Mapping[PortName, int] = field(default_factory=dict[PortName, int])
    """Units of depth that a packet takes at each port, where the switch does not count packets."""


@dataclass(frozen=True)
class SwitchPlan:
    """What one switch should hold (`ports`: number -> neighbour, in order), in the plan's scope, and warnings."""

    switch: str
    device_id: int
    ports: Mapping[int, str]
    entities: tuple[Entity, ...]
    warnings: tuple[PortWarning, ...]
    scope: Scope
    fixed: tuple[Entity, ...] = ()
    """The user's files and rows in addition, and features' clone sessions; what else the switch holds of
    those tables stays.
    """
    roles: Roles = field(default=NO_ROLES, repr=False, compare=False)
    """The roles of its program's tables."""
    marks: bool = True
    """Whether its program compares depths with thresholds."""
    cells: Mapping[int, int] = field(default_factory=dict[int, int])
    """Units of depth that a packet takes at each port, by its number, where the switch does not count packets."""


def port_warnings(plans: Sequence[SwitchPlan]) -> tuple[str, ...]:
    """The plans' warnings, one line for each text, with the ports that it is about."""
    return one_line_each(warning for plan in plans for warning in plan.warnings)


@dataclass(frozen=True)
class SwitchProgram:
    """The roles and routes of one switch's program, and the user's entries."""

    roles: Roles = NO_ROLES
    """The roles of its tables."""
    routes: RouteTable | None = None
    """Where routes go; None where the user's entries or controller see to them."""
    fixed: tuple[Entity, ...] = ()
    """The user's entries."""
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
    others: Mapping[str, tuple[Ports, ...]] | None = None,
) -> tuple[SwitchPlan, ...]:
    """Plan every switch in order: routes, thresholds where its program has them, and what its features need.

    Switches with groups choose members by seeds of their own, which follow from `ecmp_seed`; with `watching`, a member
    whose port is down is not chosen. `programs` has the program of each switch.
    `routes` are the shortest ones of this topology, if they are known already; `others` has further sets of ports that
    routes of a switch may take later (`route_of`).

    Raises TopologyError for a port or route that does not exist, PlanError for a table that does not take its row.
    """
    for switch, peer in ecn.thresholds if ecn else ():
        topology.port_to(switch, peer)
    addresses = plan_addresses(topology)
    routes = shortest_routes(topology) if routes is None else routes
    by_address = ordered(addresses)
    network = _Network(topology, addresses, by_address, ecn, features, ecmp_seed, watching, {}, others or {})
    return tuple(network.plan(switch, programs[switch], routes[switch]) for switch in topology.switch_names)


def route_of(
    topology: Topology,
    routes: Routes,
    others: Mapping[str, tuple[Ports, ...]],
    program: RouteTable,
    where: tuple[str, str, Ports],
) -> Entry:
    """The entry by which a switch sends what is for a host out of these ports: `where` names all three."""
    switch, host, ports = where
    addresses = plan_addresses(topology)
    sets = others.get(switch, ())
    return Routing(topology, addresses, ordered(addresses), switch, routes[switch], program, {}, sets).entry_to(
        host, ports
    )


def same_thresholds(topology: Topology, thresholds: Thresholds) -> dict[PortName, Thresholds]:
    """The same thresholds at every switch port."""
    return {(switch, port.peer): thresholds for switch, ports in topology.ports.items() for port in ports}


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
    others: Mapping[str, tuple[Ports, ...]]

    def plan(self, switch: str, has: SwitchProgram, routes: SwitchRoutes) -> SwitchPlan:
        """Plan one switch."""
        ecn = self.ecn if has.has(THRESHOLDS) else None
        features = [feature for feature in self.features if has.has(*feature.roles)]
        ports = {port.number: port.peer for port in self.topology.ports[switch]}
        cells = self._cells(switch)
        entities: list[Entity] = []
        tables: list[str] = []
        if has.routes is not None:
            network = self.topology, self.addresses, self.by_address
            routing = Routing(*network, switch, routes, has.routes, self.shared, self.others.get(switch, ()))
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
        """Thresholds of the ports that mark; adds warnings about them."""
        table, cells = has.roles.table(THRESHOLDS), self._cells(switch)
        for port in self.topology.ports[switch]:
            thresholds = ecn.thresholds.get((switch, port.peer))
            if thresholds is None:
                continue
            buffer_pkts = self.topology.links[port.link_index].queue_capacity_pkts
            entry, cut = threshold_entry(port.number, thresholds, cells.get(port.number, 1), table)
            texts = (*threshold_warnings(thresholds, buffer_pkts), *cut)
            warnings.extend(PortWarning(port_place(switch, port), text) for text in texts)
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


def level_cells(ports: Iterable[int]) -> Mapping[int, tuple[int, int]]:
    """Cells of the level counter for these ports: cell -> (port, level)."""
    return _level_cells(tuple(ports))


@lru_cache(maxsize=1 << 6)
def _level_cells(ports: tuple[int, ...]) -> Mapping[int, tuple[int, int]]:
    """The same for all switches with these ports."""
    return {port * LEVELS_PER_PORT + level: (port, int(level)) for port in ports for level in Level}
