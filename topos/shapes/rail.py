"""A cluster of servers with many GPUs whose network cards of one number meet at one switch (rail-optimised)."""

from typing import Annotated

from pydantic import Field

from topos.graph import Link, Roles, Switch, Topology
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


class RailParams(Params):
    """Units of S servers with R GPUs each; GPU r of every server of a unit hangs on the unit's rail switch r.

    A host is a GPU's network card, h1.. server by server: GPU r of server s is host (s - 1) R + r. Rail switches are
    `u1r1`.., and each is joined to every spine, so GPUs of unlike numbers meet there. With `nvswitch_rate_bps`, each
    server has a switch `nv1`.. to which each of its GPUs has a second link (NVLink): what the GPUs of a server send
    each other takes it. Without, that takes the network.
    """

    units: Annotated[int, Field(ge=1, le=256)]
    """Units, each with one switch per rail."""
    servers_per_unit: Annotated[int, Field(ge=1, le=256)]
    """Servers per unit, which is the number of hosts per rail switch."""
    rails: Annotated[int, Field(ge=1, le=16)] = 8
    """R: GPUs per server, each with a NIC."""
    spines: Annotated[int, Field(ge=1, le=256)]
    """Spine switches, which connect the rail switches."""
    host_rate_bps: RateBps = 400_000_000_000
    """Rate of GPU links."""
    fabric_rate_bps: RateBps = 400_000_000_000
    """Rate of links between rail switches and spines."""
    host_delay_ns: DelayNs = 100
    """One-way propagation delay of GPU links."""
    fabric_delay_ns: DelayNs = 500
    """One-way propagation delay between rail switch and spine."""
    nvswitch_rate_bps: RateBps | None = None
    """Rate of each GPU's link to its server's own switch; without one, servers have no switch."""
    nvswitch_delay_ns: DelayNs = 25
    """One-way propagation delay between GPU and its server's switch."""
    queue_capacity_pkts: UsualQueuePkts = None
    framing_bytes: FramingBytes = 0
    """Link-layer overhead per packet beyond its IP length; 24 or 38 for Ethernet."""
    loss: Loss = 0.0
    """Packet loss probability on each link."""
    addresses: HostAddresses = "by_rack"


def rail(params: RailParams) -> Topology:
    """Build it; ports of a rail switch are its GPUs server by server, then the spines. A pod is a unit.

    The first link of a GPU is the one to its rail switch.
    """
    rtt_ns = 4 * (params.host_delay_ns + params.fabric_delay_ns)
    rest = (params.queue_capacity_pkts, params.framing_bytes, params.loss, rtt_ns)
    down = Wire(params.host_rate_bps, params.host_delay_ns, *rest)
    up = Wire(params.fabric_rate_bps, params.fabric_delay_ns, *rest)
    unit_hosts = params.servers_per_unit * params.rails
    hosts = tuple(numbered("h", params.units * unit_hosts))
    spines = [f"spine{number}" for number in range(1, params.spines + 1)]
    rails = [f"u{unit}r{number}" for unit in range(1, params.units + 1) for number in range(1, params.rails + 1)]
    links: list[Link] = [
        down.link(host.name, rails[at // unit_hosts * params.rails + at % params.rails])
        for at, host in enumerate(hosts)
    ]
    links.extend(up.link(name, spine) for name in rails for spine in spines)
    servers: list[str] = []
    if params.nvswitch_rate_bps is not None:
        inside = Wire(params.nvswitch_rate_bps, params.nvswitch_delay_ns, *rest)
        servers = [f"nv{number}" for number in range(1, params.units * params.servers_per_unit + 1)]
        links.extend(inside.link(host.name, servers[at // params.rails]) for at, host in enumerate(hosts))
    names = tuple(host.name for host in hosts)
    pods = tuple(names[first : first + unit_hosts] for first in range(0, len(names), unit_hosts))
    switches = tuple(Switch(name=name) for name in (*rails, *spines, *servers))
    return Topology(hosts, switches, tuple(links), Roles(names, names, None, pods), params.addresses)
