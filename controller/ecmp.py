"""The choice among equal paths (`p4src/controls/forward.p4`): a seed for each switch, and which member a flow gets."""

import zlib
from dataclasses import dataclass, replace
from functools import cache
from hashlib import blake2s

import numpy as np
import numpy.typing as npt

_WORD_VALUES = 1 << 16
_AFTER_SRC_PORT = 2
"""Bytes of a packed flow behind the source port."""
_AFTER_SALT = 13
"""Bytes of a packed flow, which follow the salt."""


@dataclass(frozen=True)
class FiveTuple:
    """The input of the choice: addresses as integers, IP protocol, ports."""

    src: int
    dst: int
    protocol: int
    src_port: int
    dst_port: int

    def packed(self) -> bytes:
        """The fields one after another, as the P4 program hashes them."""
        parts = ((self.src, 4), (self.dst, 4), (self.protocol, 1), (self.src_port, 2), (self.dst_port, 2))
        return b"".join(value.to_bytes(length, "big") for value, length in parts)


_NO_FLOW = FiveTuple(0, 0, 0, 0, 0)


def switch_factor(ecmp_seed: int, device_id: int) -> int:
    """The odd 32-bit factor of a switch: any other seed or switch gives another one."""
    digest = blake2s(f"ecmp {ecmp_seed} {device_id}".encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big") | 1


class PortSweep:
    """The choices for flows that differ in their source ports alone.

    Both CRCs are linear: the CRC of a flow is that of the flow from port 0, combined by XOR with a value of the port.
    """

    def __init__(self, flow: FiveTuple, src_ports: range) -> None:
        """The port of `flow` is ignored."""
        packed = replace(flow, src_port=0).packed()
        ports = slice(src_ports.start, src_ports.stop, src_ports.step)
        self._crc32 = _crc32_of_ports()[ports] ^ np.uint32(zlib.crc32(packed))
        self._crc16 = _crc16_of_words(_AFTER_SRC_PORT)[ports] ^ np.uint16(crc16(b"\0\0" + packed))

    def places(self, factor: int, members: int) -> npt.NDArray[np.uint16]:
        """By port: the place of the member, of a group of that size with weight 1, at the switch with this factor."""
        # Unsigned products wrap as in the P4 program.
        salt = self._crc32 * np.uint32(factor) >> np.uint32(16)
        return (_crc16_of_words(_AFTER_SALT)[salt] ^ self._crc16) % np.uint16(members)


def crc16(data: bytes) -> int:
    """CRC-16 as v1model's `crc16` computes it: polynomial 0x8005 reflected, from 0."""
    crc = 0
    for byte in data:
        crc = crc >> 8 ^ _CRC16[(crc ^ byte) & 0xFF]
    return crc


def _crc16_of(byte: int) -> int:
    for _ in range(8):
        byte = byte >> 1 ^ (0xA001 if byte & 1 else 0)
    return byte


_CRC16 = tuple(_crc16_of(byte) for byte in range(256))


@cache
def _crc32_of_ports() -> npt.NDArray[np.uint32]:
    """What each source port adds to the CRC-32 of a flow from port 0."""
    zeros = bytes(_AFTER_SALT)
    bits = [replace(_NO_FLOW, src_port=1 << bit).packed() for bit in range(16)]
    return _combined([zlib.crc32(packed) ^ zlib.crc32(zeros) for packed in bits]).astype(np.uint32)


@cache
def _crc16_of_words(bytes_after: int) -> npt.NDArray[np.uint16]:
    """What each value of a 16-bit word adds to the CRC-16 of data in which `bytes_after` bytes follow it."""
    bits = [(1 << bit).to_bytes(2, "big") + bytes(bytes_after) for bit in range(16)]
    return _combined([crc16(data) for data in bits]).astype(np.uint16)


def _combined(bits: list[int]) -> npt.NDArray[np.int64]:
    """The XOR of the values of the bits that are set, by 16-bit word."""
    result = np.zeros(_WORD_VALUES, np.int64)
    for bit, value in enumerate(bits):
        result[1 << bit : 2 << bit] = result[: 1 << bit] ^ value
    return result
