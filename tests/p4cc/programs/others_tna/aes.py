"""AES-tofino's lookup tables: each stands for one byte's way through a round, key included (FIPS-197, 5.1)."""

from __future__ import annotations

import finsy as fy

import p4cc

_ROUNDS = 10
_BATCH = 2_000
_MIX = (2, 1, 1, 3)
"""What a byte of a column's first row becomes in the four rows (FIPS-197, 5.1.3); other rows are rotations."""


def _times(a: int, b: int) -> int:
    """The product in GF(2^8) modulo x^8 + x^4 + x^3 + x + 1."""
    product = 0
    while b:
        product ^= a if b & 1 else 0
        a = (a << 1) ^ (0x11B if a & 0x80 else 0)
        b >>= 1
    return product


def _substitute(byte: int) -> int:
    """The S-box: the inverse, then an affine map (FIPS-197, 5.1.1)."""
    inverse = next((one for one in range(256) if _times(byte, one) == 1), 0)
    out = 0x63
    for turn in range(5):
        out ^= ((inverse << turn) | (inverse >> (8 - turn))) & 0xFF
    return out


_SBOX = [_substitute(byte) for byte in range(256)]


def round_keys(key: bytes) -> list[bytes]:
    """The keys of rounds 0 to 10 (FIPS-197, 5.2)."""
    words = [key[at : at + 4] for at in range(0, 16, 4)]
    constant = 1
    while len(words) < 4 * (_ROUNDS + 1):
        word = words[-1]
        if len(words) % 4 == 0:
            turned = [_SBOX[byte] for byte in word[1:] + word[:1]]
            word = bytes([turned[0] ^ constant, *turned[1:]])
            constant = _times(constant, 2)
        words.append(bytes(a ^ b for a, b in zip(word, words[-4], strict=True)))
    return [b"".join(words[at : at + 4]) for at in range(0, len(words), 4)]


def _looked_up(byte: int, row: int, last: bool) -> int:
    """What a byte of this row adds to its new column: substituted and, but for the last round, mixed."""
    out = _SBOX[byte]
    parts = [out if at == row else 0 for at in range(4)]
    if not last:
        parts = [_times(out, _MIX[(at - row) % 4]) for at in range(4)]
    return int.from_bytes(bytes(parts), "big")


class Aes(p4cc.Controller):
    """Installs a key once. Each pass of a packet does two rounds, with the tables `_t` and `_t2r`."""

    def __init__(self, key: str) -> None:
        self.keys = round_keys(bytes.fromhex(key))

    async def start(self) -> None:
        entries = [_pass_entry(now, "incr_and_recirc", next_round=now + 2) for now in range(0, 8, 2)]
        final = {f"s{at // 4}{at % 4}": byte for at, byte in enumerate(self.keys[_ROUNDS])}
        entries.append(_pass_entry(8, "do_not_recirc_final_xor", **final))
        for word in range(4):
            for row in range(4):
                mixed = [_looked_up(byte, row, last=False) for byte in range(256)]
                plain = [_looked_up(byte, row, last=True) for byte in range(256)]
                for rounds in range(_ROUNDS):
                    values = plain if rounds == _ROUNDS - 1 else mixed
                    entries += self.lookups(word, row, rounds, values)
        for at in range(0, len(entries), _BATCH):
            await self.switches["s1"].insert(entries[at : at + _BATCH])

    def lookups(self, word: int, row: int, rounds: int, values: list[int]) -> list[fy.P4TableEntry]:
        """One byte's table in one round; the round key before it is in the index."""
        table = f"tb_lookup_{word}_{row}_{'t2r' if rounds % 2 else 't'}"
        key = self.keys[rounds][4 * word + row]
        byte = f"hdr.aes.s{word}{row}"
        return [
            fy.P4TableEntry(
                table,
                match=fy.P4TableMatch({byte: seen, "hdr.aes_meta.curr_round": rounds - rounds % 2}),
                action=fy.P4TableAction(f"write_v_{word}_{row}_a", v=values[seen ^ key]),
            )
            for seen in range(256)
        ]


def _pass_entry(now: int, action: str, **params: int) -> fy.P4TableEntry:
    match = fy.P4TableMatch({"hdr.aes_meta.curr_round": now})
    return fy.P4TableEntry("tb_recirc_decision", match=match, action=fy.P4TableAction(action, **params))
