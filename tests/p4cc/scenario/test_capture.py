"""Captures that a scenario sends: every form of pcap and pcapng, and bytes that are none."""

# Scapy has no types.
# pyright: basic

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Raw
from scapy.utils import wrpcapng

from p4cc.errors import UserError
from p4cc.planning import capture
from p4cc.planning.capture import Captured, packets_in, read_capture
from p4cc.planning.capture_addresses import Replacement
from topos import HostAddress

if TYPE_CHECKING:
    from pathlib import Path

PACKETS = (b"\1" * 60, b"\2" * 14)


def pcap(order: str = "<", magic: int = 0xA1B2C3D4, kind: int = 1, cut: int = 0) -> bytes:
    """A pcap of the packets, at 5.000007 s and 6.000008 s (or ns), each kept up to `cut` bytes less."""
    out = struct.pack(f"{order}IHHIIII", magic, 2, 4, 0, 0, 65_535, kind)
    for number, packet in enumerate(PACKETS):
        kept = packet[: len(packet) - cut]
        out += struct.pack(f"{order}IIII", 5 + number, 7 + number, len(kept), len(packet)) + kept
    return out


def block(order: str, kind: int, body: bytes) -> bytes:
    """A block of pcapng."""
    body += b"\0" * (-len(body) % 4)
    length = len(body) + 12
    return struct.pack(f"{order}II", kind, length) + body + struct.pack(f"{order}I", length)


def pcapng(order: str = "<", resolution: bytes = b"", kind: int = 1, interface: int = 0) -> bytes:
    """A section with one interface, the packets at 5 and 6 ticks, and one without a time."""
    option = struct.pack(f"{order}HH", 9, 1) + resolution + b"\0\0\0" if resolution else b""
    found = block(order, 0x0A0D0D0A, struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1))
    found += block(order, 1, struct.pack(f"{order}HHI", kind, 0, 0) + option + b"\0\0\0\0")
    found += block(order, 5, b"statistics")
    for number, packet in enumerate(PACKETS):
        head = struct.pack(f"{order}IIIII", interface, 0, 5 + number, len(packet), len(packet))
        found += block(order, 6, head + packet)
    return found + block(order, 3, struct.pack(f"{order}I", 3) + b"abc")


def test_pcap_is_read_in_both_orders_and_units() -> None:
    for order in "<>":
        for magic, unit_ps in ((0xA1B2C3D4, 10**6), (0xA1B23C4D, 10**3)):
            assert packets_in(pcap(order, magic), "x") == [
                Captured((5 + number) * 10**12 + (7 + number) * unit_ps, packet, len(packet))
                for number, packet in enumerate(PACKETS)
            ]


def test_packets_that_were_cut_keep_their_length() -> None:
    assert [(one.data, one.length) for one in packets_in(pcap(cut=10), "x")] == [(b"\1" * 50, 60), (b"\2" * 4, 14)]


@pytest.mark.parametrize(("resolution", "tick_ps"), [(b"", 10**6), (b"\x09", 1_000), (b"\x8a", 10**12 // 1_024)])
@pytest.mark.parametrize("order", ["<", ">"])
def test_pcapng_is_read_in_both_orders_and_all_units(order: str, resolution: bytes, tick_ps: int) -> None:
    found = packets_in(pcapng(order, resolution), "x")
    assert [one.data for one in found] == [*PACKETS, b"abc"]
    first, second, third = (one.time_ps for one in found)
    assert (first, third) == (5 * 10**12 // round(10**12 / tick_ps), None)
    assert second is not None
    assert first is not None
    assert abs(second - first - tick_ps) <= 1


def test_what_scapy_writes_is_read(tmp_path: Path) -> None:
    packets = [Ether() / IP(dst="1.2.3.4") / UDP() / Raw(b"x" * size) for size in (1, 2, 3)]
    wrpcapng(str(tmp_path / "a.pcapng"), packets)
    assert [one.data for one in read_capture(tmp_path / "a.pcapng")] == [bytes(packet) for packet in packets]


WHOLE = pcapng()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is not a pcap or pcapng file"),
        (b"\x1f\x8b\x08\x00", "uncompressed"),
        (pcap()[:24], "contains no packets"),
        (pcap()[:20], "at byte 20: the file is truncated: 4 bytes are missing"),
        (pcap()[:30], "at byte 24: the file is truncated: 10 bytes are missing"),
        (pcap()[:-1], "the file is truncated: 1 bytes are missing"),
        (pcap(kind=101), "packets have link type 101"),
        (pcap()[:24] + struct.pack("<IIII", 0, 0, 70_000, 70_000) + b"x" * 70_000, "packet 1 has 70000 bytes"),
        (pcap()[:24] + struct.pack("<IIII", 0, 0, 0, 0), "packet 1 has 0 bytes"),
        (pcap()[:24] + struct.pack("<IIII", 0, 0, 0xFFFFFFFF, 9), "is truncated"),
        (WHOLE[:-1], "is truncated"),
        (WHOLE[:8] + b"\0\0\0\0" + WHOLE[12:], "a section has no byte-order magic"),
        (WHOLE[:4] + b"\5\0\0\0" + WHOLE[8:], "a block has an invalid length of 5 bytes"),
        (WHOLE[:24] + b"\1\0\0\0" + WHOLE[28:], "the two lengths of a block differ"),
        (pcapng(kind=113), "packets have link type 113"),
        (pcapng(interface=1), "a packet refers to interface 1, which no block describes"),
        (pcapng(resolution=b"\x7f"), "timestamps have an unsupported resolution of 10^-127 s"),
        (WHOLE[:28] + block("<", 3, struct.pack("<I", 3) + b"abc"), "a packet refers to interface 0"),
        (WHOLE[:28] + block("<", 1, struct.pack("<HHI", 1, 0, 0)) * 5_000, "more than 4096 interfaces"),
    ],
)
def test_what_is_no_capture_is_said(data: bytes, said: str) -> None:
    with pytest.raises(UserError) as raised:
        packets_in(data, "mine.pcap")
    assert str(raised.value).startswith("mine.pcap: ")
    assert said in str(raised.value)
    assert raised.value.remedy


def test_bounds_are_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.pcap"
    path.write_bytes(pcap())
    monkeypatch.setattr(capture, "MAX_PACKETS", 1)
    with pytest.raises(UserError, match="more than 1 packets"):
        read_capture(path)
    monkeypatch.setattr(capture, "MAX_FILE_BYTES", 20)
    with pytest.raises(UserError, match="larger than 20 bytes"):
        read_capture(path)
    with pytest.raises(UserError, match="cannot read the capture"):
        read_capture(tmp_path / "none.pcap")


_MUTATIONS = st.lists(st.tuples(st.integers(0, 400), st.binary(min_size=1, max_size=4)), max_size=6)


@settings(max_examples=500)
@given(st.sampled_from([pcap(), pcap(">"), WHOLE, pcapng(">")]), _MUTATIONS, st.integers(0, 400))
def test_any_bytes_are_packets_or_an_error(data: bytes, mutations: list[tuple[int, bytes]], end: int) -> None:
    bent = bytearray(data)
    for at, value in mutations:
        bent[at : at + len(value)] = value
    try:
        found = packets_in(bytes(bent[: len(bent) - end] if end < len(bent) else bent), "x")
    except UserError as error:
        assert error.remedy  # noqa: PT017 - either outcome is right
    else:
        assert found


HOSTS = {
    int.from_bytes(bytes([1, 2, 3, 4])): HostAddress(ipv4=0x0A000001, mac=0x020000000001, gateway_mac=0x0201_0001_0001),
    int.from_bytes(bytes([5, 6, 7, 8])): HostAddress(ipv4=0x0A000002, mac=0x020000000002, gateway_mac=0x0201_0001_0002),
}
REPLACEMENT = Replacement(HOSTS, HOSTS[0x05060708])
ENDS = {"src": "1.2.3.4", "dst": "5.6.7.8"}


@pytest.mark.parametrize(
    "inner",
    [
        IP(**ENDS) / UDP(sport=1, dport=2) / Raw(b"abc"),
        IP(**ENDS) / TCP(sport=1, dport=2) / Raw(b"abcd"),
        Dot1Q(vlan=5) / IP(**ENDS, options=b"\x01\x01\x01\x00") / UDP() / Raw(b"x"),
        IP(**ENDS, proto=99) / Raw(b"abc"),
        IP(**ENDS, frag=7) / Raw(b"abcdefgh" * 4),
        IP(src="1.2.3.4", dst="9.9.9.9") / UDP() / Raw(b"abc"),
    ],
)
def test_addresses_and_their_checksums_are_replaced(inner: Raw) -> None:
    packet = Ether(src="aa:aa:aa:aa:aa:aa", dst="bb:bb:bb:bb:bb:bb") / inner
    wanted = packet.copy()
    wanted.src, wanted[IP].src = "02:00:00:00:00:01", "10.0.0.1"
    if packet[IP].dst == ENDS["dst"]:
        wanted.dst, wanted[IP].dst = "02:01:00:01:00:02", "10.0.0.2"
    assert REPLACEMENT.apply(bytes(packet)) == bytes(wanted)


@given(st.binary(max_size=80))
def test_any_packet_keeps_its_length(data: bytes) -> None:
    for packet in (data, bytes(Ether(type=0x800)) + data, bytes(Ether() / IP(**ENDS)) + data):
        assert len(REPLACEMENT.apply(packet)) == len(packet)
