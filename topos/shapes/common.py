"""What all shapes share: types of parameters, and links made with one set of properties."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from pydantic import ConfigDict, Field

from topos.documented import Documented
from topos.errors import fail
from topos.graph import MAX_DELAY_NS, MAX_FRAMING_BYTES, MAX_QUEUE_PKTS, MAX_RATE_BPS, Addressing, Host, Link

RateBps = Annotated[int, Field(gt=0, le=MAX_RATE_BPS)]
QueuePkts = Annotated[int, Field(gt=0, le=MAX_QUEUE_PKTS)]
UsualQueuePkts = Annotated[
    QueuePkts | None,
    Field(
        description="Capacity of each switch queue; packets beyond it are dropped. Default: the largest of 150 "
        "packets, 10 per Gb/s of the link, and a quarter of the bandwidth-delay product."
    ),
]
FramingBytes = Annotated[int, Field(ge=0, le=MAX_FRAMING_BYTES)]
DelayNs = Annotated[int, Field(ge=0, le=MAX_DELAY_NS)]
RttNs = Annotated[int, Field(ge=0, le=60_000_000_000)]
Loss = Annotated[float, Field(ge=0.0, lt=1.0)]


_LEAST_QUEUE_PKTS = 150
_PACKET_BYTES = 1_500
_BPS_OF_A_PACKET = 100_000_000

HostAddresses = Annotated[
    Addressing,
    Field(
        description="in_order: consecutive from 10.0.0.1. by_rack: 10.pod.rack.host, so that route tables need "
        "only one entry per rack or pod."
    ),
]


class Params(Documented):
    """Parameters of a shape; unknown names are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")


@dataclass(frozen=True)
class Wire:
    """Properties that links of one kind share."""

    rate_bps: int
    delay_ns: int
    queue_capacity_pkts: int | None
    framing_bytes: int = 0
    loss: float = 0.0
    rtt_ns: int = 0
    """The network's longest, for a capacity that nobody gives."""

    def link(self, a: str, b: str, delay_ns: int | None = None) -> Link:
        """A link between two nodes, with another delay if given."""
        return Link(
            a=a,
            b=b,
            rate_bps=self.rate_bps,
            delay_ns=self.delay_ns if delay_ns is None else delay_ns,
            queue_capacity_pkts=self.queue_capacity_pkts or usual_queue_pkts(self.rate_bps, self.rtt_ns),
            framing_bytes=self.framing_bytes,
            loss=self.loss,
        )


def usual_queue_pkts(rate_bps: int, rtt_ns: int) -> int:
    """The capacity of a queue where nobody gives one: room for the thresholds that follow from rate and round trip.

    DCTCP's K_dc is 65 packets at 10 Gb/s, in proportion above, and more than a seventh of what is in flight; it is to
    be at most 65 % of the queue (docs/algorithms/slow-start.md#gst-parameters).
    """
    in_flight_pkts = rate_bps * rtt_ns // (8_000_000_000 * _PACKET_BYTES)
    return min(max(_LEAST_QUEUE_PKTS, rate_bps // _BPS_OF_A_PACKET, in_flight_pkts // 4), MAX_QUEUE_PKTS)


def numbered(prefix: str, count: int) -> Iterator[Host]:
    """Hosts prefix1, prefix2, ..."""
    return (Host(name=f"{prefix}{number}") for number in range(1, count + 1))


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
