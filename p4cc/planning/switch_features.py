"""Settings of a case's switches other than routes and thresholds: for each role of a table, who plans its rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from controller.bolt import BOLT_PORTS, EXTENSION_BYTES, BoltPort, BoltSettings, bolt_port
from controller.d3 import (
    D3_PORTS,
    D3_STAMPED,
    CapacityEstimate,
    D3PortPlan,
    D3Settings,
    D3Share,
    capacity_estimate,
    d3_port,
    default_epoch_ns,
)
from controller.dualpi2 import DUALPI2_PORTS, DUALPI2_UNITS, DualPi2Port, dualpi2_port
from controller.errors import PlannerError
from controller.features import FLOWLET_GAPS, PRIORITIES, Feature, PortName, PortTable, QueueSettings, SpraySettings
from controller.port_settings import int_ports, red_curves
from controller.rcp import RCP_PORTS, RCP_STAMPED, RCP_UNITS, RcpPort, RcpStamp, rcp_port
from controller.red import (
    CURVE_UNITS,
    CURVES,
    RED_STEPS,
    WRED_FILTER,
    PublishedCurve,
    RedCurve,
    RedStepsSettings,
    WredSettings,
)
from controller.telemetry import INT_PORTS

if TYPE_CHECKING:
    from p4cc.planning.units import Units
    from p4cc.scenario.fabric import RedCurveSettings
    from p4cc.scenario.schema import SwitchSettings
    from topos import Link, Topology

GAIN_DENOMINATOR = 1_000_000
CONTROL_PRIORITY = 7
"""What the P4 programs give control packets without an entry; a shared buffer neither counts nor pauses it."""
T = TypeVar("T")


@dataclass(frozen=True)
class FeaturePlanner:
    """Plans what tables of one topology's switches hold; times without a value are the longest round trip."""

    topology: Topology
    switch: SwitchSettings
    red: RedCurveSettings
    rtt_ns: int
    units: Units
    """Of the times and depths that programs see; its packets are without an extension."""
    ack_class: int | None = None
    """The queue of ACKs, where the transport says so."""

    def features(self, roles: frozenset[str]) -> tuple[Feature, ...]:
        """Features of programs with these roles; raises PlannerError for what a port cannot hold."""
        if self.switch.flowlet_gap_ns is not None and FLOWLET_GAPS not in roles:
            cause = f"no table of the program has the role {FLOWLET_GAPS}, so it does not support flowlets"
            raise PlannerError("flowlet_gap_ns", cause, "run p4src/v1model/ecn_red_spray.p4, or remove flowlet_gap_ns")
        return tuple(plan(self) for role, plan in PLANNERS.items() if role in roles)

    def _by_port(self, plan: Callable[[str, Link], T]) -> dict[PortName, T]:
        """A plan for every port of every switch."""
        return {
            (switch, port.peer): plan(switch, self.topology.links[port.link_index])
            for switch, ports in self.topology.ports.items()
            for port in ports
        }

    @cached_property
    def curves(self) -> dict[PortName, RedCurve]:
        """RED's curve at every port."""
        red = self.red
        curve = PublishedCurve(red.k_min_bytes, red.k_max_bytes, Fraction(red.p_max).limit_denominator(1_000_000))
        return red_curves(self.topology, curve, self.units.depth_bytes, scale_with_rate=red.scale_with_rate)

    def queues(self) -> Feature:
        """The queue of control packets."""
        shares = self.ack_class is not None and self.ack_class != CONTROL_PRIORITY
        return QueueSettings(self.ack_class if shares else None)

    def flowlets(self) -> Feature:
        """The pause that begins a flowlet, in units of the programs' clock."""
        gap_ns = self.switch.flowlet_gap_ns
        if gap_ns is None:
            return SpraySettings()
        tick_ns = self.units.common_tick_ns(self.topology.switch_names)
        if not 1 <= gap_ns // tick_ns < 1 << 32:
            cause = f"{gap_ns} ns is {gap_ns // tick_ns} ticks of the program's clock ({tick_ns} ns)"
            raise PlannerError("flowlet_gap_ns", cause, "give 1 to 2^32 - 1 ticks, or set timestamp_unit: ns")
        return SpraySettings(gap_ns // tick_ns)

    def rcp(self) -> dict[PortName, RcpPort]:
        """RCP's ports."""
        return self._by_port(self._rcp)

    def rcp_stamps(self) -> dict[PortName, RcpStamp]:
        """First rates, where a controller computes the others."""
        return {name: RcpStamp(at.initial_kbps, at.framing_bytes) for name, at in self.rcp().items()}

    def dualpi2(self) -> dict[PortName, DualPi2Port]:
        """DualPI2's ports."""
        return self._by_port(self._dualpi2)

    def d3(self) -> dict[PortName, D3PortPlan]:
        """D3's ports."""
        return self._by_port(self._d3)

    def d3_shares(self) -> dict[PortName, D3Share]:
        """What ports of D3 allot before a controller's first reading."""
        ports = ((name, plan.port) for name, plan in self.d3().items())
        return {name: D3Share(at.capacity_kbps, at.capacity_kbps, at.base_kbps) for name, at in ports}

    def bolt(self) -> dict[PortName, BoltPort]:
        """Bolt's ports."""
        return self._by_port(self._bolt)

    def _bolt(self, switch: str, link: Link) -> BoltPort:
        bolt = self.switch.bolt
        return bolt_port(
            rate_bps=link.rate_bps,
            packet_bytes=self.units.packet_bytes + EXTENSION_BYTES,
            depth_bytes=self.units.depth_bytes(switch),
            threshold_bytes=bolt.threshold_bytes,
            most_places=bolt.places,
            offers_room=bolt.room,
            tells=bolt.early,
            framing_bytes=link.framing_bytes,
            time_unit_ns=self.units.tick_ns(switch),
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


PLANNERS: Mapping[str, Callable[[FeaturePlanner], Feature]] = {
    CURVES: lambda at: PortTable(CURVES, at.curves, "set_curve", CURVE_UNITS),
    RED_STEPS: lambda at: RedStepsSettings(at.curves),
    WRED_FILTER: lambda at: WredSettings(at.curves),
    INT_PORTS: lambda at: PortTable(INT_PORTS, int_ports(at.topology, at.units.depth_bytes)),
    PRIORITIES: FeaturePlanner.queues,
    FLOWLET_GAPS: FeaturePlanner.flowlets,
    D3_PORTS: lambda at: D3Settings(at.d3()),
    D3_STAMPED: lambda at: PortTable(D3_STAMPED, at.d3_shares(), "set_share"),
    RCP_PORTS: lambda at: PortTable(RCP_PORTS, at.rcp(), units=RCP_UNITS),
    RCP_STAMPED: lambda at: PortTable(RCP_STAMPED, at.rcp_stamps(), "set_rate"),
    DUALPI2_PORTS: lambda at: PortTable(DUALPI2_PORTS, at.dualpi2(), units=DUALPI2_UNITS),
    BOLT_PORTS: lambda at: BoltSettings(at.bolt()),
}
"""Who plans the rows of a table, by its role."""
