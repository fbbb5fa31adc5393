"""Packets of the user's own, which belong to no flow: written by hand, or those of a capture; what arrives of them."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from p4cc.scenario.base import KIND, MAX_TIME_NS, Hosts, Model, TimeNs, listed
from p4cc.scenario.traffic_base import Traffic

MAX_PACKET_BYTES = 65_535
MAX_PACKETS = 100_000
"""Most packets of one item, not counting that they are sent again and again."""
MAX_TEXT = 1 << 18


Text = Annotated[str, Field(min_length=1, max_length=MAX_TEXT)]
Texts = Annotated[list[Text], BeforeValidator(listed), Field(min_length=1, max_length=10_000)]
FileName = Annotated[str, Field(min_length=1, max_length=4_096)]
HostName = Annotated[str, Field(min_length=1, max_length=64)]


class UserTraffic(Traffic):
    """What packets of the user's own have, wherever their bytes come from."""

    priority: Annotated[int, Field(ge=0, le=7)] = Field(
        default=0, description="Class by which PFC pauses them at their host; the bytes are sent as they are."
    )
    end_ns: TimeNs | None = Field(default=None, description="Nothing is due then or later; `stop_ns` if absent.")

    @model_validator(mode="after")
    def _ends_after_start(self) -> Self:
        if self.end_ns is not None and self.end_ns <= self.start_ns:
            raise ValueError(f"end_ns {self.end_ns} is not after start_ns {self.start_ns}")
        return self


class PacketsTraffic(UserTraffic):
    """Packets of the user's own, sent from hosts at a time, again and again at a period or a rate.

    Their bytes start with the Ethernet header; give one of `hex`, `scapy` and `pcap`. They share the host's interface
    with flows, in the order in which both are handed over.
    """

    kind: Annotated[Literal["packets"], KIND] = "packets"  # pyright: ignore[reportIncompatibleVariableOverride]
    sources: Hosts
    """Hosts that send them, by name, with * and ?; each host sends all of them."""
    hex: Texts | None = Field(default=None, description="Packets, two digits a byte; one, or a list.")
    scapy: Texts | None = Field(
        default=None,
        description="Packets as scapy writes them, such as `Ether()/IP(dst=h2.ipv4)/UDP(dport=7)`; one, or a list. "
        "Layers are scapy's and the header types of the program; `self` is the host that sends.",
    )
    pcap: FileName | None = Field(
        default=None, description="A pcap or pcapng file of Ethernet, for its packets. Relative to the scenario."
    )
    count: Annotated[int, Field(ge=1, le=1 << 40)] | None = Field(
        default=None,
        description="Packets that each host sends, all in turn and then from the first again; absent: all of them "
        "once, with a period or a rate until `end_ns`.",
    )
    period_ns: Annotated[int, Field(ge=1, le=MAX_TIME_NS)] | None = None
    """From one packet to the next."""
    rate_bps: Annotated[int, Field(ge=1, le=10_000_000_000_000)] | None = Field(
        default=None, description="In place of a period: bits of packets, Ethernet header included, per second."
    )

    @model_validator(mode="after")
    def _one_of_each(self) -> Self:
        if sum(given is not None for given in (self.hex, self.scapy, self.pcap)) != 1:
            raise ValueError("give exactly one of hex, scapy and pcap")
        if self.period_ns is not None and self.rate_bps is not None:
            raise ValueError("give period_ns or rate_bps, not both; neither sends all packets at once")
        return self


class ReplayTraffic(UserTraffic):
    """The packets of a capture, sent from one host with the times between them that the capture has."""

    kind: Annotated[Literal["replay"], KIND] = "replay"  # pyright: ignore[reportIncompatibleVariableOverride]
    source: HostName
    """The host that sends all of them; the first one leaves at `start_ns`."""
    pcap: FileName
    """A pcap or pcapng file of Ethernet, relative to the scenario."""
    speed: Annotated[float, Field(gt=0, le=1e9)] = 1.0
    """How many times as fast as in the capture."""
    addresses: dict[Annotated[str, Field(min_length=1, max_length=15)], HostName] = Field(
        default={},
        max_length=65_536,
        description="IPv4 addresses of the capture to hosts that take their place, checksums included. A packet whose "
        "destination is replaced goes to the gateway of the host that sends it.",
    )


class PacketsReceived(Model):
    """What is kept of packets that arrive at hosts and that no flow takes."""

    hosts: Hosts = Field(default=["*"])
    """Hosts that keep them."""
    snap_bytes: Annotated[int, Field(ge=0, le=MAX_PACKET_BYTES)] = 128
    """First bytes of each packet that are kept."""
    max_packets: Annotated[int, Field(ge=1, le=1_000_000)] = Field(
        default=10_000, description="Packets of each host that are kept; `rows_left_out` counts later ones."
    )
