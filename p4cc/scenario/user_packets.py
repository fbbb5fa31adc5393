"""User packets, which belong to no flow: written by hand, or from a capture; and the recording of their arrival."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from p4cc.scenario.base import KIND, MAX_TIME_NS, Hosts, Model, TimeNs, listed
from p4cc.scenario.traffic_base import Traffic

MAX_PACKET_BYTES = 65_535
MAX_PACKETS = 100_000
"""Maximum number of packets in one item, not counting repetitions."""
MAX_TEXT = 1 << 18


Text = Annotated[str, Field(min_length=1, max_length=MAX_TEXT)]
Texts = Annotated[list[Text], BeforeValidator(listed), Field(min_length=1, max_length=10_000)]
FileName = Annotated[str, Field(min_length=1, max_length=4_096)]
HostName = Annotated[str, Field(min_length=1, max_length=64)]


class UserTraffic(Traffic):
    """Fields that all user-defined packets share, regardless of their source."""

    priority: Annotated[int, Field(ge=0, le=7)] = Field(
        default=0, description="PFC priority class by which the host pauses them; the bytes are sent unchanged."
    )
    end_ns: TimeNs | None = Field(
        default=None, description="Time from which no more packets are sent; `stop_ns` if absent."
    )

    @model_validator(mode="after")
    def _ends_after_start(self) -> Self:
        if self.end_ns is not None and self.end_ns <= self.start_ns:
            raise ValueError(f"end_ns {self.end_ns} is not later than start_ns {self.start_ns}")
        return self


class PacketsTraffic(UserTraffic):
    """User-defined packets that hosts send once, or repeatedly with a period or at a rate.

    Their bytes start with the Ethernet header; give one of `hex`, `scapy` and `pcap`. They share the host's interface
    with flows, in first-come, first-served order.
    """

    kind: Annotated[Literal["packets"], KIND] = "packets"  # pyright: ignore[reportIncompatibleVariableOverride]
    sources: Hosts
    """Sending hosts, by name; * and ? are wildcards; each host sends all packets."""
    hex: Texts | None = Field(default=None, description="Packets as hexadecimal digits, two per byte; one, or a list.")
    scapy: Texts | None = Field(
        default=None,
        description="Packets in scapy's notation, such as `Ether()/IP(dst=h2.ipv4)/UDP(dport=7)`; one, or a list. "
        "Layers are scapy's and the program's header types; `self` is the sending host.",
    )
    pcap: FileName | None = Field(
        default=None, description="A pcap or pcapng file of Ethernet packets; path relative to the scenario."
    )
    count: Annotated[int, Field(ge=1, le=1 << 40)] | None = Field(
        default=None,
        description="Number of packets that each host sends, cycling through the list. Default: the whole list "
        "once, or repeatedly until `end_ns` with a period or a rate.",
    )
    period_ns: Annotated[int, Field(ge=1, le=MAX_TIME_NS)] | None = None
    """Time between consecutive packets."""
    rate_bps: Annotated[int, Field(ge=1, le=10_000_000_000_000)] | None = Field(
        default=None,
        description="Rate, in place of a period: bits of packets per second, including the Ethernet header.",
    )

    @model_validator(mode="after")
    def _one_of_each(self) -> Self:
        if sum(given is not None for given in (self.hex, self.scapy, self.pcap)) != 1:
            raise ValueError("give exactly one of hex, scapy and pcap")
        if self.period_ns is not None and self.rate_bps is not None:
            raise ValueError("give either period_ns or rate_bps; without both, all packets are sent at once")
        return self


class ReplayTraffic(UserTraffic):
    """The packets of a capture, sent from one host with their original spacing."""

    kind: Annotated[Literal["replay"], KIND] = "replay"  # pyright: ignore[reportIncompatibleVariableOverride]
    source: HostName
    """Host that sends all packets, the first one at `start_ns`."""
    pcap: FileName
    """A pcap or pcapng file of Ethernet packets; path relative to the scenario."""
    speed: Annotated[float, Field(gt=0, le=1e9)] = 1.0
    """Replay speed relative to the capture."""
    addresses: dict[Annotated[str, Field(min_length=1, max_length=15)], HostName] = Field(
        default={},
        max_length=65_536,
        description="IPv4 addresses in the capture, and the hosts that replace them; checksums are updated. A "
        "packet whose destination is replaced is sent to the sending host's gateway.",
    )


class PacketsReceived(Model):
    """Which packets that arrive at hosts and belong to no flow are recorded."""

    hosts: Hosts = Field(default=["*"])
    """Hosts that record packets."""
    snap_bytes: Annotated[int, Field(ge=0, le=MAX_PACKET_BYTES)] = 128
    """Leading bytes of each packet that are recorded."""
    max_packets: Annotated[int, Field(ge=1, le=1_000_000)] = Field(
        default=10_000, description="Maximum number of packets recorded per host; `rows_left_out` counts the rest."
    )
