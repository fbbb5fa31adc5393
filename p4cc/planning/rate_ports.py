"""What a case's switches with an algorithm of their own are told, by the tables that the program has."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from controller import program
from controller.bolt import EXTENSION_BYTES, BoltSettings, bolt_port
from controller.d3 import CapacityEstimate, capacity_estimate, d3_port, default_epoch_ns
from controller.dualpi2 import DualPi2Port, DualPi2Settings, dualpi2_port
from controller.rate_features import D3PortPlan, D3Settings, D3StampSettings, RcpSettings, RcpStampSettings
from controller.rcp import RcpPort, rcp_port

if TYPE_CHECKING:
    from collections.abc import Iterator

    from controller.features import Feature, PortName
    from p4cc.planning.units import Units
    from p4cc.scenario.schema import SwitchSettings
    from topos import Link, Topology

GAIN_DENOMINATOR = 1_000_000


@dataclass(frozen=True)
class RatePlanner:
    """Plans the ports of one topology; times without a value are the network's longest round trip."""

    topology: Topology
    switch: SwitchSettings
    rtt_ns: int
    units: Units
    """Of the times and depths that programs see; its packets are without an extension."""

    def features(self, tables: frozenset[str]) -> Iterator[Feature]:
        """Features of the program by the tables that it has; raises PlannerError for what a port cannot hold."""
        if program.D3_PORTS in tables:
            yield D3Settings({name: self._d3(name[0], link) for name, link in self._ports()})
        if program.D3_STAMPED in tables:
            yield D3StampSettings({name: self._d3(name[0], link) for name, link in self._ports()})
        if program.RCP_PORTS in tables:
            yield RcpSettings({name: self._rcp(name[0], link) for name, link in self._ports()})
        if program.RCP_STAMPED in tables:
            yield RcpStampSettings({name: self._rcp(name[0], link) for name, link in self._ports()})
        if program.DUALPI2_PORTS in tables:
            yield DualPi2Settings({name: self._dualpi2(name[0], link) for name, link in self._ports()})
        if program.BOLT_PORTS in tables:
            bolt = self.switch.bolt
            yield BoltSettings(
                {
                    name: bolt_port(
                        rate_bps=link.rate_bps,
                        packet_bytes=self.units.packet_bytes + EXTENSION_BYTES,
                        depth_bytes=self.units.depth_bytes(name[0]),
                        threshold_bytes=bolt.threshold_bytes,
                        most_places=bolt.places,
                        offers_room=bolt.room,
                        tells=bolt.early,
                        framing_bytes=link.framing_bytes,
                        time_unit_ns=self.units.tick_ns(name[0]),
                    )
                    for name, link in self._ports()
                }
            )

    def _rcp(self, switch: str, link: Link) -> RcpPort:
        rcp = self.switch.rcp
        return rcp_port(
            rate_bps=link.rate_bps,
            interval_ns=rcp.interval_ns or self.rtt_ns,
            rtt_ns=self.rtt_ns,
            depth_bytes=self.units.depth_bytes(switch),
            initial_share=_fraction(rcp.initial_share),
            alpha=_fraction(rcp.alpha),
            beta=_fraction(rcp.beta),
            framing_bytes=link.framing_bytes,
            time_unit_ns=self.units.tick_ns(switch),
        )

    def _dualpi2(self, switch: str, link: Link) -> DualPi2Port:
        dual = self.switch.dualpi2
        return dualpi2_port(
            rate_bps=link.rate_bps,
            packet_bytes=self.units.packet_bytes + link.framing_bytes,
            target_ns=dual.target_ns,
            interval_ns=dual.interval_ns,
            alpha_hz=_fraction(dual.alpha_hz),
            beta_hz=_fraction(dual.beta_hz),
            step_ns=dual.step_ns,
            coupling_shift=dual.coupling_shift,
            time_unit_ns=self.units.tick_ns(switch),
        )

    def _ports(self) -> Iterator[tuple[PortName, Link]]:
        for switch, ports in self.topology.ports.items():
            for port in ports:
                yield (switch, port.peer), self.topology.links[port.link_index]

    def _d3(self, switch: str, link: Link) -> D3PortPlan:
        settings = self.switch.d3
        port = d3_port(
            capacity_bps=int(link.rate_bps * _fraction(settings.capacity_share)),
            rtt_ns=self.rtt_ns,
            epoch_ns=settings.epoch_ns or default_epoch_ns(self.rtt_ns, self._longest_queue_ns()),
            time_unit_ns=self.units.tick_ns(switch),
        )
        return D3PortPlan(port, self._estimate(switch, link), settings.grants == "clamped")

    def _longest_queue_ns(self) -> int:
        """How long the network's slowest full queue lasts."""
        return max(
            link.queue_capacity_pkts * (self.units.packet_bytes + link.framing_bytes) * 8_000_000_000 // link.rate_bps
            for link in self.topology.links
        )

    def _estimate(self, switch: str, link: Link) -> CapacityEstimate | None:
        follows = self.switch.d3.estimate
        if follows is None:
            return None
        return capacity_estimate(
            rate_bps=int(link.rate_bps * _fraction(self.switch.d3.capacity_share)),
            interval_ns=follows.interval_ns or self.rtt_ns,
            depth_bytes=self.units.depth_bytes(switch),
            alpha=_fraction(follows.alpha),
            beta=_fraction(follows.beta),
            floor_share=_fraction(follows.floor_share),
            framing_bytes=link.framing_bytes,
            time_unit_ns=self.units.tick_ns(switch),
        )


def _fraction(value: float) -> Fraction:
    return Fraction(value).limit_denominator(GAIN_DENOMINATOR)
