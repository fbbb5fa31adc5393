"""A scenario as the utilisation model of the GST paper sees it (docs/algorithms/slow-start.md#gst-model)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.model import Bottleneck
from p4cc.errors import UserError
from p4cc.planning.timeouts import path_times
from p4cc.scenario.fabric import RdmaTransport
from p4cc.scenario.schema import header_bytes
from p4cc.scenario.timeouts import BY_PATH
from p4cc.scenario.topology import StarTopology
from topos import Paths

if TYPE_CHECKING:
    from p4cc.scenario.schema import ScenarioModel


def bottleneck(scenario: ScenarioModel) -> Bottleneck:
    """The bottleneck of a star; raises UserError for other networks."""
    topology = scenario.topology
    if not isinstance(topology, StarTopology):
        raise UserError("the model applies only to a star", remedy="give a scenario whose topology is a star")
    transport = scenario.transport
    if isinstance(transport, RdmaTransport):
        raise UserError(
            "the model applies only to windows and timeouts", remedy="give a scenario whose transport is window"
        )
    thresholds = scenario.switch.thresholds
    built = topology.build(scenario.place)
    packet_bytes = transport.mss_bytes + header_bytes(transport.packets, transport.ip)
    rto_ns = transport.rto_min_ns
    if rto_ns == BY_PATH:
        rto_ns = path_times(built, Paths(built), packet_bytes, {}).rto_min_ns()
    return Bottleneck(
        buffer_pkts=built.links[0].queue_capacity_pkts,
        rate_bps=topology.rate_bps,
        rtt_ns=topology.rtt_ns if thresholds.rtt_ns is None else thresholds.rtt_ns,
        packet_bytes=packet_bytes,
        senders=topology.senders,
        rto_ns=rto_ns,
    )
