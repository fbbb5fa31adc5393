"""Changes of tables on a run's way: rows of a scenario with their times, for each switch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from controller.resolve import resolve_entry
from p4cc.planning.entries import entry_of, switches_named
from p4cc.planning.names import Names
from topos import plan_addresses

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from finsy import P4Schema

    from controller.entities import Entry
    from p4cc.scenario.schema import ScenarioModel
    from topos import Topology


@dataclass(frozen=True)
class TimedChange:
    """An entry, or a default action, and when it is written."""

    at_ns: int
    switch: str
    entry: Entry
    place: str
    """Its place in the scenario, for messages."""


def plan_changes(
    settings: ScenarioModel, topology: Topology, scenario: Path, schema_of: Callable[[str], P4Schema]
) -> tuple[TimedChange, ...]:
    """The changes of every switch in the order of time, rows of one instant in the given order.

    Raises UserError for an unknown switch, PlanError for tables that its program lacks.
    """
    if not settings.changes:
        return ()
    addresses = plan_addresses(topology)
    found: list[TimedChange] = []
    for number, row in enumerate(settings.changes):
        place = f"{scenario} at changes[{number}]"
        for switch in switches_named(row.switch, topology, place):
            written = entry_of(row, Names(topology, addresses, switch), place)
            found.append(TimedChange(row.at_ns, switch, resolve_entry(written, schema_of(switch)), place))
    return tuple(sorted(found, key=lambda one: one.at_ns))
