"""Packets that are written as scapy writes them, read without running code: `Ether()/IP(dst=h2.ipv4)/UDP(dport=7)`.

Python's grammar reads the text; this module lists what it may contain. Layers are some of scapy's and the program's
header types. Values are numbers, text, bytes, lists, ranges `(low, high)` and names of the network. What scapy would
ask the machine for is the sending host's: `Ether()` has its address and that of its gateway, `IP()` its address.
"""

# Scapy has no types.
# pyright: basic

from __future__ import annotations

import ast
import importlib
import ipaddress
import itertools
import logging
import re
import struct
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from p4cc.errors import UserError
from p4cc.planning.names import ADDRESSES, NAMES
from p4cc.scenario.user_packets import MAX_PACKET_BYTES
from topos import format_ipv4, format_ipv6, format_mac

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scapy.fields import AnyField
    from scapy.packet import Packet

    from p4cc.planning.names import Names
    from p4cc.planning.programs import HeaderField, HeaderTypes

MAX_NODES = 20_000
"""Most parts of an expression."""
MAX_LAYERS = 64
PARTS_A_PACKET = 5
"""Most members of lists for each packet there may be."""
_L2, _INET, _INET6, _PACKET = "scapy.layers.l2", "scapy.layers.inet", "scapy.layers.inet6", "scapy.packet"
LAYERS = {
    "Ether": _L2,
    "Dot1Q": _L2,
    "Dot1AD": _L2,
    "ARP": _L2,
    "GRE": _L2,
    "LLC": _L2,
    "SNAP": _L2,
    "IP": _INET,
    "IPOption": _INET,
    "ICMP": _INET,
    "TCP": _INET,
    "UDP": _INET,
    "IPv6": _INET6,
    "IPv6ExtHdrFragment": _INET6,
    "IPv6ExtHdrHopByHop": _INET6,
    "ICMPv6EchoRequest": _INET6,
    "ICMPv6EchoReply": _INET6,
    "MPLS": "scapy.contrib.mpls",
    "VXLAN": "scapy.layers.vxlan",
    "P4cc": "p4cc.wire",
    "Raw": _PACKET,
    "Padding": _PACKET,
}
"""Scapy's layers that an expression may name, by their modules; imported when one is named."""
_OF_SENDER = {
    ("Ether", "src"): "mac",
    ("Ether", "dst"): "gateway_mac",
    ("IP", "src"): "ipv4",
    ("ARP", "hwsrc"): "mac",
    ("ARP", "psrc"): "ipv4",
}
"""Fields that scapy fills from the machine; here they are the sending host's."""
_NEEDED = {("IP", "dst"), ("IPv6", "src"), ("IPv6", "dst")}
"""Fields that scapy fills from the machine and that an expression must set."""
_MAC = re.compile(r"^[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}$")
_REMEDY = (
    "write layers joined by /, such as Ether()/IP(dst=h2.ipv4)/UDP(dport=7); values are numbers, text, bytes, lists, "
    "HOST.ipv4, HOST.mac and port(SWITCH, PEER)"
)
# What scapy raises for values that do not fit.
_SCAPY_ERRORS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    OSError,
    RecursionError,
    TypeError,
    ValueError,
    struct.error,
)


@dataclass(frozen=True)
class Scope:
    """The names of an expression, and the sender of its packets."""

    names: Names
    """With the sending host as `self`."""
    headers: Callable[[], HeaderTypes]
    """Header types of the program, requested if a layer is not one of scapy's."""
    place: str
    """Place of the expression."""

    def refused(self, cause: str, remedy: str = _REMEDY) -> UserError:
        """An error of this expression."""
        return UserError(cause, place=self.place, remedy=remedy)


def packets_of(text: str, scope: Scope, most: int) -> list[bytes]:
    """The bytes of all packets of an expression, at most `most`; raises UserError."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        cause = error.msg if isinstance(error, SyntaxError) else "it is nested too deeply, or a number is too long"
        raise scope.refused(f"is not a packet expression: {cause}") from None
    if sum(1 for _ in itertools.islice(ast.walk(tree), MAX_NODES + 1)) > MAX_NODES:
        raise scope.refused(f"has more than {MAX_NODES} parts", "split the packets, or give a pcap file")
    try:
        return _Reader(scope, most).bytes_of(tree.body)
    except _SCAPY_ERRORS as error:
        raise scope.refused(f"scapy cannot build the packet: {str(error)[:200] or type(error).__name__}") from None


@dataclass(frozen=True)
class _Reader:
    """Reads one expression."""

    scope: Scope
    most: int

    def bytes_of(self, node: ast.expr) -> list[bytes]:
        from scapy.packet import Packet

        found: list[bytes] = []
        for packet in self._flat(self.value(node)):
            if not isinstance(packet, Packet):
                raise self.scope.refused(f"{packet!r:.60} is not a packet")
            _complete(packet, self.scope)
            # A list or a range in a field gives as many packets.
            for one in packet:
                data = bytes(one)
                if not 0 < len(data) <= MAX_PACKET_BYTES:
                    raise self.scope.refused(f"a packet has {len(data)} bytes", f"give 1 to {MAX_PACKET_BYTES}")
                if len(found) == self.most:
                    raise self.scope.refused(f"expands to more than {self.most} packets", "write fewer packets")
                found.append(data)
        if not found:
            raise self.scope.refused("expands to no packet")
        return found

    def _flat(self, value: object) -> Iterator[object]:
        """The members of lists in lists; empty ones are counted too."""
        left, most = [value], PARTS_A_PACKET * self.most
        for seen in itertools.count():
            if not left:
                return
            if seen + len(left) > most:
                raise self.scope.refused(f"has more than {most} parts", "write fewer packets")
            one = left.pop()
            if isinstance(one, list | tuple):
                left.extend(reversed(one))
            else:
                yield one

    def value(self, node: ast.expr) -> object:
        """Meaning of a part: a value, a packet, or a list of them."""
        match node:
            case ast.Constant(value=int() | str() | bytes() | None as value):
                return value
            case ast.BinOp(op=ast.Div()):
                return self._joined(node)
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                return self._repeated(self.value(left), self.value(right))
            case ast.UnaryOp(op=ast.USub(), operand=operand) if isinstance(value := self.value(operand), int):
                return -value
            case ast.List(elts=parts):
                return [self.value(part) for part in parts]
            case ast.Tuple(elts=parts):
                return tuple(self.value(part) for part in parts)
            case ast.Attribute(value=ast.Name(id=name), attr=field):
                return self._of_host(name, field)
            case ast.Call(func=ast.Name(id=name)):
                return self._of_port(node, name) if name in ("port", "mac") else self._layer(node, name)
            case ast.Name(id=name):
                raise self.scope.refused(
                    f"{name!r} is not a layer or a value here", f"write {name}() for a layer; {NAMES}"
                )
            case _:
                written = ast.unparse(node)[:60]
                raise self.scope.refused(f"{written!r} is not allowed in a packet expression")

    def _joined(self, node: ast.expr) -> object:
        """Layers from left to right; a long chain leans to the left, so it is not followed by recursion."""
        from scapy.packet import Packet, Raw

        parts: list[ast.expr] = []
        while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            parts.append(node.right)
            node = node.left
        layers = [self.value(part) for part in [node, *reversed(parts)]]
        if sum(_depth(layer) for layer in layers) > MAX_LAYERS:
            raise self.scope.refused(f"a packet has more than {MAX_LAYERS} layers", "replace the inner layers by Raw")
        packet, *rest = layers
        for layer in rest:
            inner = (
                Raw(layer.encode() if isinstance(layer, str) else layer) if isinstance(layer, str | bytes) else layer
            )
            if not isinstance(packet, Packet) or not isinstance(inner, Packet):
                raise self.scope.refused("/ combines the layers of one packet", "write a list of packets: [a/b, c/d]")
            packet = packet / inner
        return packet

    def _repeated(self, left: object, right: object) -> object:
        count, what = (left, right) if isinstance(left, int) else (right, left)
        if not isinstance(count, int) or isinstance(count, bool) or isinstance(what, int | None):
            raise self.scope.refused("* needs a number and a text, bytes or a packet")
        size = max(1, len(what)) if isinstance(what, str | bytes | list | tuple) else 1
        bound = MAX_PACKET_BYTES if isinstance(what, str | bytes) else self.most
        if not 0 <= count * size <= bound:
            raise self.scope.refused(f"* {count} makes more than {bound} bytes or packets", "use a smaller factor")
        return what * count if isinstance(what, str | bytes | list | tuple) else [what] * count

    def _of_host(self, name: str, field: str) -> str:
        if field not in ADDRESSES:
            raise self.scope.refused(f"a host has no {field!r}", NAMES)
        number = self.scope.names.host(name, field, self.scope.place)
        return {"ipv4": format_ipv4, "ipv6": format_ipv6}.get(field, format_mac)(number)

    def _of_port(self, node: ast.Call, kind: str) -> int | str:
        words = [one.id if isinstance(one, ast.Name) else getattr(one, "value", None) for one in node.args]
        if node.keywords or len(words) != 2 or not all(isinstance(word, str) for word in words):
            raise self.scope.refused(f"{kind} needs a switch and a neighbour", NAMES)
        number = self.scope.names.of_port(kind, str(words[0]), str(words[1]), self.scope.place)
        return number if kind == "port" else format_mac(number)

    def _layer(self, node: ast.Call, name: str) -> Packet:
        layer = self._layer_class(name)
        given: dict[str, Any] = {}
        if node.args and name in ("Raw", "Padding") and len(node.args) == 1:
            given["load"] = self.value(node.args[0])
        elif node.args:
            raise self.scope.refused(f"{name} accepts only named values", f"write {name}(FIELD=VALUE)")
        for keyword in node.keywords:
            if keyword.arg is None or keyword.arg in given:
                raise self.scope.refused(f"{name} accepts each value once, by name", f"write {name}(FIELD=VALUE)")
            given[keyword.arg] = self.value(keyword.value)
        fields = {field.name: field for field in layer.fields_desc}
        for field, value in given.items():
            if field not in fields:
                raise self.scope.refused(f"{name} has no field {field!r}", f"fields: {', '.join(fields)}")
            given[field] = self._field_value(f"{name}.{field}", fields[field], value)
        return layer(**given)

    def _layer_class(self, name: str) -> type[Packet]:
        own = self.scope.headers() if name not in LAYERS else {}
        if name in own:
            return _layer_of_header(name, own[name])
        if name not in LAYERS:
            known = ", ".join([*LAYERS, *own])
            raise self.scope.refused(f"unknown layer {name!r}", f"layers: {known}")
        # Scapy warns of what a machine has and of what is odd in packets; both are of no concern here.
        logging.getLogger("scapy.runtime").setLevel(logging.CRITICAL)
        return getattr(importlib.import_module(LAYERS[name]), name)

    def _field_value(self, place: str, field: AnyField, value: object) -> object:
        """A value for scapy, without look-ups on the machine and without truncation; raises UserError."""
        kinds = list(_kinds(field))
        if not field.islist and isinstance(value, list | tuple):
            return type(value)(self._field_value(place, field, one) for one in value)
        if isinstance(value, str):
            return self._text(place, kinds, value)
        if isinstance(value, int):
            if self._is_address(kinds):
                raise self.scope.refused(
                    f"{place}: {value} is not an address", "write it as text, or as HOST.ipv4 or HOST.mac"
                )
            width = _bits(kinds)
            if width is not None and not 0 <= value < 1 << width:
                raise self.scope.refused(f"{place}: {value} does not fit in {width} bits")
        return value

    def _is_address(self, kinds: list[AnyField]) -> bool:
        from scapy.fields import IP6Field, IPField, MACField

        return any(isinstance(kind, IPField | IP6Field | MACField) for kind in kinds)

    def _text(self, place: str, kinds: list[AnyField], value: str) -> str | int:
        from scapy.fields import BitField, FlagsField, IP6Field, IPField, MACField

        if any(isinstance(kind, IPField | IP6Field) for kind in kinds):
            try:
                ipaddress.ip_network(value, strict=False)
            except ValueError:
                raise self.scope.refused(f"{place}: {value[:60]!r} is not an IP address") from None
        elif any(isinstance(kind, MACField) for kind in kinds) and _MAC.match(value) is None:
            raise self.scope.refused(
                f"{place}: {value[:60]!r} is not a MAC address", "write 02:00:00:00:00:01 or HOST.mac"
            )
        elif any(isinstance(kind, FlagsField) for kind in kinds):
            return value
        elif any(hasattr(kind, "i2s") for kind in kinds):
            raise self.scope.refused(
                f"{place}: the meaning of {value[:60]!r} depends on the machine", "give its number"
            )
        elif any(isinstance(kind, BitField) for kind in kinds):
            return self._number(place, kinds, value)
        return value

    def _number(self, place: str, kinds: list[AnyField], value: str) -> int:
        """An address in a field of a header type's."""
        if _MAC.match(value) is not None:
            number = int(value.replace(":", ""), 16)
        else:
            try:
                number = int(ipaddress.ip_address(value))
            except ValueError:
                raise self.scope.refused(f"{place}: {value[:60]!r} is not a number or an address") from None
        width = _bits(kinds)
        if width is not None and number >= 1 << width:
            raise self.scope.refused(f"{place}: {value} does not fit in {width} bits")
        return number


def _depth(value: object) -> int:
    """Layers of a packet."""
    from scapy.packet import NoPayload, Packet

    depth = 0
    while isinstance(value, Packet) and not isinstance(value, NoPayload):
        depth, value = depth + 1, value.payload
    return max(1, depth)


def _complete(packet: Packet, scope: Scope) -> None:
    """Fills fields that scapy would take from the machine; raises UserError for those it would draw at random."""
    from scapy.packet import NoPayload
    from scapy.volatile import VolatileValue

    layer = packet
    while not isinstance(layer, NoPayload):
        name = type(layer).__name__
        for field in layer.fields_desc:
            key = (name, field.name)
            if field.name in layer.fields:
                continue
            if key in _NEEDED:
                raise scope.refused(f"{name} needs {field.name}", f"write {name}({field.name}=h2.ipv4), or an address")
            if key in _OF_SENDER:
                number = scope.names.host("self", _OF_SENDER[key], scope.place)
                text = format_ipv4(number) if _OF_SENDER[key] == "ipv4" else format_mac(number)
                setattr(layer, field.name, text)
            elif isinstance(layer.default_fields.get(field.name), VolatileValue):
                raise scope.refused(
                    f"{name}.{field.name} would be random without a value", f"write {name}({field.name}=NUMBER)"
                )
        layer = layer.payload


def _kinds(field: AnyField) -> Iterator[AnyField]:
    """A field and those that it may mean."""
    yield field
    for inner, *_ in getattr(field, "flds", ()):
        yield from _kinds(inner)
    for name in ("fld", "dflt"):
        inner = getattr(field, name, None)
        if inner is not None and inner is not field:
            yield from _kinds(inner)


def _bits(kinds: list[AnyField]) -> int | None:
    """Width of an unsigned number in a field; None if it is not a plain number."""
    from scapy.fields import BitField

    for kind in kinds:
        if isinstance(kind, BitField):
            return abs(kind.size)
        if getattr(kind, "fmt", "")[-1:] in tuple("BHIQ"):
            return 8 * struct.calcsize(kind.fmt)
    return None


@lru_cache(maxsize=256)
def _layer_of_header(name: str, fields: tuple[HeaderField, ...]) -> type[Packet]:
    """A scapy layer of a header type; raises ValueError for one that does not end at a byte."""
    from scapy.fields import BitField, StrField
    from scapy.packet import Packet

    described: list[AnyField] = []
    bits = 0
    for field in fields:
        if field.kind == "varbit":
            if bits % 8:
                raise ValueError(f"{name}.{field.name} is not byte-aligned")
            described.append(StrField(field.name, b""))
        else:
            bits += field.bits
            described.append(BitField(field.name, 0, field.bits))
    if bits % 8:
        raise ValueError(f"header {name} has {bits} bits, which is not a whole number of bytes")
    return type(name, (Packet,), {"name": name, "fields_desc": described})
