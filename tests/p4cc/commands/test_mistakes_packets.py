"""Mistakes with packets and headers of one's own; the table of test_mistakes.py goes on here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.p4cc.commands.test_mistakes import RUN, Mistake, ends_as_said

if TYPE_CHECKING:
    from pathlib import Path


def packets(**given: Any) -> dict[str, Any]:
    """A scenario's traffic: packets of h1's own."""
    return {"traffic": [{"kind": "packets", "sources": "h1", **given}]}


MISTAKES = (
    Mistake("packets of nothing", RUN, ("$.traffic[0]", "exactly one of hex, scapy and pcap"), changes=packets()),
    Mistake(
        "packets of two kinds",
        RUN,
        ("$.traffic[0]", "exactly one of hex, scapy and pcap"),
        changes=packets(hex="00", pcap="x.pcap"),
    ),
    Mistake(
        "a period and a rate",
        RUN,
        ("$.traffic[0]", "give either period_ns or rate_bps"),
        changes=packets(hex="00", period_ns=5, rate_bps=5),
    ),
    Mistake(
        "packets that end before they begin",
        RUN,
        ("$.traffic[0]", "end_ns 5 is not later than start_ns 9"),
        changes=packets(hex="00", start_ns=9, end_ns=5),
    ),
    Mistake("packets with a deadline", RUN, ("deadline: unknown key",), changes=packets(hex="00", deadline={})),
    Mistake(
        "no digits", RUN, ("mine.yaml at traffic[0].hex[0]", "remedy: write two hexadecimal"), changes=packets(hex="xy")
    ),
    Mistake("no such sender", RUN, ("no host matches 'h77'", "hosts: h1"), changes=packets(hex="00", sources="h77")),
    Mistake(
        "no packet",
        RUN,
        ("traffic[0].scapy[0]: is not a packet", "Ether()/IP(dst=h2.ipv4)"),
        changes=packets(scapy="IP("),
    ),
    Mistake(
        "code for a packet",
        RUN,
        ("traffic[0].scapy[0]", "is not allowed in a packet expression"),
        changes=packets(scapy="__import__('os').getcwd()"),
    ),
    Mistake(
        "a header that the program lacks",
        RUN,
        ("unknown layer 'probe_t'", "remedy: layers: Ether", "ipv4_h"),
        changes=packets(scapy="Ether()/probe_t()"),
    ),
    Mistake(
        "text for a capture",
        RUN,
        ("notes.md: is not a pcap or pcapng file", "remedy"),
        changes={"traffic": {"kind": "replay", "source": "h1", "pcap": "notes.md"}},
        files={"notes.md": "mine"},
    ),
    Mistake(
        "a capture that stands still",
        RUN,
        ("$.traffic.speed", "greater than 0"),
        changes={"traffic": {"kind": "replay", "source": "h1", "pcap": "notes.md", "speed": 0}},
    ),
    Mistake(
        "a header that no program has",
        RUN,
        ("mine.yaml at transport.headers[0].type", "no header type 'mri_t'", "remedy: header types: ethernet_h"),
        changes={"transport": {"headers": [{"type": "mri_t", "after": "udp", "announce": {"udp_port": 9}}]}},
    ),
    Mistake(
        "a header that nothing announces",
        RUN,
        ("$.transport.headers[0].announce", "remedy: give protocol, or ihl: true"),
        changes={"transport": {"headers": [{"type": "mri_t", "after": "ipv4"}]}},
    ),
    Mistake(
        "fields of no headers",
        RUN,
        (
            "$.record.headers: the scenario records headers, but packets carry none",
            "remedy: define them in transport.headers",
        ),
        changes={"record": {"headers": {}}},
    ),
    Mistake(
        "packets of no kind",
        (*RUN, "--set", "transport.packets=quic"),
        ("--set transport.packets=quic", "'udp' or 'tcp'"),
    ),
    Mistake("an IP of no version", (*RUN, "--set", "transport.ip=5"), ("--set transport.ip=5", "4 or 6")),
    Mistake(
        "IPv6 through a program of IPv4",
        (*RUN, "--set", "transport.ip=6"),
        ("transport.ip: routes go to ingress.forward.ipv4_lpm, whose key has 32", "use a program that routes IPv6"),
    ),
    Mistake(
        "paced senders over TCP",
        RUN,
        ("mine.yaml", "$.transport", "paced senders use p4cc's header", "remove packets"),
        changes={"transport": {"kind": "rdma", "packets": "tcp"}},
    ),
    Mistake(
        "headers of a program in TCP",
        RUN,
        ("$.transport.headers: TCP and IPv6 packets cannot carry", "remedy: remove the headers, or use"),
        changes={
            "transport": {
                "packets": "tcp",
                "headers": [{"type": "mri_t", "after": "ipv4", "announce": {"protocol": 9}}],
            }
        },
    ),
    Mistake(
        "recording at nobody",
        RUN,
        ("record.packets_received.hosts", "no host matches 'x'"),
        changes={"record": {"packets_received": {"hosts": "x"}}},
    ),
    Mistake(
        "recording too much",
        RUN,
        ("record.packets_received.max_packets", "5 hosts may keep", "remedy: keep fewer"),
        changes={"record": {"packets_received": {"snap_bytes": 65_535, "max_packets": 1_000_000}}},
    ),
)


@pytest.mark.parametrize("mistake", MISTAKES, ids=[mistake.name for mistake in MISTAKES])
def test_mistakes_of_packets(tmp_path: Path, mistake: Mistake) -> None:
    ends_as_said(tmp_path, mistake)
