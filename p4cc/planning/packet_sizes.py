"""How large the packets of a case's senders are, and how long a flow of them takes alone in the network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from p4cc.scenario.schema import header_bytes
from p4cc.scenario.traffic_base import own_sender
from topos import AloneIdeal, HpccIdeal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p4cc.planning.traffic import TrafficPlan
    from p4cc.scenario.base import Parameter, Sender
    from p4cc.scenario.expand import Case
    from topos import Ideal

NS3_HEADER_BYTES = 48
"""PPP 14, IPv4 20, UDP 8, sequence header 6, which slowdown B counts (docs/algorithms/metrics.md#metrics).

Source: docs/algorithms/substrate.md#packets.
"""

MAX_EXTENSION_BYTES = 255
"""Of a packet of p4cc's (docs/reference/wire-format.md)."""


@dataclass(frozen=True)
class PacketSize:
    """Payload of a sender's full packet, and the headers from IP on, which also bound an ACK."""

    mss_bytes: int
    header_bytes: int
    segment_bytes: int | None = None
    """Payload of a segment, for flows with segments."""

    @property
    def packet_bytes(self) -> int:
        """IP bytes of a full packet."""
        return self.mss_bytes + self.header_bytes


def packet_sizes(case: Case) -> dict[str, PacketSize]:
    """By the engine's names of senders; user headers are not counted."""
    own = {own_sender(item): item.sender for item in case.scenario.flow_items.values() if item.sender is not None}
    return {name: _size_of(case, sender) for name, sender in {case.variant.name: case.variant, **own}.items()}


def _size_of(case: Case, sender: Sender) -> PacketSize:
    transport = case.scenario.transport if sender.rate_control is None else case.scenario.rdma_transport

    def setting(field: str) -> Parameter | None:
        return sender.transport.get(field, getattr(transport, field, None))

    headers = header_bytes(setting("packets"), setting("ip"))
    mss_bytes, segment_bytes = setting("mss_bytes"), setting("segment_bytes")
    return PacketSize(int(mss_bytes or 0), headers, None if segment_bytes is None else int(segment_bytes))


def most_bytes(case: Case, user_header_bytes: int, traffic: TrafficPlan) -> int:
    """IP bytes of the largest packet of a case, with what switches may add to an extension of it."""
    flows = max((size.packet_bytes for size in packet_sizes(case).values()), default=0)
    frames = (frame for source in traffic.packets for frame in source["frames"])
    own = max((len(frame["hex"]) // 2 + frame.get("zeros", 0) for frame in frames), default=0)
    return max(flows + user_header_bytes + MAX_EXTENSION_BYTES, own)


def ideals(case: Case, user_header_bytes: int, *, sprayed: bool) -> Mapping[str, Ideal]:
    """Formulas for completion times alone in the network, by the names that the engine knows senders by.

    `user_header_bytes` are user headers in each data packet; `sprayed` says that packets of a flow may take
    several paths at the same time.
    """
    sizes = packet_sizes(case)
    if case.scenario.record.ideal_fct == "hpcc_ns3":
        return dict.fromkeys(sizes, _hpcc(case, user_header_bytes))
    return {
        name: AloneIdeal(
            size.mss_bytes, size.header_bytes + user_header_bytes, size.header_bytes, sprayed, size.segment_bytes
        )
        for name, size in sizes.items()
    }


def _hpcc(case: Case, user_header_bytes: int) -> HpccIdeal:
    """One formula for all senders; RDMA-like flows count as in the ns-3 simulator, so that slowdowns compare.

    They have its headers, and the base round trip is of payloads (docs/algorithms/pfc.md#number-fat-tree-pfc).
    """
    mss_bytes = case.scenario.transport.mss_bytes
    if case.scenario.transport.kind == "rdma":
        return HpccIdeal(mss_bytes, NS3_HEADER_BYTES, mss_bytes)
    headers = case.header_bytes + user_header_bytes
    return HpccIdeal(mss_bytes, headers, mss_bytes + headers)
