"""Changes of tables on a run's way: rows of a scenario with their times, as P4Runtime messages for each switch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from controller.runtime import to_entities
from p4cc.planning.entries import entry_of, switches_named
from p4cc.planning.names import Names
from topos import plan_addresses
from topos.loaders.runtime import Runtime

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from finsy import P4Schema

    from p4cc.scenario.schema import Scenario
    from topos import Topology


@dataclass(frozen=True)
class TimedChange:
    """An entry, or a default action, and when it is written."""

    at_ns: int
    switch: str
    entity: bytes
    """A P4Runtime entity, serialized."""
    place: str
    """Where it is asked for, for messages."""


def plan_changes(
    settings: Scenario, topology: Topology, scenario: Path, schema_of: Callable[[str], P4Schema]
) -> tuple[TimedChange, ...]:
    """The changes of every switch in the order of time, rows of one instant as they stand.

    Raises UserError for a switch that is not there, PlanError for what its program does not have.
    """
    if not settings.changes:
        return ()
    addresses = plan_addresses(topology)
    found: list[TimedChange] = []
    for number, row in enumerate(settings.changes):
        place = f"{scenario} at changes[{number}]"
        for switch in switches_named(row.switch, topology, place):
            entry = entry_of(row, Names(topology, addresses, switch), place)
            (entity,) = to_entities(Runtime(entries=(entry,)), schema_of(switch))
            found.append(TimedChange(row.at_ns, switch, entity.SerializeToString(deterministic=True), place))
    return tuple(sorted(found, key=lambda one: one.at_ns))
