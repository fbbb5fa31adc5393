"""Scapy layers of the p4cc packet: transport header, INT records, rate request, fair rate, Bolt, PINT.

docs/reference/wire-format.md has the bytes.

Importing this module binds the layers to UDP's destination port, so that scapy dissects our packets wherever it
shows any. Lengths and the extension's type and length are filled in when a packet is built.

    from p4cc.wire import data_packet
    data_packet(src="10.0.0.1", dst="10.0.0.2", flow_id=7, payload_bytes=1000).show2()
"""

from __future__ import annotations

from scapy.fields import (
    BitEnumField,
    BitField,
    ByteEnumField,
    ByteField,
    FlagsField,
    IntField,
    LongField,
    PacketListField,
    ShortField,
)
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw, bind_layers

TRANSPORT_PORT = 52224
FIRST_SOURCE_PORT = 49152

DATA = 0
ACK = 1
NOTICE = 2

EXTENSIONS = {
    0: "none",
    1: "int_hpcc",
    2: "int_md",
    3: "rate_request",
    4: "cnp",
    5: "sack",
    6: "fair_rate",
    7: "int_fixed",
    8: "read_request",
    9: "bolt",
    10: "credit",
    11: "pint",
}
RATE_REQUEST_HOPS = 6


class P4cc(Packet):
    """The transport header, 36 bytes; its extension, if any, is the next layer."""

    name = "p4cc"
    fields_desc = [  # noqa: RUF012 - scapy's way
        BitField("version", 1, 4),
        BitEnumField("type", DATA, 4, {DATA: "data", ACK: "ack", NOTICE: "notice"}),
        FlagsField(
            "flags",
            0,
            8,
            ["fin", "retransmit", "cwr", "sack_permitted", "echo_until_cwr", "nack", "ack_request", "selective"],
        ),
        BitField("traffic_class", 0, 3),
        BitField("reserved_class", 0, 3),
        BitField("ecn_echo", 0, 2),
        ByteEnumField("extension_type", None, EXTENSIONS),
        IntField("flow_id", 0),
        IntField("sequence", 0),
        IntField("acknowledgement", 0),
        ShortField("payload_len", None),
        ByteField("extension_len", None),
        ByteField("reserved_len", 0),
        LongField("timestamp_ns", 0),
        LongField("timestamp_echo_ns", 0),
    ]

    def post_build(self, pkt: bytes, pay: bytes) -> bytes:
        """Fill in what was left open: type and length of the extension, and the payload's length."""
        extension = self.payload if isinstance(self.payload, Extension) else None
        extension_len = 0 if extension is None else len(pay) - len(extension.payload)
        built = bytearray(pkt)
        if self.extension_type is None:
            built[3] = 0 if extension is None else extension.code
        if self.payload_len is None:
            built[16:18] = (len(pay) - extension_len).to_bytes(2, "big")
        if self.extension_len is None:
            built[18] = extension_len
        return bytes(built) + pay

    def guess_payload_class(self, payload: bytes) -> type[Packet]:
        """The extension by its type, if it is one that has a layer here."""
        del payload
        return _BY_CODE.get(self.extension_type, Raw) if self.extension_len else Raw


class Extension(Packet):
    """Base of the extensions; what follows is payload."""

    code = 0

    def guess_payload_class(self, payload: bytes) -> type[Packet]:
        """Payload is zeros."""
        del payload
        return Raw


class IntRecord(Packet):
    """One switch's HPCC record, 8 bytes."""

    name = "int_record"
    fields_desc = [  # noqa: RUF012
        BitField("rate_code", 0, 4),
        BitField("timestamp", 0, 24),
        BitField("tx_units", 0, 20),
        BitField("queue_units", 0, 16),
    ]

    def extract_padding(self, s: bytes) -> tuple[bytes, bytes]:
        """Nothing in a record follows it."""
        return b"", s


def _records_of(packet: Packet) -> int:
    transport = packet.underlayer
    return (transport.extension_len - 2) // 8 if isinstance(transport, P4cc) and transport.extension_len else 0


class IntHpcc(Extension):
    """Extension 1: shim and records, the last switch's first."""

    name = "int_hpcc"
    code = 1
    fields_desc = [  # noqa: RUF012
        BitField("hop_count", 0, 4),
        BitField("path_id", 0, 12),
        PacketListField("records", [], IntRecord, count_from=_records_of),
    ]


class RateRecord(Packet):
    """One hop of a rate request, 12 bytes; rates in kbit/s."""

    name = "rate_record"
    fields_desc = [  # noqa: RUF012
        IntField("granted_before_kbps", 0),
        IntField("granted_kbps", 0),
        ShortField("epoch_before", 0),
        ShortField("epoch", 0),
    ]

    def extract_padding(self, s: bytes) -> tuple[bytes, bytes]:
        """Nothing in a record follows it."""
        return b"", s


class RateRequest(Extension):
    """Extension 3: a rate request with room for six hops."""

    name = "rate_request"
    code = 3
    fields_desc = [  # noqa: RUF012
        FlagsField("flags", 0, 8, ["r0", "fin", "base", "overflow", "r4", "r5", "r6", "r7"]),
        ByteField("hop_index", 0),
        ShortField("reserved", 0),
        IntField("desired_kbps", 0),
        IntField("desired_before_kbps", 0),
        PacketListField(
            "hops", [RateRecord() for _ in range(RATE_REQUEST_HOPS)], RateRecord, count_from=lambda _: RATE_REQUEST_HOPS
        ),
    ]


class FairRate(Extension):
    """Extension 6: the path's smallest fair rate so far, kbit/s."""

    name = "fair_rate"
    code = 6
    fields_desc = [IntField("rate_kbps", 0xFFFFFFFF)]  # noqa: RUF012


class Bolt(Extension):
    """Extension 9: a packet's place in its flow, and the queue that a switch reports."""

    name = "bolt"
    code = 9
    fields_desc = [  # noqa: RUF012
        FlagsField("flags", 0, 8, ["r0", "r1", "r2", "r3", "dec", "inc", "last", "first"]),
        BitField("reserved", 0, 24),
        IntField("queue_bytes", 0),
        IntField("link_kbps", 0),
    ]


class Pint(Extension):
    """Extension 11: the utilisation of the busiest port so far, as a power of the network's base."""

    name = "pint"
    code = 11
    fields_desc = [ByteField("power", 0)]  # noqa: RUF012


_BY_CODE: dict[int, type[Packet]] = {layer.code: layer for layer in (IntHpcc, RateRequest, FairRate, Bolt, Pint)}

bind_layers(UDP, P4cc, dport=TRANSPORT_PORT)


def source_port(flow_id: int) -> int:
    """UDP source port of a flow: differs by flow, so that ECMP spreads them."""
    return FIRST_SOURCE_PORT + ((flow_id * 0x9E3779B1 & 0xFFFFFFFF) >> 18)


def data_packet(
    *,
    src: str,
    dst: str,
    src_mac: str = "02:00:00:00:00:01",
    dst_mac: str = "02:00:00:00:00:02",
    flow_id: int = 1,
    ecn: int = 0,
    ttl: int = 64,
    payload_bytes: int = 100,
    extension: Extension | None = None,
    **transport: object,
) -> Packet:
    """A packet as a host of ours sends it; `transport` are fields of `P4cc`. The payload is zeros."""
    packet = Ether(src=src_mac, dst=dst_mac) / IP(src=src, dst=dst, tos=ecn, ttl=ttl, id=0, flags="DF")
    packet /= UDP(sport=source_port(flow_id), dport=TRANSPORT_PORT, chksum=0)
    packet /= P4cc(flow_id=flow_id, **transport)
    if extension is not None:
        packet /= extension
    return packet / Raw(bytes(payload_bytes))
