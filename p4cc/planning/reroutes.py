"""Routes that follow a fault: those to a host with several links, once its routers know that one of them is down."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from p4cc.errors import UserError
from topos import shortest_routes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from p4cc.scenario.faults import Fault
    from topos import Routes, Topology
    from topos.routes import Ports

    _Down = frozenset[frozenset[str]]


@dataclass(frozen=True)
class Reroute:
    """From an instant on, a switch sends what is for a host out of these ports."""

    at_ns: int
    switch: str
    host: str
    ports: Ports
    fault: int
    """Its place among the scenario's faults."""


def plan_reroutes(
    faults: Sequence[Fault], topology: Topology, routes: Routes, *, by_capacity: bool, place: str
) -> tuple[Reroute, ...]:
    """All of them in the order of time; raises UserError for a fault that is not of a host with several links.

    At each instant a host's routes follow from all of its faults that routers know by then: each is known from
    `reroute_ns` after it began to `reroute_ns` after it ended. What differs from the route before is written.
    A switch without another way to the host keeps its route.
    """
    by_host: dict[str, list[int]] = {}
    for number, fault in enumerate(faults):
        if fault.reroute_ns is None or fault.between is None:
            continue
        host = next((end for end in fault.between if len(topology.interfaces.get(end, ())) > 1), None)
        if host is None:
            cause = f"neither {fault.between[0]!r} nor {fault.between[1]!r} is a host with several links"
            raise UserError(cause, place=f"{place} at faults[{number}].reroute_ns", remedy="remove reroute_ns")
        by_host.setdefault(host, []).append(number)
    found: list[Reroute] = []
    for host, numbers in by_host.items():
        ports = {switch: routes[switch][host] for switch in topology.switch_names}
        known: dict[_Down, Mapping[str, Ports] | None] = {}
        for at_ns, number in _news(faults, numbers).items():
            down = _down([faults[one] for one in numbers], at_ns)
            if down not in known:
                known[down] = _ports_without(topology, host, down, by_capacity=by_capacity)
            for switch, new in (known[down] or {}).items():
                if new and new != ports[switch]:
                    ports[switch] = new
                    found.append(Reroute(at_ns, switch, host, new, number))
    return tuple(sorted(found, key=lambda one: one.at_ns))


def other_sets(reroutes: Sequence[Reroute]) -> Mapping[str, tuple[Ports, ...]]:
    """The sets of ports that each switch needs for them."""
    found: dict[str, dict[Ports, None]] = {}
    for one in reroutes:
        found.setdefault(one.switch, {})[one.ports] = None
    return {switch: tuple(sets) for switch, sets in found.items()}


def _known_ns(fault: Fault) -> tuple[int, int | None]:
    """When routers learn that a link is down, and that it is up again."""
    late_ns = fault.reroute_ns or 0
    return fault.down_ns + late_ns, None if fault.up_ns is None else fault.up_ns + late_ns


def _news(faults: Sequence[Fault], numbers: Sequence[int]) -> Mapping[int, int]:
    """The instants at which routers learn of these faults, in order, with the number of one that is news then."""
    times = {at_ns: number for number in numbers for at_ns in _known_ns(faults[number]) if at_ns is not None}
    return dict(sorted(times.items()))


def _down(faults: Sequence[Fault], now_ns: int) -> _Down:
    """The links that routers know to be down at an instant."""
    known = ((fault.between, *_known_ns(fault)) for fault in faults)
    return frozenset(
        frozenset(between)
        for between, down_ns, up_ns in known
        if between is not None and down_ns <= now_ns and (up_ns is None or now_ns < up_ns)
    )


def _ports_without(topology: Topology, host: str, down: _Down, *, by_capacity: bool) -> Mapping[str, Ports] | None:
    """By switch the ports to a host without some of its links; None where it has no other link."""
    around = _without(topology, host, down)
    if around is None:
        return None
    routes = shortest_routes(around, by_capacity=by_capacity, check=False)
    return {switch: routes[switch][host] for switch in topology.switch_names}


def _without(topology: Topology, host: str, down: _Down) -> Topology | None:
    """The network without some links of a host, its ports numbered as before; None where the host has none left."""
    numbered = (
        link.model_copy(update={"a_port": at_a, "b_port": at_b})
        for link, (at_a, at_b) in zip(topology.links, topology.port_numbers, strict=True)
    )
    links = tuple(link for link in numbered if frozenset((link.a, link.b)) not in down)
    if not any(host in (link.a, link.b) for link in links):
        return None
    return replace(topology, links=links)
