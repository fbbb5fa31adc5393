"""Faults of a run that concern its controller: ports, switches that restart, and its absences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from p4cc.scenario.control import Absence
    from p4cc.scenario.faults import Fault
    from topos import Topology

_NEVER = 1 << 63
_Times = list[tuple[int, int]]
"""Begin and end of an outage; the end is `_NEVER` if it is permanent."""


@dataclass(frozen=True)
class PortChange:
    """A port goes down or comes up."""

    at_ns: int
    switch: str
    port: int
    up: bool


@dataclass(frozen=True)
class Restart:
    """A switch goes down; later, or never, its program and entries are installed again."""

    down_ns: int
    installed_ns: int | None
    switch: str


@dataclass(frozen=True)
class Faults:
    """All faults, each kind in order of time."""

    ports: tuple[PortChange, ...] = ()
    restarts: tuple[Restart, ...] = ()
    absences: tuple[Absence, ...] = ()


def faults_of(faults: Sequence[Fault], absences: Sequence[Absence], topology: Topology) -> Faults:
    """Consequences of a scenario's faults for the controller of this topology."""
    restarts = [Restart(one.down_ns, one.installed_ns, one.switch) for one in faults if one.switch is not None]
    switches: dict[str, _Times] = {}
    for one in faults:
        if one.switch is not None:
            switches.setdefault(one.switch, []).append((one.down_ns, one.up_ns or _NEVER))
    ports = _port_changes(faults, switches, topology)
    return Faults(
        tuple(sorted(ports, key=lambda one: one.at_ns)),
        tuple(sorted(restarts, key=lambda one: one.down_ns)),
        tuple(sorted(absences, key=lambda one: one.leaves_ns)),
    )


def _port_changes(faults: Sequence[Fault], switches: dict[str, _Times], topology: Topology) -> Iterator[PortChange]:
    """Port changes that switches report; a switch that is down, or comes up at that instant, reports nothing."""
    links: dict[frozenset[str], _Times] = {}
    for one in faults:
        if one.between is not None:
            links.setdefault(frozenset(one.between), []).append((one.down_ns, one.up_ns or _NEVER))
    for switch, ports in topology.ports.items():
        own = switches.get(switch, [])
        for port in ports:
            down = [*own, *switches.get(port.peer, []), *links.get(frozenset((switch, port.peer)), [])]
            for down_ns, up_ns in _merged(down):
                for at_ns, up in ((down_ns, False), (up_ns, True)):
                    if at_ns < _NEVER and not any(first <= at_ns <= last for first, last in own):
                        yield PortChange(at_ns, switch, port.number, up)


def _merged(times: Iterable[tuple[int, int]]) -> _Times:
    """Merges overlapping spans."""
    merged: _Times = []
    for first, last in sorted(times):
        if merged and first <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return merged
