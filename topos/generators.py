"""Topologies by name: each generator takes checked parameters and returns a graph.

`generate("star", {"senders": 25})` is the one way in; a new shape is a parameter class, a function and a line in
`GENERATORS`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from topos.errors import TopologyError, fail
from topos.graph import (
    MAX_FRAMING_BYTES,
    MAX_HOSTS,
    MAX_QUEUE_PKTS,
    MAX_RATE_BPS,
    Host,
    Link,
    Switch,
    Topology,
    problems_of,
)

RateBps = Annotated[int, Field(gt=0, le=MAX_RATE_BPS)]
QueuePkts = Annotated[int, Field(gt=0, le=MAX_QUEUE_PKTS)]
FramingBytes = Annotated[int, Field(ge=0, le=MAX_FRAMING_BYTES)]
RttNs = Annotated[int, Field(ge=0, le=60_000_000_000)]


class Params(BaseModel):
    """Parameters of a generator; unknown names are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class StarParams(Params):
    """T-incast (spec 15): senders h1..hn and one aggregator on one switch, every link alike.

    `rtt_ns` is the base round-trip time by propagation alone; a round trip crosses four links.
    """

    senders: Annotated[int, Field(ge=1, le=MAX_HOSTS - 1)]
    rate_bps: RateBps = 10_000_000_000
    rtt_ns: RttNs = 100_000
    queue_capacity_pkts: QueuePkts = 150
    framing_bytes: FramingBytes = 0
    loss: Annotated[float, Field(ge=0.0, lt=1.0)] = 0.0


class DumbbellParams(Params):
    """Hosts l1..ln on one switch and r1..rn on another, joined by one bottleneck.

    `rtt_ns` is the base round-trip time by propagation alone between l_i and r_i; a round trip crosses six links.
    """

    pairs: Annotated[int, Field(ge=1, le=MAX_HOSTS // 2)]
    access_rate_bps: RateBps = 10_000_000_000
    bottleneck_rate_bps: RateBps = 10_000_000_000
    rtt_ns: RttNs = 120_000
    queue_capacity_pkts: QueuePkts = 150
    framing_bytes: FramingBytes = 0
    loss: Annotated[float, Field(ge=0.0, lt=1.0)] = 0.0


def star(params: StarParams) -> Topology:
    """Build T-incast: hosts h1..hn and `aggregator`, switch `s1`; the aggregator is the switch's port n + 1."""
    hosts = (*(Host(name=f"h{i + 1}") for i in range(params.senders)), Host(name="aggregator"))
    delay_ns = split_rtt(params.rtt_ns, 4)

    def link(host: Host) -> Link:
        return Link(
            a=host.name,
            b="s1",
            rate_bps=params.rate_bps,
            delay_ns=delay_ns,
            queue_capacity_pkts=params.queue_capacity_pkts,
            framing_bytes=params.framing_bytes,
            loss=params.loss,
        )

    return Topology(hosts, (Switch(name="s1"),), tuple(link(host) for host in hosts))


def dumbbell(params: DumbbellParams) -> Topology:
    """Build a dumbbell: switches `s1` (left) and `s2` (right), whose port n + 1 is the bottleneck."""
    left = tuple(Host(name=f"l{i + 1}") for i in range(params.pairs))
    right = tuple(Host(name=f"r{i + 1}") for i in range(params.pairs))
    delay_ns = split_rtt(params.rtt_ns, 6)

    def link(a: str, b: str, rate_bps: int) -> Link:
        return Link(
            a=a,
            b=b,
            rate_bps=rate_bps,
            delay_ns=delay_ns,
            queue_capacity_pkts=params.queue_capacity_pkts,
            framing_bytes=params.framing_bytes,
            loss=params.loss,
        )

    links = (
        *(link(host.name, "s1", params.access_rate_bps) for host in left),
        link("s1", "s2", params.bottleneck_rate_bps),
        *(link("s2", host.name, params.access_rate_bps) for host in right),
    )
    # The right switch numbers its ports like the left one: hosts from 2, the bottleneck is port 1 there.
    return Topology((*left, *right), (Switch(name="s1"), Switch(name="s2")), links)


def split_rtt(rtt_ns: int, traversals: int) -> int:
    """Delay of each of `traversals` links that make up `rtt_ns`; raises TopologyError unless it divides evenly."""
    if rtt_ns % traversals:
        below = rtt_ns - rtt_ns % traversals
        raise fail(
            "rtt_ns",
            f"{rtt_ns} ns cannot be split evenly over {traversals} link traversals",
            f"give a multiple of {traversals}, such as {below} or {below + traversals}",
        )
    return rtt_ns // traversals


_P = TypeVar("_P", bound=Params)


@dataclass(frozen=True)
class Generator(Generic[_P]):
    """A named shape: the class of its parameters and the function that builds it."""

    params: type[_P]
    build: Callable[[_P], Topology]

    def run(self, values: Mapping[str, Any]) -> Topology:
        """Check the values and build; raises TopologyError."""
        try:
            params = self.params.model_validate(dict(values))
        except ValidationError as error:
            raise TopologyError(problems_of(error)) from None
        return self.build(params)


GENERATORS: Mapping[str, Generator[Any]] = {
    "dumbbell": Generator(DumbbellParams, dumbbell),
    "star": Generator(StarParams, star),
}


def generate(name: str, params: Mapping[str, Any]) -> Topology:
    """Build the topology `name` with these parameters; raises TopologyError for an unknown name or a bad value."""
    generator = GENERATORS.get(name)
    if generator is None:
        raise fail(f"topology {name!r}", "no generator has this name", f"use one of: {', '.join(GENERATORS)}")
    return generator.run(params)
