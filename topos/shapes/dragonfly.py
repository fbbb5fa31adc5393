"""Groups of routers that are all joined to each other, by one long link for each pair of groups (dragonfly)."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from topos.graph import Roles, Switch, Topology
from topos.shapes.common import (
    DelayNs,
    FramingBytes,
    HostAddresses,
    Loss,
    Params,
    RateBps,
    UsualQueuePkts,
    Wire,
    numbered,
)


class DragonflyParams(Params):
    """Groups of A routers with P hosts and H long links each (Kim and others, ISCA 2008: p, a, h, g).

    Routers of a group are all joined; each pair of groups has one link. Group G numbers its A H places for long links
    by router; its place n leads to the n-th other group, counted upwards from the next one. Routes are the shortest:
    nothing is sent by a third group.
    """

    routers: Annotated[int, Field(ge=1, le=64)]
    """A: routers per group."""
    hosts_per_router: Annotated[int, Field(ge=1, le=256)]
    """P: hosts per router."""
    global_links: Annotated[int, Field(ge=1, le=256)]
    """H: global links per router."""
    groups: Annotated[int, Field(ge=2, le=4_096)] | None = None
    """Groups; by default A H + 1, the maximum that global links can connect."""
    host_rate_bps: RateBps = 100_000_000_000
    """Rate of host links."""
    local_rate_bps: RateBps = 100_000_000_000
    """Rate of local links within a group."""
    global_rate_bps: RateBps = 100_000_000_000
    """Rate of global links between groups."""
    host_delay_ns: DelayNs = 100
    """One-way propagation delay of host links."""
    local_delay_ns: DelayNs = 100
    """One-way propagation delay of local links."""
    global_delay_ns: DelayNs = 1_000
    """One-way propagation delay of global links."""
    queue_capacity_pkts: UsualQueuePkts = None
    framing_bytes: FramingBytes = 0
    """Link-layer overhead per packet beyond its IP length; 24 or 38 for Ethernet."""
    loss: Loss = 0.0
    """Packet loss probability on each link."""
    addresses: HostAddresses = "by_rack"

    @property
    def group_count(self) -> int:
        """Groups, by default the most that are joined."""
        return self.groups or self.routers * self.global_links + 1

    @model_validator(mode="after")
    def _joined(self) -> Self:
        most = self.routers * self.global_links + 1
        if self.group_count > most:
            raise ValueError(f"{self.group_count} groups exceed the {most} that global links can connect")
        return self


def dragonfly(params: DragonflyParams) -> Topology:
    """Build it: routers `g1r1`.., hosts h1.. router by router; ports are hosts, then the group, then long links."""
    rtt_ns = 4 * (params.host_delay_ns + params.local_delay_ns) + 2 * params.global_delay_ns
    rest = (params.queue_capacity_pkts, params.framing_bytes, params.loss, rtt_ns)
    host_wire = Wire(params.host_rate_bps, params.host_delay_ns, *rest)
    local = Wire(params.local_rate_bps, params.local_delay_ns, *rest)
    long = Wire(params.global_rate_bps, params.global_delay_ns, *rest)
    groups = [
        [f"g{group}r{router}" for router in range(1, params.routers + 1)] for group in range(1, params.group_count + 1)
    ]
    routers = [name for group in groups for name in group]
    hosts = tuple(numbered("h", len(routers) * params.hosts_per_router))
    links = [host_wire.link(host.name, routers[at // params.hosts_per_router]) for at, host in enumerate(hosts)]
    for group in groups:
        links.extend(local.link(a, b) for place, a in enumerate(group) for b in group[place + 1 :])
    count = len(groups)
    for one in range(count):
        for other in range(one + 1, count):
            # Places count upwards around the groups from the next one, at both ends.
            there, back = other - one - 1, one - other - 1 + count
            a, b = (groups[at][place // params.global_links] for at, place in ((one, there), (other, back)))
            links.append(long.link(a, b))
    names = tuple(host.name for host in hosts)
    size = params.routers * params.hosts_per_router
    pods = tuple(names[first : first + size] for first in range(0, len(names), size))
    return Topology(
        hosts,
        tuple(Switch(name=name) for name in routers),
        tuple(links),
        Roles(names, names, None, pods),
        params.addresses,
    )
