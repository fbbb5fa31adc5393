"""The choice among equal paths (`p4src/controls/forward.p4`): a seed for each switch, and which member a flow gets."""

import zlib
from dataclasses import dataclass
from hashlib import blake2s

_WORD = 1 << 32


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


def switch_factor(ecmp_seed: int, device_id: int) -> int:
    """The odd 32-bit factor of a switch: any other seed or switch gives another one."""
    digest = blake2s(f"ecmp {ecmp_seed} {device_id}".encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big") | 1


def chosen_place(flow: FiveTuple, factor: int, members: int) -> int:
    """Place of the member that a group of so many, each of weight 1, gives a flow at the switch with this factor."""
    packed = flow.packed()
    salt = (zlib.crc32(packed) * factor % _WORD) >> 16
    return crc16(salt.to_bytes(2, "big") + packed) % members


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
