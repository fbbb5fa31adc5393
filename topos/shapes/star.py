"""Senders and one aggregator on one switch."""

from typing import Annotated

from pydantic import Field

from topos.graph import MAX_HOSTS, Host, Roles, Switch, Topology
from topos.shapes.common import FramingBytes, Loss, Params, RateBps, RttNs, UsualQueuePkts, Wire, numbered, split_rtt


class StarParams(Params):
    """T-incast: senders h1..hn and one aggregator on one switch, every link alike.

    `rtt_ns` is the base round-trip time by propagation alone; a round trip crosses four links. `background_hosts` adds
    b1..bm, senders of additional traffic (docs/algorithms/traffic.md#workloads).

    Source: docs/algorithms/topologies.md#topologies.
    """

    senders: Annotated[int, Field(ge=1, le=MAX_HOSTS - 1)]
    """Number of hosts h1, h2, ... that send to `aggregator`."""
    background_hosts: Annotated[int, Field(ge=0, le=MAX_HOSTS)] = 0
    """Number of additional hosts b1, b2, ... for other traffic."""
    rate_bps: RateBps = 10_000_000_000
    """Rate of every link."""
    rtt_ns: RttNs = 100_000
    """Round-trip propagation time, a multiple of 4."""
    queue_capacity_pkts: UsualQueuePkts = None
    framing_bytes: FramingBytes = 0
    """Link-layer overhead per packet beyond its IP length; 24 or 38 for Ethernet."""
    loss: Loss = 0.0
    """Packet loss probability on each link."""


def star(params: StarParams) -> Topology:
    """Build T-incast: hosts h1..hn, `aggregator`, b1..bm, switch `s1`; the aggregator is the switch's port n + 1."""
    senders = tuple(numbered("h", params.senders))
    hosts = (*senders, Host(name="aggregator"), *numbered("b", params.background_hosts))
    delay_ns = split_rtt(params.rtt_ns, 4)
    rest = (params.queue_capacity_pkts, params.framing_bytes, params.loss, params.rtt_ns)
    wire = Wire(params.rate_bps, delay_ns, *rest)
    return Topology(
        hosts,
        (Switch(name="s1"),),
        tuple(wire.link(host.name, "s1") for host in hosts),
        Roles(tuple(host.name for host in senders), ("aggregator",), ("s1", "aggregator")),
    )
