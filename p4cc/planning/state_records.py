"""The program state that a run records, by switch: `record.counters`, `tables`, `drops` and others."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal

from finsy.p4schema import P4BitsType, P4BoolType

from p4cc.errors import UserError
from p4cc.planning.hosts import some

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from finsy import P4Schema
    from finsy.p4schema import P4Register

    from p4cc import spec
    from p4cc.scenario.schema import Record
    from p4cc.scenario.state_records import DigestsRecord, StateRecord
    from topos import Topology

MAX_CELLS = 1 << 20
"""Of all arrays of a kind together: each is looked at for each sample."""
MAX_BITS = 64


Arrays = Literal["counters", "registers", "meters", "tables"]
Kind = Arrays | Literal["digests"]
ARRAYS: tuple[Arrays, ...] = ("counters", "registers", "meters", "tables")


def plan_program(
    record: Record, topology: Topology, schema_of: Callable[[str], P4Schema], scenario: Path
) -> spec.RecordSpec:
    """`record` of the engine's description, as far as programs write it; raises UserError."""

    def named(kind: Kind, asked: StateRecord | DigestsRecord) -> list[spec.ArraySpec]:
        return _plan_named(kind, asked, topology, schema_of, f"{scenario} at record.{kind}")

    plan: spec.RecordSpec = {}
    for kind in ARRAYS:
        asked: StateRecord | None = getattr(record, kind)
        if asked is not None:
            plan[kind] = {"interval_ns": asked.interval_ns, "arrays": named(kind, asked)}
    if record.digests is not None:
        arrays = named("digests", record.digests)
        plan["digests"] = {"max_messages": record.digests.max_messages, "arrays": arrays}
    if record.drops is not None:
        switches = _switches(record.drops.switches, topology, f"{scenario} at record.drops")
        plan["drops"] = {"interval_ns": record.drops.interval_ns, "switches": switches}
    if record.log_msg is not None:
        switches = _switches(record.log_msg.switches, topology, f"{scenario} at record.log_msg")
        plan["log_msg"] = {"max_lines": record.log_msg.max_lines, "switches": switches}
    return plan


def _switches(patterns: list[str], topology: Topology, place: str) -> list[str]:
    switches = [name for name in topology.switch_names if matches(name, patterns)]
    if not switches:
        cause = f"no switch matches {', '.join(patterns)}"
        raise UserError(cause, place=f"{place}.switches", remedy=f"switches: {some(topology.switch_names)}")
    return switches


def _plan_named(
    kind: Kind,
    record: StateRecord | DigestsRecord,
    topology: Topology,
    schema_of: Callable[[str], P4Schema],
    place: str,
) -> list[spec.ArraySpec]:
    """The objects that a record names, by switch; raises UserError."""
    switches = _switches(record.switches, topology, place)
    # A network has few programs and many switches.
    chosen: dict[int, list[tuple[str, int]]] = {}
    for switch in switches:
        schema = schema_of(switch)
        if id(schema) not in chosen:
            chosen[id(schema)] = _chosen(kind, record.names, schema, place)
    found = [(switch, name, cells) for switch in switches for name, cells in chosen[id(schema_of(switch))]]
    if kind == "counters":
        _refuse_direct(record.names, (schema_of(switch) for switch in switches), place, alone=not found)
    if not found:
        known = dict.fromkeys(one.name for switch in switches for one in getattr(schema_of(switch), kind))
        cause = f"no {kind[:-1]} of these switches matches {', '.join(record.names)}"
        raise UserError(cause, place=f"{place}.names", remedy=f"{kind}: {some(known) or 'none'}")
    if (cells := sum(cells for *_, cells in found)) > MAX_CELLS:
        cause = f"{cells} cells exceed the limit of {MAX_CELLS}"
        raise UserError(cause, place=place, remedy="select fewer arrays or switches")
    return [{"switch": switch, "name": name} for switch, name, _ in found]


def _refuse_direct(names: list[str], schemas: Iterable[P4Schema], place: str, *, alone: bool) -> None:
    """Raises UserError where a direct counter is named, or nothing but direct counters fits."""
    for schema in schemas:
        for counter in schema.direct_counters:
            if counter.name in names or counter.alias in names or (alone and matches(counter.name, names)):
                table = counter.direct_table_name
                cause = f"{counter.name} is a direct counter, which counts per entry of table {table}"
                remedy = f"use record.tables: {{names: [{table}]}}, which has the packets and bytes of each entry"
                raise UserError(cause, place=f"{place}.names", remedy=remedy)


def _chosen(kind: Kind, patterns: list[str], schema: P4Schema, place: str) -> list[tuple[str, int]]:
    """Names of a program's objects that patterns fit, with the cells that each sample looks at; raises UserError."""
    named = [one for one in getattr(schema, kind) if matches(one.name, patterns)]
    if kind in ("tables", "digests"):
        return [(one.name, 0) for one in named]
    wide = [one for one in named if _is_wide(one)] if kind == "registers" else []
    exact = [one for one in wide if one.name in patterns or one.alias in patterns]
    if exact:
        cause = f"a cell of {exact[0].name} is not a number of at most {MAX_BITS} bits"
        raise UserError(cause, place=f"{place}.names", remedy="select other registers")
    return [(one.name, one.size * (3 if kind == "meters" else 1)) for one in named if one not in wide]


def matches(name: str, patterns: Iterable[str]) -> bool:
    """Whether a name, or the end of it behind a dot, fits a pattern."""
    return any(fnmatchcase(name, pattern) or fnmatchcase(name, f"*.{pattern}") for pattern in patterns)


def _is_wide(register: P4Register) -> bool:
    kind = register.type_spec
    return not (isinstance(kind, P4BoolType) or (isinstance(kind, P4BitsType) and kind.bitwidth <= MAX_BITS))
