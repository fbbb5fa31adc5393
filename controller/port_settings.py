"""Settings of every port besides thresholds: RED's curve and INT's values."""

from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from controller.features import PRIORITIES, Feature, PortName, PortTable, QueueSettings
from controller.red import (
    CURVE_UNITS,
    CURVES,
    RED_STEPS,
    REFERENCE_RATE_BPS,
    WRED_FILTER,
    PublishedCurve,
    RedCurve,
    RedStepsSettings,
    WredSettings,
    red_curve,
)
from controller.roles import Roles
from controller.telemetry import INT_PORTS, IntPort, int_port, scattered_id
from topos import Link, Topology

DepthBytes = Callable[[str], int]
"""Bytes of one unit of queue depth, by switch."""
T = TypeVar("T")

_LEAST_K_MIN_BYTES = 3_000
"""Two packets of 1500 B (our own): a queue in which one packet waits for another is none."""


@dataclass(frozen=True)
class NetworkPorts:
    """The switch ports of a network, and the units in which their programs see packets."""

    topology: Topology
    rtt_ns: int
    """The longest base round trip, for times without a value."""
    packet_bytes: int
    """IP bytes of a full packet, without an extension."""
    depth_bytes: DepthBytes
    tick_ns: Callable[[str], int]
    """Nanoseconds of one tick of a switch's clock."""

    def plan(self, of: Callable[[str, Link], T]) -> dict[PortName, T]:
        """A plan for every port of every switch, by its switch and its link."""
        return {
            (switch, port.peer): of(switch, self.topology.links[port.link_index])
            for switch, ports in self.topology.ports.items()
            for port in ports
        }

    @property
    def longest_queue_ns(self) -> int:
        """How long the network's slowest full queue lasts."""
        return max(
            link.queue_capacity_pkts * (self.packet_bytes + link.framing_bytes) * 8_000_000_000 // link.rate_bps
            for link in self.topology.links
        )


def red_curves(
    topology: Topology, curve: PublishedCurve, depth_bytes: DepthBytes, *, scale_with_rate: bool = True
) -> dict[PortName, RedCurve]:
    """A curve for every port; with `scale_with_rate` its thresholds are for each 25 Gb/s of the port's link.

    A slow link's keep to two packets and to four times that, where the curve itself is not below. Raises PlannerError
    for a curve that a port cannot hold.
    """
    curves: dict[PortName, RedCurve] = {}
    for switch, ports in topology.ports.items():
        for port in ports:
            rate_bps = topology.links[port.link_index].rate_bps
            scale = Fraction(rate_bps, REFERENCE_RATE_BPS) if scale_with_rate else Fraction(1)
            low, high = int(curve.k_min_bytes * scale), int(curve.k_max_bytes * scale)
            if scale < 1:
                least = max(_LEAST_K_MIN_BYTES, 2 * depth_bytes(switch))
                low, high = max(low, min(least, curve.k_min_bytes)), max(high, min(4 * least, curve.k_max_bytes))
            curves[switch, port.peer] = red_curve(low, high, curve.p_max, depth_bytes(switch))
    return curves


def host_rates_bps(topology: Topology) -> list[int]:
    """Rates of the links to hosts, in ascending order."""
    attached = (topology.links[port.link_index] for ends in topology.interfaces.values() for _, port in ends)
    return sorted({link.rate_bps for link in attached})


def int_ports(topology: Topology, depth_bytes: DepthBytes) -> dict[PortName, IntPort]:
    """INT's values of every port; raises PlannerError for a value that its field cannot hold."""
    rates, of_hosts = {link.rate_bps for link in topology.links}, host_rates_bps(topology)
    result: dict[PortName, IntPort] = {}
    for number, switch in enumerate(topology.switch_names, start=1):
        for port in topology.ports[switch]:
            link = topology.links[port.link_index]
            result[switch, port.peer] = int_port(
                switch_id=scattered_id(number),
                rate_bps=link.rate_bps,
                network_rates_bps=rates,
                host_rates_bps=of_hosts,
                depth_bytes=depth_bytes(switch),
                framing_bytes=link.framing_bytes,
            )
    return result


def features_by_roles(
    roles: Roles, topology: Topology, curve: PublishedCurve, depth_bytes: DepthBytes
) -> tuple[Feature, ...]:
    """The features that `p4cc controller` installs by the roles of a program's tables; raises PlannerError."""
    result: list[Feature] = []
    if any(role in roles for role in (CURVES, RED_STEPS, WRED_FILTER)):
        result += marking_by_curves(roles, red_curves(topology, curve, depth_bytes))
    if INT_PORTS in roles:
        result.append(PortTable(INT_PORTS, int_ports(topology, depth_bytes)))
    if PRIORITIES in roles:
        result.append(QueueSettings())
    return tuple(result)


def marking_by_curves(roles: Container[str], curves: Mapping[PortName, RedCurve]) -> Iterator[Feature]:
    """RED's curves in whatever form the program takes them."""
    if CURVES in roles:
        yield PortTable(CURVES, curves, "set_curve", CURVE_UNITS)
    if RED_STEPS in roles:
        yield RedStepsSettings(curves)
    if WRED_FILTER in roles:
        yield WredSettings(curves)
