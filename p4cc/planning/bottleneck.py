"""A scenario as the utilisation model of the GST paper sees it (docs/algorithms/slow-start.md#gst-model)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.model import Bottleneck
from p4cc.errors import UserError
from p4cc.scenario.fabric import RdmaTransport
from p4cc.scenario.schema import header_bytes
from p4cc.scenario.topology import StarTopology

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
    return Bottleneck(
        buffer_pkts=topology.build(scenario.place).links[0].queue_capacity_pkts,
        rate_bps=topology.rate_bps,
        rtt_ns=topology.rtt_ns if thresholds.rtt_ns is None else thresholds.rtt_ns,
        packet_bytes=transport.mss_bytes + header_bytes(transport.packets, transport.ip),
        senders=topology.senders,
        rto_ns=transport.rto_min_ns,
    )
