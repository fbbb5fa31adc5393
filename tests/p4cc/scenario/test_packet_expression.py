"""Packets as scapy writes them: what may stand in them gives scapy's bytes, all else an error, whatever it is."""

# Scapy has no types.
# pyright: basic

from __future__ import annotations

import socket
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scapy.layers.inet import ICMP, IP, TCP, UDP, IPOption
from scapy.layers.inet6 import ICMPv6EchoRequest, IPv6
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Raw

from p4cc.errors import UserError
from p4cc.planning import packet_expression
from p4cc.planning.names import Names
from p4cc.planning.packet_expression import Scope, packets_of
from p4cc.planning.programs import HeaderField
from topos import generate, plan_addresses

STAR = generate("star", {"senders": 3})
NAMES = Names(STAR, plan_addresses(STAR), "h1")
MAC, GATEWAY = "02:00:00:00:00:01", "02:01:00:01:00:01"
HEADERS = {
    "tag_t": (HeaderField("kind", "bit", 4), HeaderField("mac", "bit", 48), HeaderField("size", "int", 12)),
    "odd_t": (HeaderField("x", "bit", 7),),
    "text_t": (HeaderField("length", "bit", 8), HeaderField("text", "varbit", 64)),
}
MOST = 8


def made(text: str) -> list[bytes]:
    return packets_of(text, Scope(NAMES, lambda: HEADERS, "here"), MOST)


def ether(**given: Any) -> Any:
    return Ether(**{"src": MAC, "dst": GATEWAY, **given})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ether(type=0x812)", [ether(type=0x812)]),
        ("Ether()/IP(dst=h2.ipv4)/UDP(dport=7)", [ether() / IP(src="10.0.0.1", dst="10.0.0.2") / UDP(dport=7)]),
        ("Ether()/IPv6(src=h1.ipv6, dst=h2.ipv6)", [ether() / IPv6(src="fd00::a00:1", dst="fd00::a00:2")]),
        ("Ether(dst=h2.mac, src=h2.gateway_mac)", [ether(dst="02:00:00:00:00:02", src="02:01:00:01:00:02")]),
        ("Ether(dst=mac(s1, h3))/Raw(b'x'*3)", [ether(dst="02:01:00:01:00:03") / Raw(b"xxx")]),
        ("Ether()/Dot1Q(vlan=port(s1, h2))/'ab'", [ether() / Dot1Q(vlan=2) / Raw(b"ab")]),
        (
            "Ether()/IP(dst=[h2.ipv4, self.ipv4])",
            [ether() / IP(src="10.0.0.1", dst="10.0.0.2"), ether() / IP(src="10.0.0.1", dst="10.0.0.1")],
        ),
        ("[Raw('a')*2, Raw('b')]", [Raw(b"a"), Raw(b"a"), Raw(b"b")]),
        (
            'Ether()/IP(dst="1.2.3.4", options=[IPOption(option=31, value=b"\\0\\1")])/TCP(flags="SA", sport=(5, 6))',
            [
                ether()
                / IP(src="10.0.0.1", dst="1.2.3.4", options=[IPOption(option=31, value=b"\0\1")])
                / TCP(flags="SA", sport=port)
                for port in (5, 6)
            ],
        ),
        ("Ether()/ARP(op=1, pdst=h2.ipv4)", [ether() / ARP(op=1, hwsrc=MAC, psrc="10.0.0.1", pdst="10.0.0.2")]),
        (
            'Ether()/IPv6(src="fd00::1", dst="fd00::2")/ICMPv6EchoRequest(seq=3)',
            [ether() / IPv6(src="fd00::1", dst="fd00::2") / ICMPv6EchoRequest(seq=3)],
        ),
        ("IP(dst=h2.ipv4)/ICMP(id=1)", [IP(src="10.0.0.1", dst="10.0.0.2") / ICMP(id=1)]),
        ("tag_t(kind=0xf, mac=h2.mac, size=0xabc)", [bytes.fromhex("f020000000002abc")]),
        ('tag_t(mac="0.0.1.1")/text_t(length=2, text=b"hi")', [bytes.fromhex("0000000000101000") + b"\2hi"]),
    ],
)
def test_an_expression_gives_the_bytes_of_scapy(text: str, expected: list[Any]) -> None:
    assert made(text) == [bytes(packet) for packet in expected]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not a packet"),
        ("Ether(", "is not a packet"),
        ("(" * 300, "is not a packet"),
        ("1", "1 is not a packet"),
        ("'text'", "is not a packet"),
        ("[]", "expands to no packet"),
        ("Ether", "'Ether' is not a layer or a value here"),
        ("Ethernet()", "unknown layer 'Ethernet'"),
        ("Ether(destination=1)", "Ether has no field 'destination'"),
        ("Ether(h2.mac)", "Ether accepts only named values"),
        ("Ether(**{})", "Ether accepts each value once, by name"),
        ("Ether(dst=h7.mac)", "there is no host 'h7'"),
        ("Ether(dst=h2.name)", "a host has no 'name'"),
        ("Ether(dst='h2')", "'h2' is not a MAC address"),
        ("IP(dst='example.com')", "'example.com' is not an IP address"),
        ("IP(dst=['10.0.0.1', 'example.com'])", "'example.com' is not an IP address"),
        ("ICMP(gw='localhost', type=5)", "'localhost' is not an IP address"),
        ("IP()", "IP needs dst"),
        ("Ether()/IPv6(dst='::1')", "IPv6 needs src"),
        ("IP(dst=h2.ipv4)/TCP(dport='http')", "depends on the machine"),
        ("IP(dst=h2.ipv4, ttl=256)", "IP.ttl: 256 does not fit in 8 bits"),
        ("IP(dst=h2.ipv4, version=-1)", "IP.version: -1 does not fit in 4 bits"),
        ("IP(dst=h2.ipv4, ttl=2.5)", "'2.5' is not allowed in a packet expression"),
        ("IP(dst=5)", "IP.dst: 5 is not an address"),
        ("tag_t(kind=16)", "tag_t.kind: 16 does not fit in 4 bits"),
        ("tag_t(kind='x')", "'x' is not a number or an address"),
        ("tag_t(kind='1.2.3.4')", "does not fit in 4 bits"),
        ("odd_t()", "header odd_t has 7 bits"),
        ("Dot1Q(vlan=port(s1))", "port needs a switch and a neighbour"),
        ("Dot1Q(vlan=port(s1, h9))", "h9"),
        ("Raw('a')/5", "/ combines the layers of one packet"),
        ("5/Raw('a')", "/ combines the layers of one packet"),
        ("[Raw('a')]/Raw('b')", "/ combines the layers of one packet"),
        ("Raw('a')*9", "* 9 makes more than 8"),
        ("Raw('a')*-1", "* -1 makes more than 8"),
        ("Raw('a'*65536)", "makes more than 65535 bytes"),
        ("Raw('a'*65535)/Raw('b')", "a packet has 65536 bytes"),
        ("[[[]]*2]*8", "expands to no packet"),
        ("[[[[[[[]*0]*8]*8]*8]*8]*8]*8", "more than 40 parts"),
        ("3*4", "* needs a number and a text, bytes or a packet"),
        ("Raw(load=('a'*65535)*65535)", "makes more than 65535 bytes"),
        ("IP(dst='10.0.0.0/8')", "expands to more than 8 packets"),
        ("IP(dst=h2.ipv4, ttl=(0, 255), id=(0, 65535))", "expands to more than 8 packets"),
        ("/".join(["Raw('a')"] * 65), "more than 64 layers"),
        ("/".join(["Raw('a')"] * 4000), "is not a packet"),
        ("[" + ",".join(["1"] * 25_000) + "]", "more than 20000 parts"),
        ("Raw(load=__import__('os').system('true'))", "is not allowed in a packet expression"),
        ("__import__('os')", "unknown layer '__import__'"),
        ("Raw(load=(lambda: 1)())", "is not allowed in a packet expression"),
        ("Raw(load=[x for x in (1, 2)])", "is not allowed in a packet expression"),
        ("Ether().__class__", "is not allowed in a packet expression"),
        ("Ether().show()", "is not allowed in a packet expression"),
        ("Raw(load=f'{1}')", "is not allowed in a packet expression"),
        ("Raw(load=10**100)", "is not allowed in a packet expression"),
    ],
)
def test_all_else_is_an_error(text: str, said: str) -> None:
    with pytest.raises(UserError) as raised:
        made(text)
    assert said in str(raised.value)
    assert str(raised.value).startswith("here: ")
    assert raised.value.remedy


def test_nothing_is_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: object) -> Any:
        raise AssertionError("a name was looked up")

    for name in ("getaddrinfo", "gethostbyname", "socket"):
        monkeypatch.setattr(socket, name, forbidden)
    for layer in packet_expression.LAYERS:
        needed = {"IP": "dst='1.2.3.4'", "IPv6": "src='::1', dst='::2'"}.get(layer, "")
        assert len(made(f"{layer}({needed})/Raw('x')")) == 1


_NAMES = st.sampled_from([*packet_expression.LAYERS, "tag_t", "text_t", "odd_t", "nothing"])
_FIELDS = st.sampled_from(
    [
        "src",
        "dst",
        "type",
        "ttl",
        "len",
        "chksum",
        "options",
        "flags",
        "dport",
        "load",
        "kind",
        "mac",
        "text",
        "op",
        "psrc",
    ]
)
_VALUES = st.recursive(
    st.one_of(
        st.integers(-(2**70), 2**70).map(repr),
        st.text(max_size=8).map(repr),
        st.binary(max_size=8).map(repr),
        st.sampled_from(["h2.ipv4", "h2.mac", "self.gateway_mac", "port(s1, h2)", "mac(s1, h1)", "None", "IPOption()"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda parts: "[" + ", ".join(parts) + "]"),
        st.tuples(inner, inner).map(lambda parts: f"({parts[0]}, {parts[1]})"),
        st.tuples(inner, st.integers(-2, 3)).map(lambda parts: f"{parts[0]} * {parts[1]}"),
    ),
    max_leaves=4,
)
_LAYERS = st.tuples(_NAMES, st.dictionaries(_FIELDS, _VALUES, max_size=2)).map(
    lambda one: f"{one[0]}({', '.join(f'{key}={value}' for key, value in one[1].items())})"
)


@settings(max_examples=300)
@given(st.lists(_LAYERS, min_size=1, max_size=4).map("/".join) | st.text(max_size=60))
def test_any_text_is_packets_or_an_error(text: str) -> None:
    try:
        found = made(text)
    except UserError as error:
        assert error.remedy  # noqa: PT017 - either outcome is right
    else:
        assert 0 < len(found) <= MOST
        assert made(text) == found, "the same again"
