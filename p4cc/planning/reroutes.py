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
    """All of them in the order of time; raises UserError for a link that leaves its host no other.

    A switch without another way to the host keeps its route.
    """
    found: list[Reroute] = []
    for number, fault in enumerate(faults):
        if fault.reroute_ns is None or fault.between is None:
            continue
        host = next((end for end in fault.between if len(topology.interfaces.get(end, ())) > 1), None)
        if host is None:
            cause = f"neither {fault.between[0]!r} nor {fault.between[1]!r} is a host with several links"
            raise UserError(cause, place=f"{place} at faults[{number}].reroute_ns", remedy="remove reroute_ns")
        times = {fault.down_ns + fault.reroute_ns: fault.down_ns}
        if fault.up_ns is not None:
            times[fault.up_ns + fault.reroute_ns] = fault.up_ns
        moved: set[tuple[str, str]] = set()
        for at_ns, since_ns in times.items():
            around = _without(topology, host, _down(faults, host, since_ns))
            if around is None:
                continue
            new = shortest_routes(around, by_capacity=by_capacity, check=False)
            moved |= {(one, host) for one in topology.switch_names if new[one][host] != routes[one][host]}
            found += (
                Reroute(at_ns, switch, host, new[switch][host], number)
                for switch in topology.switch_names
                if new[switch][host] and (switch, host) in moved
            )
    return tuple(sorted(found, key=lambda one: one.at_ns))


def other_sets(reroutes: Sequence[Reroute]) -> Mapping[str, tuple[Ports, ...]]:
    """The sets of ports that each switch needs for them."""
    found: dict[str, dict[Ports, None]] = {}
    for one in reroutes:
        found.setdefault(one.switch, {})[one.ports] = None
    return {switch: tuple(sets) for switch, sets in found.items()}


def _down(faults: Sequence[Fault], host: str, at_ns: int) -> frozenset[frozenset[str]]:
    """Links of a host that are down at an instant, of those whose faults the routes follow."""
    followed = (one for one in faults if one.between is not None and one.reroute_ns is not None)
    return frozenset(
        frozenset(one.between)
        for one in followed
        if one.between is not None
        and host in one.between
        and one.down_ns <= at_ns
        and (one.up_ns is None or at_ns < one.up_ns)
    )


def _without(topology: Topology, host: str, down: frozenset[frozenset[str]]) -> Topology | None:
    """The network without some links of a host, its ports numbered as before; None where the host has none left."""
    numbered = (
        link.model_copy(update={"a_port": at_a, "b_port": at_b})
        for link, (at_a, at_b) in zip(topology.links, topology.port_numbers, strict=True)
    )
    links = tuple(link for link in numbered if frozenset((link.a, link.b)) not in down)
    if not any(host in (link.a, link.b) for link in links):
        return None
    return replace(topology, links=links)
