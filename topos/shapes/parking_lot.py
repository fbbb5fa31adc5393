"""A chain of bottlenecks: flows over all of them meet flows over one each."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from topos.graph import Host, Link, Roles, Switch, Topology
from topos.shapes.common import DelayNs, FramingBytes, Loss, Params, QueuePkts, RateBps, UsualQueuePkts, Wire, numbered


class ParkingLotParams(Params):
    """Switches s1..s(n+1) in a row, n bottlenecks between them.

    Hosts l1..lm at s1 send to r1..rm at s(n+1) over every bottleneck; at bottleneck i hosts xi-1..xi-c send to
    yi-1..yi-c over that one alone. All bottlenecks have `bottleneck_rate_bps`, or each its own of
    `bottleneck_rates_bps`.
    """

    bottlenecks: Annotated[int, Field(ge=1, le=64)]
    """Bottleneck links in the chain."""
    through_pairs: Annotated[int, Field(ge=1, le=400)] = 1
    """Host pairs whose flows cross all bottlenecks."""
    cross_pairs: Annotated[int, Field(ge=0, le=200)] = 1
    """Host pairs per bottleneck whose flows cross only that one."""
    access_rate_bps: RateBps = 10_000_000_000
    """Rate of host links."""
    bottleneck_rate_bps: RateBps = 10_000_000_000
    """Rate of every bottleneck."""
    bottleneck_rates_bps: tuple[RateBps, ...] | None = None
    """Rate of each bottleneck, in place of a common rate."""
    access_delay_ns: DelayNs = 5_000
    """One-way propagation delay of host links."""
    bottleneck_delay_ns: DelayNs = 10_000
    """One-way propagation delay of each bottleneck."""
    queue_capacity_pkts: UsualQueuePkts = None
    access_queue_capacity_pkts: QueuePkts | None = None
    """Queue capacity towards a host; that of the bottlenecks if absent."""
    framing_bytes: FramingBytes = 0
    """Link-layer overhead per packet beyond its IP length; 24 or 38 for Ethernet."""
    loss: Loss = 0.0
    """Packet loss probability on each link."""

    @model_validator(mode="after")
    def _one_rate_for_each(self) -> Self:
        rates = self.bottleneck_rates_bps
        if rates is not None and len(rates) != self.bottlenecks:
            raise ValueError(f"bottleneck_rates_bps has {len(rates)} values for {self.bottlenecks} bottlenecks")
        return self


def parking_lot(params: ParkingLotParams) -> Topology:
    """Build the chain; the roles pair l with r, then x with y, and name the first bottleneck."""
    count = params.bottlenecks
    rates = params.bottleneck_rates_bps or (params.bottleneck_rate_bps,) * count
    access_queue = params.access_queue_capacity_pkts or params.queue_capacity_pkts
    rtt_ns = 4 * params.access_delay_ns + 2 * count * params.bottleneck_delay_ns
    rest = (params.framing_bytes, params.loss, rtt_ns)
    access = Wire(params.access_rate_bps, params.access_delay_ns, access_queue, *rest)
    left, right = tuple(numbered("l", params.through_pairs)), tuple(numbered("r", params.through_pairs))
    crossing = [
        (tuple(numbered(f"x{hop}-", params.cross_pairs)), tuple(numbered(f"y{hop}-", params.cross_pairs)))
        for hop in range(1, count + 1)
    ]
    links: list[Link] = [access.link(host.name, "s1") for host in left]
    for hop, rate_bps in enumerate(rates, start=1):
        wire = Wire(rate_bps, params.bottleneck_delay_ns, params.queue_capacity_pkts, *rest)
        links.append(wire.link(f"s{hop}", f"s{hop + 1}"))
    links.extend(access.link(host.name, f"s{count + 1}") for host in right)
    for hop, (senders, receivers) in enumerate(crossing, start=1):
        links.extend(access.link(host.name, f"s{hop}") for host in senders)
        links.extend(access.link(host.name, f"s{hop + 1}") for host in receivers)
    senders = _names(left, *(one for one, _ in crossing))
    receivers = _names(right, *(one for _, one in crossing))
    hosts = (*left, *right, *(host for pair in crossing for row in pair for host in row))
    switches = tuple(Switch(name=f"s{number}") for number in range(1, count + 2))
    return Topology(hosts, switches, tuple(links), Roles(senders, receivers, ("s1", "s2")))


def _names(*rows: tuple[Host, ...]) -> tuple[str, ...]:
    return tuple(host.name for row in rows for host in row)
