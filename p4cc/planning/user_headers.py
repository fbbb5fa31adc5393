"""Headers of the user's program in the engine's description: widths from the program, bytes from values."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from p4cc.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from p4cc import spec
    from p4cc.planning.names import Names
    from p4cc.planning.programs import HeaderField, HeaderTypes
    from p4cc.scenario.user_headers import Announcement, OwnHeader

MAX_BYTES = 1_024
"""Of all headers at their sender."""
MAX_OPTION_BYTES = 40
MAX_COUNT_BITS = 32
_MAC = re.compile(r"^[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}$")


@dataclass(frozen=True)
class UserHeadersPlan:
    """Headers in data packets."""

    plain: spec.UserHeadersConfig
    """The engine's form."""
    sent_bytes: int
    """The senders' headers of a packet; switches may add to them."""


def plan_headers(
    headers: Sequence[OwnHeader], programs: Iterable[HeaderTypes], names: Names, place: str
) -> UserHeadersPlan | None:
    """The headers of a scenario, None without any; raises UserError with the place of an error.

    `programs` are the header types of all programs in the network; `place` is the place of the headers.
    """
    if not headers:
        return None
    first = headers[0]
    if first.after is None:
        raise ValueError("`problems` reports a first header without a preceding layer")
    planner = _Planner(_known(headers, programs, place), names, place)
    planned: list[spec.UserHeaderConfig] = []
    sent = 0
    for number, header in enumerate(headers):
        one = planner.header(number, header, planned)
        copies = 1 if header.count is None else planner.copies(header.count, headers[:number])
        sent += copies * len(one["bytes"])
        if sent > MAX_BYTES:
            cause = f"headers have {sent} bytes at the sender"
            raise UserError(cause, place=f"{place}[{number}]", remedy=f"give at most {MAX_BYTES}")
        planned.append(one)
    announce = first.announce
    if announce is not None and announce.ihl and (sent % 4 or sent > MAX_OPTION_BYTES):
        cause = f"the IPv4 options have {sent} bytes"
        raise UserError(cause, place=place, remedy=f"give a multiple of 4 bytes, at most {MAX_OPTION_BYTES}")
    plain: spec.UserHeadersConfig = {
        "after": first.after,
        "announce": {} if announce is None else _announcement(announce),
        "echo": first.echo,
        "headers": planned,
    }
    return UserHeadersPlan(plain, sent)


def _announcement(said: Announcement) -> spec.Announcement:
    return {
        "ethertype": said.ethertype,
        "protocol": said.protocol,
        "ihl": said.ihl,
        "udp_port": said.udp_port,
    }


def _known(headers: Sequence[OwnHeader], programs: Iterable[HeaderTypes], place: str) -> HeaderTypes:
    """The named header types, on which all programs that have them agree."""
    found: dict[str, tuple[HeaderField, ...]] = {}
    wanted = {header.type for header in headers}
    all_types: dict[str, None] = {}
    for program in programs:
        all_types.update(dict.fromkeys(program))
        for name in wanted & set(program):
            if found.setdefault(name, program[name]) != program[name]:
                cause = f"header type {name!r} has different fields in another program of the network"
                raise UserError(cause, place=place, remedy="use different names for the two types")
    for number, header in enumerate(headers):
        if header.type not in found:
            known = ", ".join(all_types) or "none"
            cause = f"the program has no header type {header.type!r}"
            raise UserError(cause, place=f"{place}[{number}].type", remedy=f"header types: {known}")
    return found


@dataclass(frozen=True)
class _Planner:
    """Plans header by header."""

    types: HeaderTypes
    names: Names
    place: str

    def header(self, number: int, header: OwnHeader, before: Sequence[spec.UserHeaderConfig]) -> spec.UserHeaderConfig:
        """The engine's form of one header."""
        fields = self.types[header.type]
        place = f"{self.place}[{number}]"
        bits = sum(field.bits for field in fields)
        if bits % 8 or any(field.kind == "varbit" for field in fields):
            cause = f"header type {header.type!r} has {bits} bits" if bits % 8 else "it has a variable-length field"
            raise UserError(cause, place=f"{place}.type", remedy="name a type of fixed size and whole bytes")
        if strange := set(header.values) - {field.name for field in fields}:
            known = ", ".join(field.name for field in fields)
            cause = f"{header.type} has no field {min(strange)!r}"
            raise UserError(cause, place=f"{place}.values", remedy=f"fields: {known}")
        packed = 0
        for field in fields:
            packed = packed << field.bits | self._value(header, field, f"{place}.values.{field.name}")
        return {
            "name": header.type,
            "fields": [(field.name, field.bits) for field in fields],
            "count": None if header.count is None else self._count(header.count, before, f"{place}.count"),
            "bytes": list(packed.to_bytes(bits // 8, "big")),
        }

    def copies(self, count: str, before: Sequence[OwnHeader]) -> int:
        """How often a header occurs in a packet at its sender."""
        name, _, field = count.rpartition(".")
        header = next(one for one in before if one.type == name)
        value = header.values.get(field, 0)
        return value if isinstance(value, int) else 0

    def _value(self, header: OwnHeader, field: HeaderField, place: str) -> int:
        given = self.names.value(header.values.get(field.name, 0), place)
        number = given if isinstance(given, int) else _number(given, place)
        least = -(1 << (field.bits - 1)) if field.kind == "int" else 0
        if not least <= number < 1 << field.bits:
            raise UserError(f"{given} does not fit in {field.bits} bits", place=place, remedy="give a smaller number")
        return number % (1 << field.bits)

    def _count(self, count: str, before: Sequence[spec.UserHeaderConfig], place: str) -> spec.CountField:
        name, _, field = count.rpartition(".")
        for place_of_header, one in enumerate(before):
            fields = [known if bits <= MAX_COUNT_BITS else "" for known, bits in one["fields"]]
            if one["name"] == name and field in fields:
                return {"header": place_of_header, "field": fields.index(field)}
        remedy = "write TYPE.FIELD, with an earlier header and a field of at most 32 bits"
        raise UserError(f"{count!r} is not a field that can count headers", place=place, remedy=remedy)


def _number(text: str, place: str) -> int:
    """Digits or an address as a number; raises UserError."""
    if _MAC.match(text) is not None:
        return int(text.replace(":", ""), 16)
    try:
        return int(text, 0) if text.isalnum() else int(ipaddress.ip_address(text))
    except ValueError:
        remedy = "give a number, an address, HOST.ipv4, HOST.mac or port(SWITCH, PEER)"
        raise UserError(f"{text[:60]!r} is not a number or an address", place=place, remedy=remedy) from None
