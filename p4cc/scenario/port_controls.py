"""Settings of P4 controls with an algorithm (D3, RCP, DualPI2, Bolt, PINT), and the features that follow for the ports.

A control with settings is a class here, a field of `PortControls`, and one of `PortControlChanges` if variants may
replace it; nothing else of a scenario names it.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Literal, Protocol, runtime_checkable

from pydantic import Field

from controller.bolt import BOLT_PORTS, EXTENSION_BYTES, BoltPort, BoltSettings, bolt_port
from controller.d3 import (
    D3_PORTS,
    D3_STAMPED,
    D3PortPlan,
    D3Settings,
    D3Share,
    capacity_estimate,
    d3_port,
    default_epoch_ns,
)
from controller.dualpi2 import DUALPI2_PORTS, DUALPI2_UNITS, DualPi2Port, dualpi2_port
from controller.features import PortTable
from controller.pint import (
    LOG_BASE,
    MAX_LOG_BASE,
    MIN_LOG_BASE,
    PINT_LOGARITHM,
    PINT_PORTS,
    PINT_UNITS,
    PintLogarithm,
    PintPort,
    pint_port,
)
from controller.rcp import RCP_PORTS, RCP_STAMPED, RCP_UNITS, RcpPort, RcpStamp, rcp_port
from p4cc.scenario.base import MAX_TIME_NS, Model

if TYPE_CHECKING:
    from collections.abc import Iterator

    from controller.d3 import CapacityEstimate as PortEstimate
    from controller.features import Feature
    from controller.port_settings import NetworkPorts
    from topos import Link

__all__ = ["BoltSwitch", "CapacityEstimate", "D3Switch", "DualPi2Switch", "PintSwitch", "RcpSwitch"]
"""The settings' names in Python (`p4cc.parts`)."""

GAIN_DENOMINATOR = 1_000_000
PositiveNs = Annotated[int, Field(ge=1, le=MAX_TIME_NS)]
Gain = Annotated[float, Field(ge=0, le=10)]


@runtime_checkable
class PortControl(Protocol):
    """Settings of a control."""

    def features(self, roles: frozenset[str], at: NetworkPorts) -> Iterator[Feature]:
        """The settings of programs with tables of these roles; raises PlannerError for values beyond a port's."""
        ...


class CapacityEstimateSettings(Model):
    """C_e tracks load and queue: C_e + alpha (C - y/T) - beta q/T in each interval.

    Source: docs/algorithms/d3-rcp.md#d3-switch.
    """

    interval_ns: PositiveNs | None = Field(
        default=None, description="T; the network's longest round-trip time if absent."
    )
    alpha: Gain = 0.1
    """Gain on the spare capacity."""
    beta: Gain = 1.0
    """Gain on the queue."""
    floor_share: Annotated[float, Field(gt=0, le=1, description="Lower bound of C_e, as a fraction of C.")] = 0.1


class D3SwitchSettings(Model):
    """Ports that allocate rates on request."""

    epoch_ns: PositiveNs | None = Field(
        default=None,
        description="Interval after which idle flows expire: a flow without a request for one to two intervals is "
        "forgotten, together with whatever a lost request left in the counters. Default: 64 times the "
        "network's longest round-trip time, or 4 times with its longest queue full, up to 100 ms; at "
        "least 4 round trips.",
    )
    capacity_share: Annotated[float, Field(gt=0, le=1, description="C, as a fraction of the link rate.")] = 1.0
    grants: Literal["published", "clamped"] = Field(
        default="published",
        description="published: desired rate plus fair share whenever more than the desired rate is left, even if "
        "the sum exceeds it. clamped: never more than is left "
        "(docs/algorithms/d3-rcp.md#choice-d3-grant).",
    )
    estimate: CapacityEstimateSettings | None = Field(
        default=None, description="Estimation of C_e; if absent, C_e = C regardless of load and queue."
    )

    def features(self, roles: frozenset[str], at: NetworkPorts) -> Iterator[Feature]:
        """Ports that allocate, or those whose shares a controller computes."""
        if not {D3_PORTS, D3_STAMPED} & roles:
            return
        ports = at.plan(lambda switch, link: self._port(switch, link, at))
        if D3_PORTS in roles:
            yield D3Settings(ports)
        if D3_STAMPED in roles:
            # What a port allots before the controller's first reading.
            of = ((name, plan.port) for name, plan in ports.items())
            shares = {name: D3Share(one.capacity_kbps, one.capacity_kbps, one.base_kbps) for name, one in of}
            yield PortTable(D3_STAMPED, shares, "set_share")

    def _port(self, switch: str, link: Link, at: NetworkPorts) -> D3PortPlan:
        port = d3_port(
            capacity_bps=int(link.rate_bps * _fraction(self.capacity_share)),
            rtt_ns=at.rtt_ns,
            epoch_ns=self.epoch_ns or default_epoch_ns(at.rtt_ns, at.longest_queue_ns),
            time_unit_ns=at.tick_ns(switch),
        )
        return D3PortPlan(port, self._estimate(switch, link, at), self.grants == "clamped")

    def _estimate(self, switch: str, link: Link, at: NetworkPorts) -> PortEstimate | None:
        if self.estimate is None:
            return None
        return capacity_estimate(
            rate_bps=int(link.rate_bps * _fraction(self.capacity_share)),
            interval_ns=self.estimate.interval_ns or at.rtt_ns,
            depth_bytes=at.depth_bytes(switch),
            alpha=_fraction(self.estimate.alpha),
            beta=_fraction(self.estimate.beta),
            floor_share=_fraction(self.estimate.floor_share),
            framing_bytes=link.framing_bytes,
            time_unit_ns=at.tick_ns(switch),
        )


class RcpSwitchSettings(Model):
    """Ports with one fair rate for all flows (docs/algorithms/d3-rcp.md#rcp)."""

    interval_ns: PositiveNs | None = Field(
        default=None, description="T; the network's longest round-trip time if absent."
    )
    alpha: Gain = 0.4
    """Gain on the spare capacity."""
    beta: Gain = 0.4
    """Gain on the queue."""
    initial_share: Annotated[float, Field(gt=0, le=1)] = 0.05
    """Initial fair rate, as a fraction of the link rate."""

    def features(self, roles: frozenset[str], at: NetworkPorts) -> Iterator[Feature]:
        """Ports that compute their rate, or first rates where a controller computes the others."""
        if not {RCP_PORTS, RCP_STAMPED} & roles:
            return
        ports = at.plan(lambda switch, link: self._port(switch, link, at))
        if RCP_PORTS in roles:
            yield PortTable(RCP_PORTS, ports, units=RCP_UNITS)
        if RCP_STAMPED in roles:
            stamps = {name: RcpStamp(port.initial_kbps, port.framing_bytes) for name, port in ports.items()}
            yield PortTable(RCP_STAMPED, stamps, "set_rate")

    def _port(self, switch: str, link: Link, at: NetworkPorts) -> RcpPort:
        return rcp_port(
            rate_bps=link.rate_bps,
            interval_ns=self.interval_ns or at.rtt_ns,
            rtt_ns=at.rtt_ns,
            depth_bytes=at.depth_bytes(switch),
            initial_share=_fraction(self.initial_share),
            alpha=_fraction(self.alpha),
            beta=_fraction(self.beta),
            framing_bytes=link.framing_bytes,
            time_unit_ns=at.tick_ns(switch),
        )


class DualPi2SwitchSettings(Model):
    """Ports with coupled L4S and Classic queues (docs/algorithms/prague.md#dualpi2-parameters)."""

    target_ns: PositiveNs = 15_000_000
    """Target delay of the Classic queue."""
    interval_ns: PositiveNs = 16_000_000
    """Update interval of the PI controller (Tupdate)."""
    alpha_hz: Gain = 0.16
    """Integral gain, on the delay's deviation from the target."""
    beta_hz: Gain = 3.2
    """Proportional gain, on the change of the delay."""
    coupling_shift: Annotated[int, Field(ge=0, le=8)] = Field(
        default=1, description="Log2 of the coupling factor k, by which the base probability is multiplied for L4S."
    )
    step_ns: PositiveNs = Field(
        default=1_000_000,
        description="Delay above which L4S packets are marked; at least the transmission time of two full packets "
        "on the link.",
    )

    def features(self, roles: frozenset[str], at: NetworkPorts) -> Iterator[Feature]:
        """Ports with a dual queue."""
        if DUALPI2_PORTS in roles:
            ports = at.plan(lambda switch, link: self._port(switch, link, at))
            yield PortTable(DUALPI2_PORTS, ports, units=DUALPI2_UNITS)

    def _port(self, switch: str, link: Link, at: NetworkPorts) -> DualPi2Port:
        return dualpi2_port(
            rate_bps=link.rate_bps,
            packet_bytes=at.packet_bytes + link.framing_bytes,
            target_ns=self.target_ns,
            interval_ns=self.interval_ns,
            alpha_hz=_fraction(self.alpha_hz),
            beta_hz=_fraction(self.beta_hz),
            step_ns=self.step_ns,
            coupling_shift=self.coupling_shift,
            time_unit_ns=at.tick_ns(switch),
        )


class BoltSwitchSettings(Model):
    """Ports that notify senders of their queues and offer tokens (docs/algorithms/bolt.md#bolt-switch)."""

    threshold_bytes: Annotated[int, Field(ge=1, lt=1 << 32)] | None = Field(
        default=None, description="Queue length at which congestion is reported; two full packets if absent."
    )
    early: bool = Field(
        default=True,
        description="SRC: whether the switch notifies the sender directly. If false, it writes its queue length "
        "into the packet and the receiver notifies the sender.",
    )
    places: Annotated[int, Field(ge=0, lt=1 << 16)] = Field(
        default=256,
        description="PRU: upper bound on tokens from flows that are about to end, in packets; 0 disables them.",
    )
    room: bool = True
    """SM: whether unused capacity is offered."""

    def features(self, roles: frozenset[str], at: NetworkPorts) -> Iterator[Feature]:
        """Ports that notify, with their clone sessions."""
        if BOLT_PORTS in roles:
            yield BoltSettings(at.plan(lambda switch, link: self._port(switch, link, at)))

    def _port(self, switch: str, link: Link, at: NetworkPorts) -> BoltPort:
        return bolt_port(
            rate_bps=link.rate_bps,
            packet_bytes=at.packet_bytes + EXTENSION_BYTES,
            depth_bytes=at.depth_bytes(switch),
            threshold_bytes=self.threshold_bytes,
            most_places=self.places,
            offers_room=self.room,
            tells=self.early,
            framing_bytes=link.framing_bytes,
            time_unit_ns=at.tick_ns(switch),
        )


class PintSwitchSettings(Model):
    """Ports that measure their utilisation for PINT (docs/algorithms/hpcc.md#pint)."""

    interval_ns: PositiveNs | None = Field(
        default=None,
        description="T, over which utilisation is averaged; the network's longest round-trip time if absent.",
    )
    log_base: Annotated[float, Field(ge=MIN_LOG_BASE, le=MAX_LOG_BASE)] = Field(
        default=LOG_BASE,
        description="Base of the logarithm in which packets carry utilisation, for switches and senders.",
    )

    def features(self, roles: frozenset[str], at: NetworkPorts) -> Iterator[Feature]:
        """Ports that measure, and the logarithm that they write."""
        if PINT_PORTS in roles:
            ports = at.plan(lambda switch, link: self._port(switch, link, at))
            yield PortTable(PINT_PORTS, ports, units=PINT_UNITS)
        if PINT_LOGARITHM in roles:
            yield PintLogarithm(self.log_base)

    def _port(self, switch: str, link: Link, at: NetworkPorts) -> PintPort:
        return pint_port(
            rate_bps=link.rate_bps,
            interval_ns=self.interval_ns or at.rtt_ns,
            depth_bytes=at.depth_bytes(switch),
            framing_bytes=link.framing_bytes,
            time_unit_ns=at.tick_ns(switch),
        )


class PortControls(Model):
    """Settings of controls; a program that lacks one ignores them."""

    d3: D3SwitchSettings = D3SwitchSettings()
    """For programs that allocate rates on request (`d3.p4`)."""
    rcp: RcpSwitchSettings = RcpSwitchSettings()
    """For programs with a single fair rate (`rcp.p4`)."""
    dualpi2: DualPi2SwitchSettings = DualPi2SwitchSettings()
    """For programs with a dual queue (`dualpi2.p4`)."""
    bolt: BoltSwitchSettings = BoltSwitchSettings()
    """For programs that report queues to senders (`bolt.p4`)."""
    pint: PintSwitchSettings = PintSwitchSettings()
    """For programs that write utilisation into packets (`pint.p4`)."""

    @property
    def pint_log_base(self) -> float:
        """Base of the logarithm that switches write and senders read."""
        return self.pint.log_base

    def port_features(self, roles: frozenset[str], at: NetworkPorts) -> Iterator[Feature]:
        """The settings of all of them for programs with these roles, in order; raises PlannerError."""
        for name in PortControls.model_fields:
            control = getattr(self, name)
            if isinstance(control, PortControl):
                yield from control.features(roles, at)


class PortControlChanges(Model):
    """Those settings that a variant may replace."""

    d3: D3SwitchSettings | None = Field(default=None, description="Replaces the switches' D3 settings.")
    dualpi2: DualPi2SwitchSettings | None = Field(
        default=None, description="Replaces the switches' dual-queue settings."
    )
    pint: PintSwitchSettings | None = Field(default=None, description="Replaces the switches' PINT settings.")
    bolt: BoltSwitchSettings | None = Field(default=None, description="Replaces the switches' Bolt settings.")


def _fraction(value: float) -> Fraction:
    return Fraction(value).limit_denominator(GAIN_DENOMINATOR)


BoltSwitch = BoltSwitchSettings
CapacityEstimate = CapacityEstimateSettings
D3Switch = D3SwitchSettings
DualPi2Switch = DualPi2SwitchSettings
PintSwitch = PintSwitchSettings
RcpSwitch = RcpSwitchSettings
