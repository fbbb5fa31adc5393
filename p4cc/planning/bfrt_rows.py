"""Rows of a scenario that are written over BF Runtime, for each switch, with the network's names resolved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.bfrt.schema import parse_schema
from controller.written import WrittenEntry
from p4cc.errors import UserError
from p4cc.planning.entries import match_of, rows_of, switches_named
from p4cc.planning.names import Names
from p4cc.scenario.programs import BfrtRow
from topos import plan_addresses

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from pathlib import Path

    from finsy import P4Schema

    from controller.written import AnyValue
    from p4cc.planning.programs import CompiledProgram
    from p4cc.scenario.programs import BfrtValue
    from p4cc.scenario.schema import ScenarioModel
    from topos import Topology

CHIPS = frozenset({"tna", "t2na"})
"""Architectures whose switches have BF Runtime."""


def filters_of(program: CompiledProgram) -> frozenset[str]:
    """Filters of the chip in a program for Tofino, which only BF Runtime sets, by the program's names."""
    tables = parse_schema(program.bfrt_text().encode()).tables.values()
    return frozenset(table.name.partition(".")[2] for table in tables if table.kind == "Wred")


def plan_bfrt_rows(
    settings: ScenarioModel, topology: Topology, scenario: Path, schema_of: Callable[[str], P4Schema]
) -> Mapping[str, tuple[WrittenEntry, ...]]:
    """The rows of every switch that has some, in their order; raises UserError with the place of an error."""
    found: dict[str, tuple[WrittenEntry, ...]] = {}
    addresses = plan_addresses(topology)
    for key, row in rows_of(settings, scenario):
        if not isinstance(row, BfrtRow):
            continue
        place = f"{scenario} at {key}"
        for switch in switches_named(row.switch, topology, place):
            arch = schema_of(switch).arch
            if arch not in CHIPS:
                cause = f"the program of {switch} is for {arch}, which does not support BF Runtime"
                raise UserError(
                    cause, place=place, remedy="write a table entry instead, or use a program for tna or t2na"
                )
            found[switch] = (*found.get(switch, ()), _row(row, Names(topology, addresses, switch), place))
    return found


def _row(row: BfrtRow, names: Names, place: str) -> WrittenEntry:
    key = match_of(row.key, names, f"{place}.key")
    data = tuple((name, _value(value, names, f"{place}.data.{name}")) for name, value in row.data.items())
    return WrittenEntry(row.bfrt, key, row.action, data, place, row.default)


def _value(value: BfrtValue, names: Names, place: str) -> AnyValue:
    """A value with names of the network's replaced by their numbers; others, such as `INGRESS`, stay."""
    if isinstance(value, bool | float):
        return value
    if isinstance(value, list):
        return [one if isinstance(one, bool) else names.value(one, place) for one in value]  # pyright: ignore[reportReturnType]
    return names.value(value, place)


def check_restarts(settings: ScenarioModel, over_bfrt: Collection[str], scenario: Path) -> None:
    """Raises UserError if a switch with rows that BF Runtime writes only at the start is reinstalled."""
    for number, fault in enumerate(settings.faults):
        if fault.switch in over_bfrt and fault.installed_ns is not None:
            cause = f"when {fault.switch} restarts, it would lose what was written to it over BF Runtime"
            remedy = "restart another switch, or remove rows with bfrt and programs that filter with the chip"
            raise UserError(cause, place=f"{scenario} at faults[{number}]", remedy=remedy)
