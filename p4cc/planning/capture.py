"""Captures that a scenario sends: pcap and pcapng files of Ethernet, read within bounds.

A reader of their own, since a library's readers end at damage without a word; here a message names the byte.

Source: docs/sources.md, pcap and pcapng.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from p4cc.errors import UserError
from p4cc.scenario.user_packets import MAX_PACKET_BYTES, MAX_PACKETS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAX_FILE_BYTES = 256 << 20
MAX_INTERFACES = 4_096
ETHERNET = 1
"""The link type of captures of Ethernet."""
PS_PER_S = 10**12

_PCAP = {
    b"\xd4\xc3\xb2\xa1": ("<", 10**6),
    b"\xa1\xb2\xc3\xd4": (">", 10**6),
    b"\x4d\x3c\xb2\xa1": ("<", 10**9),
    b"\xa1\xb2\x3c\x4d": (">", 10**9),
}
"""Byte order and ticks per second by the first bytes of a pcap file."""
_PCAPNG = b"\x0a\x0d\x0d\x0a"
_ORDERS = {b"\x4d\x3c\x2b\x1a": "<", b"\x1a\x2b\x3c\x4d": ">"}
_SECTION, _INTERFACE, _SIMPLE_PACKET, _ENHANCED_PACKET = 0x0A0D0D0A, 1, 3, 6
_TSRESOL = 9
"""The option of an interface that says how long a tick is."""
_CUT = "split it with editcap, or capture less"


@dataclass(frozen=True)
class Captured:
    """A packet of a capture."""

    time_ps: int | None
    """On the capture's clock; None where the capture has no time for it."""
    data: bytes
    """Its captured bytes."""
    length: int
    """Its length on the wire; bytes that were not captured are zeros."""


def read_capture(path: Path) -> list[Captured]:
    """All packets of a capture in the order of the file; raises UserError for other files, or above its bounds."""
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise UserError(f"the capture is larger than {MAX_FILE_BYTES} bytes", place=str(path), remedy=_CUT)
        data = path.read_bytes()
    except OSError as error:
        remedy = "give a readable file"
        raise UserError(f"cannot read the capture: {error.strerror}", place=str(path), remedy=remedy) from None
    return packets_in(data, str(path))


def packets_in(data: bytes, place: str) -> list[Captured]:
    """The packets of a capture's bytes; `place` is for messages. Raises UserError."""
    magic = data[:4]
    if magic != _PCAPNG and magic not in _PCAP:
        raise UserError("is not a pcap or pcapng file", place=place, remedy="give an uncompressed capture")
    file = _File(data, place)
    found: list[Captured] = []
    for packet in _pcapng(file) if magic == _PCAPNG else _pcap(file, *_PCAP[magic]):
        if len(found) == MAX_PACKETS:
            raise UserError(f"has more than {MAX_PACKETS} packets", place=place, remedy=_CUT)
        if not 0 < packet.length <= MAX_PACKET_BYTES:
            remedy = f"remove it: packets may have 1 to {MAX_PACKET_BYTES} bytes"
            raise UserError(f"packet {len(found) + 1} has {packet.length} bytes", place=place, remedy=remedy)
        found.append(packet)
    if not found:
        raise UserError("contains no packets", place=place, remedy="give a capture that contains packets")
    return found


@dataclass(frozen=True)
class _File:
    """Bytes of a capture."""

    data: bytes
    place: str

    def damaged(self, at: int, cause: str) -> UserError:
        """An error at a byte of the file."""
        return UserError(
            f"at byte {at}: {cause}", place=self.place, remedy="repeat the capture, or repair it with editcap"
        )

    def part(self, at: int, length: int) -> bytes:
        """This many bytes from an offset; raises UserError if the file ends before them."""
        if at + length > len(self.data):
            raise self.damaged(at, f"the file is truncated: {at + length - len(self.data)} bytes are missing")
        return self.data[at : at + length]

    def numbers(self, form: str, at: int) -> tuple[int, ...]:
        """Numbers of `struct`'s form from a byte on; raises UserError."""
        return struct.unpack(form, self.part(at, struct.calcsize(form)))

    def of_ethernet(self, kind: int, at: int) -> None:
        """Refuses other link types."""
        if kind != ETHERNET:
            remedy = f"capture on an Ethernet interface (link type {ETHERNET})"
            raise UserError(
                f"at byte {at}: packets have link type {kind}, not Ethernet", place=self.place, remedy=remedy
            )


def _pcap(file: _File, order: str, ticks_per_s: int) -> Iterator[Captured]:
    # The upper bits of the link type say how long the frame check sequence is.
    (kind,) = file.numbers(f"{order}I", 20)
    file.of_ethernet(kind & 0x0FFF_FFFF, 20)
    at = 24
    while at < len(file.data):
        seconds, ticks, kept, length = file.numbers(f"{order}IIII", at)
        data = file.part(at + 16, kept)
        time_ps = seconds * PS_PER_S + ticks * (PS_PER_S // ticks_per_s)
        yield Captured(time_ps, data, max(length, kept))
        at += 16 + kept


@dataclass
class _Section:
    """A section of a pcapng file."""

    order: str
    ticks_per_s: list[int] = field(default_factory=list[int])
    """Of its interfaces so far."""
    snap: list[int] = field(default_factory=list[int])
    """Bytes that they keep of a packet; 0 for all."""


def _pcapng(file: _File) -> Iterator[Captured]:
    at, section = 0, _Section("<")
    while at < len(file.data):
        if file.part(at, 4) == _PCAPNG:
            order = _ORDERS.get(file.part(at + 8, 4))
            if order is None:
                raise file.damaged(at + 8, "a section has no byte-order magic")
            section = _Section(order)
        kind, length = file.numbers(f"{section.order}II", at)
        if length < 12 or length % 4:
            raise file.damaged(at + 4, f"a block has an invalid length of {length} bytes")
        file.part(at, length)
        if file.numbers(f"{section.order}I", at + length - 4) != (length,):
            raise file.damaged(at + length - 4, "the two lengths of a block differ")
        body, end = at + 8, at + length - 4
        if kind == _INTERFACE:
            _add_interface(file, section, body, end)
        elif kind == _ENHANCED_PACKET:
            yield _enhanced(file, section, body, end)
        elif kind == _SIMPLE_PACKET:
            yield _simple(file, section, body, end)
        at += length


def _add_interface(file: _File, section: _Section, at: int, end: int) -> None:
    kind, _, snap = file.numbers(f"{section.order}HHI", at)
    file.of_ethernet(kind, at)
    if len(section.ticks_per_s) == MAX_INTERFACES:
        raise file.damaged(at, f"a section has more than {MAX_INTERFACES} interfaces")
    ticks_per_s, option = 10**6, at + 8
    while option + 4 <= end:
        code, length = file.numbers(f"{section.order}HH", option)
        if code == 0 or option + 4 + length > end:
            break
        if code == _TSRESOL and length >= 1:
            ticks_per_s = _resolution(file, option + 4)
        option += 4 + length + -length % 4
    section.ticks_per_s.append(ticks_per_s)
    section.snap.append(snap)


def _resolution(file: _File, at: int) -> int:
    """Ticks per second: a power of ten, or of two with the upper bit."""
    (value,) = file.part(at, 1)
    base, power = (2, value & 0x7F) if value & 0x80 else (10, value)
    if base**power > 2**64:
        raise file.damaged(at, f"timestamps have an unsupported resolution of {base}^-{power} s")
    return base**power


def _enhanced(file: _File, section: _Section, at: int, end: int) -> Captured:
    interface, high, low, kept, length = file.numbers(f"{section.order}IIIII", at)
    if interface >= len(section.ticks_per_s):
        raise file.damaged(at, f"a packet refers to interface {interface}, which no block describes")
    if at + 20 + kept > end:
        raise file.damaged(at + 12, f"a packet of {kept} bytes is longer than its block")
    time_ps = ((high << 32) + low) * PS_PER_S // section.ticks_per_s[interface]
    return Captured(time_ps, file.part(at + 20, kept), max(length, kept))


def _simple(file: _File, section: _Section, at: int, end: int) -> Captured:
    (length,) = file.numbers(f"{section.order}I", at)
    if not section.snap:
        raise file.damaged(at, "a packet refers to interface 0, which no block describes")
    kept = min(length, section.snap[0] or length)
    if at + 4 + kept > end:
        raise file.damaged(at, f"a packet of {kept} bytes is longer than its block")
    return Captured(None, file.part(at + 4, kept), length)
