"""The way that a flow takes among equal paths, and the UDP source port that leads it along a way of one's choice.

A flow's path follows from its five-tuple alone (`controller/ecmp.py`), so a port is all that must be chosen; switches
need no entry for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from controller.ecmp import FiveTuple, PortSweep, switch_factor
from p4cc.errors import UserError
from topos import plan_addresses
from topos.host_ways import HostWays

if TYPE_CHECKING:
    import numpy.typing as npt

    from topos import Routes, Topology

IP_PROTOCOL_UDP = 17
DESTINATION_PORT = 52_224
DYNAMIC_PORTS = range(49_152, 65_536)
"""Source ports of the transport (docs/reference/wire-format.md)."""


TRIED_AT_ONCE = 256
"""Source ports; most ways have one among the first of them."""


@dataclass(frozen=True)
class _Way:
    """A way through the network, and the choices of switches that lead along it."""

    flow: FiveTuple
    choices: list[tuple[int, npt.NDArray[np.bool_]]] | None
    """Of switches with several ports: the factor, and by place in the group whether its port leads along the way.

    None where no choice leads along it.
    """

    def taken_by(self, src_ports: range) -> npt.NDArray[np.bool_]:
        """By source port, whether the flow from there takes it."""
        fits = np.full(len(src_ports), self.choices is not None)
        sweep = PortSweep(self.flow, src_ports)
        for factor, leads in self.choices or ():
            fits &= leads[sweep.places(factor, len(leads))]
        return fits


class PathChoice:
    """Paths in one topology whose switches have the seeds that follow from `ecmp_seed`."""

    def __init__(self, topology: Topology, ecmp_seed: int, routes: Routes) -> None:
        self._topology = topology
        self._host_ways = HostWays(topology)
        self._addresses = plan_addresses(topology)
        self._routes = routes
        ids = self._addresses.device_ids
        self._factors = {switch: switch_factor(ecmp_seed, ids[switch]) for switch in topology.switch_names}

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
            ways = [self._way(ends, there, self.link(ends, there))]
            if back is not None:
                ways.append(self._way((dst, src), back, self.link((dst, src), back, is_back=True) if back else 0))
            for first in range(DYNAMIC_PORTS.start, DYNAMIC_PORTS.stop, TRIED_AT_ONCE):
                ports = range(first, first + TRIED_AT_ONCE)
                fits = np.logical_and.reduce([way.taken_by(ports) for way in ways])
                if fits.any():
                    return ports[int(fits.argmax())]
        ways = " ".join(there) + (f" / {' '.join(back)}" if back is not None else "")
        raise UserError(
            f"no UDP source port makes ECMP route {src} to {dst} along {ways}",
            place="path map",
            remedy="give the switches of a shortest path in order, including the first and the last",
        )

    def _way(self, ends: tuple[str, str], passed: tuple[str, ...], interface: int) -> _Way:
        """The way from a host, by one of its links, over these switches to another host."""
        src, dst = ends
        hosts = self._addresses.hosts
        flow = FiveTuple(hosts[src].ipv4, hosts[dst].ipv4, IP_PROTOCOL_UDP, 0, DESTINATION_PORT)
        choices: list[tuple[int, npt.NDArray[np.bool_]]] = []
        here, _ = self._topology.interfaces[src][interface]
        for switch, following in zip(passed, (*passed[1:], dst), strict=True):
            ports = self._routes[here][dst] if here == switch else ()
            leads = np.array([self._topology.port(here, port).peer == following for port in ports], np.bool_)
            if not leads.any():
                return _Way(flow, None)
            choices.append((self._factors[here], leads))
            here = following
        return _Way(flow, [one for one in choices if not one[1].all()] if passed else None)
