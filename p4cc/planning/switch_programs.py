"""What the controller does in each switch's program: where routes go, and what the user's entries fill."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from controller.find_routes import NamedRoutes, candidates, find_routes, named_routes
from controller.plan import SwitchProgram
from controller.route_table import OWN, Role
from controller.runtime import find_named
from p4cc.errors import UserError
from p4cc.planning.entries import plan_entries
from p4cc.scenario.programs import RouteSettings
from topos.loaders.runtime import NOTHING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from finsy import P4Schema

    from controller.route_table import RouteTable
    from p4cc.scenario.expand import Case
    from topos import Topology
    from topos.loaders.runtime import Runtime


@dataclass(frozen=True)
class Programs:
    """The programs of a case's switches."""

    by_switch: Mapping[str, SwitchProgram]
    notes: tuple[str, ...]
    """What was found rather than said: the tables of routes."""

    @property
    def layer2(self) -> bool:
        """Whether any of them forwards by MAC addresses, so that hosts must send to each other's."""
        return any(one.routes is not None and one.routes.is_layer2 for one in self.by_switch.values())

    @property
    def tables(self) -> frozenset[str]:
        """Tables that any of them has."""
        return frozenset[str]().union(*(one.tables or () for one in self.by_switch.values()))


def plan_programs(case: Case, scenario: Path, topology: Topology, schema_of: Callable[[str], P4Schema]) -> Programs:
    """Where routes and entries of every switch go; raises UserError, PlanError."""
    entries = plan_entries(case.scenario.switch.entries, topology, scenario)
    found: dict[str, SwitchProgram] = {}
    notes: dict[str, list[str]] = {}
    # A network has few programs and many switches.
    routes_of: dict[tuple[int, frozenset[str]], RouteTable | None] = {}
    for switch in topology.switch_names:
        schema, fixed = schema_of(switch), entries.get(switch, NOTHING)
        filled = frozenset(_filled(schema, fixed))
        key = (id(schema), filled)
        if key not in routes_of:
            routes_of[key] = _routes(case, schema, filled, switch)
        routes = routes_of[key]
        found[switch] = SwitchProgram(frozenset(table.name for table in schema.tables), routes, fixed)
        if routes is not None and routes != OWN and case.scenario.switch.routes == "auto":
            notes.setdefault(f"routes go to {routes}", []).append(switch)
    return Programs(found, tuple(f"{_listed(switches)}: {text}" for text, switches in notes.items()))


def _listed(switches: list[str]) -> str:
    return ", ".join(switches) if len(switches) <= 3 else f"{switches[0]} and {len(switches) - 1} other switches"


def _filled(schema: P4Schema, fixed: Runtime) -> Iterator[str]:
    """Tables that the user's entries fill; default actions fill none."""
    for entry in fixed.entries:
        if not entry.default:
            yield find_named(entry.table, schema.tables, "table", entry.place).name


def _routes(case: Case, schema: P4Schema, filled: frozenset[str], switch: str) -> RouteTable | None:
    settings = case.scenario.switch.routes
    place = f"case {case.label()}, program {case.source_of(switch).program} of {switch}"
    if settings == "none":
        return None
    if isinstance(settings, RouteSettings):
        params = {name: Role(value) if isinstance(value, str) else value for name, value in settings.params.items()}
        named = named_routes(schema, NamedRoutes(settings.table, settings.action, params, settings.key), case.ip)
        if named.table in filled:
            cause = f"table {named.table} of {switch} is filled by switch.routes and by switch.entries"
            raise UserError(cause, place=place, remedy="leave the entries out, or write routes: none")
        return named
    found = find_routes(schema, filled, case.ip)
    if found is not None and found.table in filled:
        # Entries of the user's in p4cc's own table are all the routes there are.
        return None
    if found is None and not filled:
        near = ", ".join(candidates(schema, case.ip)) or "none"
        cause = f"no table of it takes routes by itself; tables with an address and a port: {near}"
        remedy = "name the table in switch.routes, write switch.entries, or routes: none for a controller of yours"
        raise UserError(cause, place=place, remedy=remedy)
    return found
