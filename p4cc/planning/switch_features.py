"""Settings of a case's switches other than routes and thresholds: for each role of a table, who plans its rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from controller.errors import PlannerError
from controller.features import FLOWLET_GAPS, PRIORITIES, Feature, PortName, PortTable, QueueSettings, SpraySettings
from controller.port_settings import NetworkPorts, int_ports, red_curves
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
    from topos import Topology

CONTROL_PRIORITY = 7
"""The priority of control packets without an entry; a shared buffer neither counts nor pauses it."""


@dataclass(frozen=True)
class FeaturePlanner:
    """Plans the tables of one topology's switches; times without a value are the longest round trip."""

    topology: Topology
    switch: SwitchSettings
    red: RedCurveSettings
    rtt_ns: int
    units: Units
    """Of the times and depths that programs see; its packets are without an extension."""
    ack_class: int | None = None
    """The queue of ACKs, where the transport says so."""
    senders_choose: bool = False
    """Whether some sender chooses paths by source ports (`transport.entropy`)."""

    def features(self, roles: frozenset[str]) -> tuple[Feature, ...]:
        """Features of programs with these roles; raises PlannerError for values that a port cannot hold."""
        if self.switch.flowlet_gap_ns is not None and FLOWLET_GAPS not in roles:
            cause = f"no table of the program has the role {FLOWLET_GAPS}, so it does not support flowlets"
            raise PlannerError("flowlet_gap_ns", cause, "run p4src/v1model/ecn_red_spray.p4, or remove flowlet_gap_ns")
        if self.switch.flowlet_gap_ns is not None and self.senders_choose:
            cause = "flowlets take the paths that switches draw, and transport.entropy lets senders choose"
            raise PlannerError("flowlet_gap_ns", cause, "remove flowlet_gap_ns or transport.entropy")
        planned = (plan(self) for role, plan in PLANNERS.items() if role in roles)
        return (*planned, *self.switch.port_features(roles, self.ports))

    @property
    def ports(self) -> NetworkPorts:
        """The network that controls with settings are planned for."""
        units = self.units
        return NetworkPorts(self.topology, self.rtt_ns, units.packet_bytes, units.depth_bytes, units.tick_ns)

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
            return SpraySettings(follows_senders=self.senders_choose)
        tick_ns = self.units.common_tick_ns(self.topology.switch_names)
        if not 1 <= gap_ns // tick_ns < 1 << 32:
            cause = f"{gap_ns} ns is {gap_ns // tick_ns} ticks of the program's clock ({tick_ns} ns)"
            raise PlannerError("flowlet_gap_ns", cause, "give 1 to 2^32 - 1 ticks, or set timestamp_unit: ns")
        return SpraySettings(gap_ns // tick_ns)


PLANNERS: Mapping[str, Callable[[FeaturePlanner], Feature]] = {
    CURVES: lambda at: PortTable(CURVES, at.curves, "set_curve", CURVE_UNITS),
    RED_STEPS: lambda at: RedStepsSettings(at.curves),
    WRED_FILTER: lambda at: WredSettings(at.curves),
    INT_PORTS: lambda at: PortTable(INT_PORTS, int_ports(at.topology, at.units.depth_bytes)),
    PRIORITIES: FeaturePlanner.queues,
    FLOWLET_GAPS: FeaturePlanner.flowlets,
}
"""Who plans the rows of a table, by its role; controls with settings are p4cc/scenario/port_controls.py's."""
