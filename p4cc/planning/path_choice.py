"""The way that a flow takes among equal paths, and the UDP source port that leads it along a way of one's choice.

A flow's path follows from its five-tuple alone (`controller/ecmp.py`), so a port is all that must be chosen; switches
need no entry for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.ecmp import FiveTuple, chosen_place, switch_factor
from p4cc.errors import UserError
from topos import plan_addresses
from topos.host_ways import HostWays

if TYPE_CHECKING:
    from topos import Routes, Topology

IP_PROTOCOL_UDP = 17
DESTINATION_PORT = 52_224
DYNAMIC_PORTS = range(49_152, 65_536)
"""Source ports of the transport (docs/reference/wire-format.md)."""


class PathChoice:
    """Paths in one topology whose switches have the seeds that follow from `ecmp_seed`."""

    def __init__(self, topology: Topology, ecmp_seed: int, routes: Routes) -> None:
        self._topology = topology
        self._host_ways = HostWays(topology)
        self._addresses = plan_addresses(topology)
        self._routes = routes
        ids = self._addresses.device_ids
        self._factors = {switch: switch_factor(ecmp_seed, ids[switch]) for switch in topology.switch_names}

    def path(self, src: str, dst: str, src_port: int, interface: int = 0) -> tuple[str, ...]:
        """The switches that a packet from this port passes, sent by one of the sender's links; none without a way."""
        hosts = self._addresses.hosts
        flow = FiveTuple(hosts[src].ipv4, hosts[dst].ipv4, IP_PROTOCOL_UDP, src_port, DESTINATION_PORT)
        here, _ = self._topology.interfaces[src][interface]
        passed: list[str] = []
        while here != dst:
            passed.append(here)
            ports = self._routes[here][dst]
            if not ports:
                return ()
            place = chosen_place(flow, self._factors[here], len(ports)) if len(ports) > 1 else 0
            here = self._topology.port(here, ports[place]).peer
        return tuple(passed)

    def link(self, ends: tuple[str, str], way: tuple[str, ...], *, is_back: bool = False) -> int:
        """The number of the link by which a host's packets begin on a way, as the engine chooses it.

        Of equally near links it chooses by the flow's number. Raises UserError where the way is not sure to be taken.
        """
        src, dst = ends
        switches = [switch for switch, _ in self._topology.interfaces[src]]
        near = self._host_ways.groups(src, dst)[0]
        leading = {switches[place] for place in near}
        if leading == {way[0]} or len(switches) == 1:
            return near[0]
        what = "ACKs" if is_back else "the flow"
        known = ", ".join(sorted(leading))
        if way[0] in leading:
            cause = (
                f"{src} has several links, and by which of them {what} to {dst} leaves follows from the flow's number"
            )
            cause += f" ({known}), so the path over {way[0]} is not sure"
        else:
            cause = f"{src} has several links, and {what} to {dst} leaves by {known}, not {way[0]}"
        remedy = f"leave {'the way back' if is_back else 'the flow'} out of the map"
        raise UserError(cause, place="path map", remedy=remedy)

    def source_port(self, ends: tuple[str, str], there: tuple[str, ...], back: tuple[str, ...] | None = None) -> int:
        """The lowest port whose flow goes `there`, and whose ACKs come `back` that way if it is given.

        Raises UserError if there is none.
        """
        src, dst = ends
        if there:
            out = self.link(ends, there)
            home = self.link((dst, src), back, is_back=True) if back else 0
            for port in DYNAMIC_PORTS:
                if self.path(src, dst, port, out) != there:
                    continue
                if back is None or self.path(dst, src, port, home) == back:
                    return port
        ways = " ".join(there) + (f" / {' '.join(back)}" if back is not None else "")
        raise UserError(
            f"no UDP source port makes ECMP route {src} to {dst} along {ways}",
            place="path map",
            remedy="give the switches of a shortest path in order, including the first and the last",
        )
