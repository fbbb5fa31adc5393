"""The adapter to Debian's Mininet: names of interfaces."""

from __future__ import annotations

from itertools import pairwise

from topos import mininet
from topos.lab import LabEnd, LabHost, LabLink, LabNetwork, LabSwitch


def lab(*switches: str) -> LabNetwork:
    """A host at port 1 of each switch, and the switches in a row."""
    hosts = [LabHost(f"h{at}", f"10.0.0.{at + 1}/24", f"08:00:00:00:00:{at:02x}") for at in range(len(switches))]
    links = [LabLink(LabEnd(host.name), LabEnd(name, 1)) for host, name in zip(hosts, switches, strict=True)]
    links += [LabLink(LabEnd(name, 500), LabEnd(after, 501)) for name, after in pairwise(switches)]
    nodes = [LabSwitch(name, at, 20_000 + at, 21_000 + at) for at, name in enumerate(switches)]
    return LabNetwork(tuple(hosts), tuple(nodes), tuple(links))


def test_interfaces_have_our_prefix_and_fit() -> None:
    names = mininet.interface_names(lab("s1", "aggregation-of-pod-7", "s12345"))
    assert names[LabEnd("s1", 500)] == "p4cc-s1-500"
    assert names[LabEnd("aggregation-of-pod-7", 501)] == "p4cc.1.501"
    assert all(len(name) <= mininet.MAX_INTERFACE_CHARS for name in names.values())
    assert len(set(names.values())) == len(names) == 7
