"""The controller's tables in each switch's program: routes, and the user's entries."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from controller.bfrt.wred import WRED, WRED_PART
from controller.ecn import THRESHOLDS
from controller.entities import ActionCall, Entry, EntryKey, Exact
from controller.find_routes import NamedRoutes, candidates, find_routes, named_routes
from controller.plan import SwitchProgram
from controller.planner import Thresholds
from controller.resolve import resolve
from controller.roles import Roles, TablePart, roles_of
from controller.route_table import Role
from controller.written import NOTHING
from p4cc.errors import UserError
from p4cc.planning.entries import plan_entries
from p4cc.planning.units import chips_among
from p4cc.scenario.programs import RouteSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from finsy import P4Schema

    from controller.entities import Entity
    from controller.route_table import RouteTable
    from controller.written import SwitchCommand
    from p4cc.scenario.expand import Case
    from topos import Topology


OWN_THRESHOLDS = "egress.ecn.thresholds"
"""Where p4cc's own programs have them, so that nothing need be said."""


@dataclass(frozen=True)
class Programs:
    """The programs of a case's switches."""

    by_switch: Mapping[str, SwitchProgram]
    notes: tuple[str, ...]
    """Detected, not configured: the tables of routes, and p4cc's features in user programs."""
    thresholds: Mapping[tuple[str, str], Thresholds]
    """Of ports by switch and neighbour, where the user's entries fill the table of thresholds."""
    chips: Mapping[str, int] = field(default_factory=dict[str, int])
    """Bytes of a cell, by the switches whose program is for Tofino."""
    commands: Mapping[str, Sequence[SwitchCommand]] = field(default_factory=dict[str, "Sequence[SwitchCommand]"])
    """Commands of files, by switch, that no P4Runtime request expresses."""

    @cached_property
    def layer2(self) -> bool:
        """Whether any of them forwards by MAC addresses, so that hosts must send to each other's."""
        return any(one.routes is not None and one.routes.is_layer2 for one in self.by_switch.values())

    @property
    def roles(self) -> frozenset[str]:
        """Roles of tables that any of them has."""
        return frozenset[str]().union(*(one.roles.tables for one in self.by_switch.values()))


def plan_programs(
    case: Case,
    scenario: Path,
    topology: Topology,
    schema_of: Callable[[str], P4Schema],
    filters_of: Callable[[str], frozenset[str]] | None = None,
) -> Programs:
    """Where routes and entries of every switch go; raises UserError, PlanError."""
    entries = plan_entries(case.scenario, topology, scenario)
    found: dict[str, SwitchProgram] = {}
    notes: dict[str, list[str]] = {}
    thresholds: dict[tuple[str, str], Thresholds] = {}
    roles_of_schema: dict[int, Roles] = {}
    # A network has few programs and many switches.
    routes_of: dict[tuple[int, frozenset[str]], RouteTable | None] = {}
    for switch in topology.switch_names:
        schema, written = schema_of(switch), entries.get(switch, NOTHING)
        fixed = resolve(written, schema)
        # Default actions fill no table.
        filled = frozenset(one.key.table for one in fixed if isinstance(one, Entry) and not one.key.is_default)
        for text in written.remarks():
            notes.setdefault(text, []).append(switch)
        key = (id(schema), filled)
        if key not in routes_of:
            routes_of[key] = _routes(case, schema, filled, switch)
        routes = routes_of[key]
        roles = roles_of_schema.get(id(schema)) or roles_of_schema.setdefault(id(schema), roles_of(schema))
        if filters_of is not None and WRED in filters_of(switch):
            roles = roles.with_table(WRED_PART)
        found[switch] = SwitchProgram(roles, routes, fixed, filled)
        if (marking := roles.tables.get(THRESHOLDS)) is not None:
            if marking.name in filled:
                thresholds.update(_thresholds(fixed, marking, (topology, switch)))
            if marking.name != OWN_THRESHOLDS:
                notes.setdefault(f"thresholds are written to table {marking.name}", []).append(switch)
        if routes is not None and not routes.is_said and not isinstance(case.scenario.switch.routes, RouteSettings):
            notes.setdefault(f"routes are written to {routes}", []).append(switch)
    chips = chips_among(topology.switch_names, schema_of)
    commands = {switch: written.commands for switch, written in entries.items() if written.commands}
    return Programs(found, _by_switch(notes), thresholds, chips, commands)


def _by_switch(texts: Mapping[str, list[str]]) -> tuple[str, ...]:
    return tuple(f"{_listed(switches)}: {text}" for text, switches in texts.items())


def _listed(switches: list[str]) -> str:
    return ", ".join(switches) if len(switches) <= 3 else f"{switches[0]} and {len(switches) - 1} other switches"


def _thresholds(
    fixed: Sequence[Entity], table: TablePart, at: tuple[Topology, str]
) -> Iterator[tuple[tuple[str, str], Thresholds]]:
    """The thresholds that a switch's entries give its ports; a port that the network has not is left out."""
    topology, switch = at
    peers = {port.number: port.peer for port in topology.ports[switch]}
    k, k_dc = (table.param("set_thresholds", role).name for role in ("k", "k_dc"))
    for entry in fixed:
        match entry:
            case Entry(EntryKey(table.name, (Exact(_, number),)), ActionCall(_, args)) if number in peers:
                depths = dict(args)
                if depths.keys() == {k, k_dc}:
                    yield (switch, peers[number]), Thresholds(depths[k], depths[k_dc])
            case _:
                continue


def _routes(case: Case, schema: P4Schema, filled: frozenset[str], switch: str) -> RouteTable | None:
    settings = case.scenario.switch.routes
    place = f"case {case.label()}, program {case.source_of(switch).program} of {switch}"
    if settings == "none":
        return None
    if isinstance(settings, RouteSettings):
        params = {name: Role(value) if isinstance(value, str) else value for name, value in settings.params.items()}
        named = named_routes(schema, NamedRoutes(settings.table, settings.action, params, settings.key), case.ip)
        if named.table in filled:
            cause = f"both switch.routes and switch.entries write to table {named.table} of {switch}"
            raise UserError(cause, place=place, remedy="remove the entries, or set routes: none")
        return replace(named, by_host=settings.by_host)
    found = find_routes(schema, filled, case.ip)
    if found is not None and settings == "hosts":
        found = replace(found, by_host=True)
    if found is not None and found.table in filled:
        # The user's entries in p4cc's table are all the routes there are.
        return None
    if found is None and not filled:
        near = ", ".join(candidates(schema, case.ip)) or "none"
        cause = f"p4cc cannot tell which table is for routes; tables with an address and a port: {near}"
        remedy = "name the table in switch.routes, write switch.entries, or set routes: none and use a controller"
        raise UserError(cause, place=place, remedy=remedy)
    return found
