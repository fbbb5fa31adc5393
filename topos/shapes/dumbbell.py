"""Two rows of hosts joined by one bottleneck; each pair may have its own round-trip time."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from topos.errors import fail
from topos.graph import MAX_HOSTS, Link, Roles, Switch, Topology
from topos.shapes.common import (
    DelayNs,
    FramingBytes,
    Loss,
    Params,
    QueuePkts,
    RateBps,
    RttNs,
    UsualQueuePkts,
    Wire,
    numbered,
    split_rtt,
)

PairRtts = Annotated[tuple[RttNs, ...], Field(min_length=1, max_length=MAX_HOSTS // 2)]


class DumbbellParams(Params):
    """Hosts l1..ln on one switch and r1..rn on another, joined by one bottleneck.

    `rtt_ns` is the base round-trip time by propagation alone between l_i and r_i; a round trip crosses six links, each
    with a sixth of it. With `pair_rtts_ns` in its place (one for each pair) the bottleneck has `bottleneck_delay_ns`, a
    sixth of the smallest if not given, and the two access links of a pair share the rest. `queue_capacity_pkts` is the
    bottleneck's; access links have `access_queue_capacity_pkts`, the same if not given.

    Source: T-geo of docs/algorithms/topologies.md#topologies.
    """

    pairs: Annotated[int, Field(ge=1, le=MAX_HOSTS // 2)] | None = None
    """Hosts on each side; the number of values in `pair_rtts_ns` if absent."""
    access_rate_bps: RateBps = 10_000_000_000
    """Rate of host links."""
    bottleneck_rate_bps: RateBps = 10_000_000_000
    """Rate of the link between the two switches."""
    rtt_ns: RttNs | None = None
    """Round-trip propagation time, a multiple of 6; 120 us if absent."""
    pair_rtts_ns: PairRtts | None = None
    """Round-trip propagation time of each pair, in place of `rtt_ns`."""
    bottleneck_delay_ns: DelayNs | None = None
    """One-way propagation delay of the bottleneck with `pair_rtts_ns`; a sixth of the smallest of them if absent."""
    queue_capacity_pkts: UsualQueuePkts = None
    access_queue_capacity_pkts: QueuePkts | None = None
    """Queue capacity towards a host; that of the bottleneck if absent."""
    framing_bytes: FramingBytes = 0
    """Link-layer overhead per packet beyond its IP length; 24 or 38 for Ethernet."""
    loss: Loss = 0.0
    """Packet loss probability on each link."""

    @model_validator(mode="after")
    def _one_way_to_give_times(self) -> Self:
        if self.pair_rtts_ns is None:
            if self.pairs is None:
                raise ValueError("pairs is missing; give pairs, or one round-trip time per pair in pair_rtts_ns")
            if self.bottleneck_delay_ns is not None:
                raise ValueError(
                    "bottleneck_delay_ns requires pair_rtts_ns, because rtt_ns is split evenly over the links"
                )
        elif self.rtt_ns is not None:
            raise ValueError("both rtt_ns and pair_rtts_ns are given; remove one")
        elif self.pairs not in (None, len(self.pair_rtts_ns)):
            raise ValueError(f"pairs is {self.pairs} but pair_rtts_ns has {len(self.pair_rtts_ns)} values")
        return self


def dumbbell(params: DumbbellParams) -> Topology:
    """Build a dumbbell: switches `s1` (left) and `s2` (right), whose port n + 1 is the bottleneck."""
    rtts = params.pair_rtts_ns
    bottleneck_delay_ns, access = _delays(params)
    access_queue = params.access_queue_capacity_pkts or params.queue_capacity_pkts
    rest = (params.framing_bytes, params.loss, 2 * (bottleneck_delay_ns + max(map(sum, access), default=0)))
    near = Wire(params.access_rate_bps, 0, access_queue, *rest)
    middle = Wire(params.bottleneck_rate_bps, bottleneck_delay_ns, params.queue_capacity_pkts, *rest)
    pairs = params.pairs or len(rtts or ())
    left, right = tuple(numbered("l", pairs)), tuple(numbered("r", pairs))
    links: list[Link] = [near.link(host.name, "s1", delays[0]) for host, delays in zip(left, access, strict=True)]
    links.append(middle.link("s1", "s2"))
    # The right switch numbers its ports like the left one: hosts from 2, the bottleneck is port 1 there.
    links.extend(near.link("s2", host.name, delays[1]) for host, delays in zip(right, access, strict=True))
    return Topology(
        (*left, *right),
        (Switch(name="s1"), Switch(name="s2")),
        tuple(links),
        Roles(tuple(host.name for host in left), tuple(host.name for host in right), ("s1", "s2")),
    )


def _delays(params: DumbbellParams) -> tuple[int, list[tuple[int, int]]]:
    """Delay of the bottleneck, and of the two access links of each pair."""
    if params.pair_rtts_ns is None:
        each = split_rtt(120_000 if params.rtt_ns is None else params.rtt_ns, 6)
        return each, [(each, each)] * (params.pairs or 0)
    shortest = min(params.pair_rtts_ns)
    middle = shortest // 6 if params.bottleneck_delay_ns is None else params.bottleneck_delay_ns
    if 2 * middle > shortest:
        cause = f"twice {middle} ns exceeds the shortest round-trip time, {shortest} ns"
        raise fail("bottleneck_delay_ns", cause, f"give at most {shortest // 2}")
    access: list[tuple[int, int]] = []
    for index, rtt_ns in enumerate(params.pair_rtts_ns):
        if rtt_ns % 2:
            cause = f"{rtt_ns} ns is odd, but must be twice the one-way delay"
            raise fail(f"pair_rtts_ns[{index}]", cause, f"give an even number, such as {rtt_ns + 1}")
        rest = rtt_ns // 2 - middle
        access.append((rest // 2, rest - rest // 2))
    return middle, access
