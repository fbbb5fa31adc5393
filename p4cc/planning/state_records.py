"""Which arrays of which switches a run samples: what `record.counters` and `record.registers` name."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Literal

from finsy.p4schema import P4BitsType, P4BoolType

from p4cc.errors import UserError
from p4cc.planning.hosts import some

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from finsy import P4Schema
    from finsy.p4schema import P4Register

    from p4cc.scenario.state_records import StateRecord
    from topos import Topology

MAX_CELLS = 1 << 20
"""Of all arrays of a kind together: each is looked at for each sample."""
MAX_BITS = 64


def plan_arrays(
    kind: Literal["counters", "registers"],
    record: StateRecord | None,
    topology: Topology,
    schema_of: Callable[[str], P4Schema],
    scenario: Path,
) -> dict[str, Any]:
    """The part of the engine's `record` for a kind, nothing where none is asked for; raises UserError."""
    if record is None:
        return {}
    place = f"{scenario} at record.{kind}"
    switches = [name for name in topology.switch_names if matches(name, record.switches)]
    if not switches:
        cause = f"no switch is named {', '.join(record.switches)}"
        raise UserError(cause, place=f"{place}.switches", remedy=f"switches: {some(topology.switch_names)}")
    # A network has few programs and many switches.
    chosen: dict[int, list[tuple[str, int]]] = {}
    for switch in switches:
        schema = schema_of(switch)
        if id(schema) not in chosen:
            arrays = schema.counters if kind == "counters" else schema.registers
            named = [one for one in arrays if matches(one.name, record.names)]
            wide = [] if kind == "counters" else [one for one in schema.registers if one in named and _is_wide(one)]
            exact = [one for one in wide if one.name in record.names or one.alias in record.names]
            if exact:
                cause = f"a cell of {exact[0].name} is no number of at most {MAX_BITS} bits"
                raise UserError(cause, place=f"{place}.names", remedy="name other registers")
            chosen[id(schema)] = [(one.name, one.size) for one in named if one not in wide]
    found = [(switch, name, size) for switch in switches for name, size in chosen[id(schema_of(switch))]]
    if not found:
        known = dict.fromkeys(
            one.name
            for switch in switches
            for one in (schema_of(switch).counters if kind == "counters" else schema_of(switch).registers)
        )
        cause = f"no {kind[:-1]} of these switches is named {', '.join(record.names)}"
        raise UserError(cause, place=f"{place}.names", remedy=f"{kind}: {some(known) or 'none'}")
    if (cells := sum(size for *_, size in found)) > MAX_CELLS:
        cause = f"{cells} cells are more than {MAX_CELLS}"
        raise UserError(cause, place=place, remedy="name fewer arrays or switches")
    arrays_of = [{"switch": switch, "name": name} for switch, name, _ in found]
    return {kind: {"interval_ns": record.interval_ns, "arrays": arrays_of}}


def matches(name: str, patterns: Iterable[str]) -> bool:
    """Whether a name, or the end of it behind a dot, fits a pattern."""
    return any(fnmatchcase(name, pattern) or fnmatchcase(name, f"*.{pattern}") for pattern in patterns)


def _is_wide(register: P4Register) -> bool:
    kind = register.type_spec
    return not (isinstance(kind, P4BoolType) or (isinstance(kind, P4BitsType) and kind.bitwidth <= MAX_BITS))
