"""Packets of the user's own, end to end: probes that read switches, captures that are sent again, what hosts keep."""

# Scapy has no types.
# pyright: basic

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Raw
from scapy.utils import wrpcap

from p4cc.errors import UserError
from tests.p4cc.scenarios import Ran, run, scenario

PROGRAM = Path(__file__).parents[1] / "files" / "probe.p4"
LEAVES: dict[str, Any] = {"kind": "leaf_spine", "leaves": 2, "spines": 2, "hosts_per_leaf": 2}
"""h1 and h2 at leaf1, h3 and h4 at leaf2; every link 10 Gbit/s."""
SWITCHES = ("leaf1", "leaf2", "spine1", "spine2")
THERE_AND_BACK = ("leaf1", "spine1", "leaf2", "spine1", "leaf1", "h1")
PERIOD_NS = 200_000
"""In which the load sends 50 packets."""
PROBE = f"Ether(type=0x88b5)/probe_t(ways={len(THERE_AND_BACK) - 1})/" + "/".join(
    f"way_t(port=port({here}, {there}))" for here, there in itertools.pairwise(THERE_AND_BACK)
)
PROBES: dict[str, Any] = {"kind": "packets", "name": "probes", "sources": "h1", "scapy": PROBE, "period_ns": PERIOD_NS}
LOAD_BPS = 2_000_000_000
LOAD: dict[str, Any] = {
    "kind": "packets",
    "name": "load",
    "sources": "h2",
    "scapy": 'Ether()/IP(dst=h3.ipv4)/UDP(sport=9, dport=9)/Raw("x" * 958)',
    "rate_bps": LOAD_BPS,
}
FLOW: dict[str, Any] = {"kind": "bulk", "sources": "h3", "destinations": "h4"}
SENT = {"hosts": ["h1"], "snap_bytes": 256}


def own(*traffic: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A scenario of the program that answers probes, with its switches numbered."""
    identities = [
        {"switch": name, "table": "identity", "action": "set_id", "params": {"id": number}, "default": True}
        for number, name in enumerate(SWITCHES, 1)
    ]
    record = {"windows_interval_ns": None, "queues_interval_ns": None, "packets_received": SENT}
    return scenario(
        **{
            "topology": LEAVES,
            "switch": {"program": str(PROGRAM), "entries": identities},
            "traffic": list(traffic),
            "stop_ns": 1_000_000,
            "record": record,
            **changes,
        }
    )


def records(data: str) -> list[tuple[int, int, float]]:
    """Switch, port and Mbit/s of each record that a probe brought back, the last switch first."""
    packet = bytes.fromhex(data)
    count, found = packet[14], []
    for at in range(16, 16 + 18 * count, 18):
        number = [int.from_bytes(packet[at + a : at + b]) for a, b in ((0, 1), (1, 2), (2, 6), (6, 12), (12, 18))]
        found.append((number[0], number[1], 8 * number[2] / (number[4] - number[3])))
    return found


@pytest.fixture(scope="module")
def probed(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Probes beside a load of 2 Gbit/s, and a flow."""
    return run(tmp_path_factory.mktemp("probed"), own(PROBES, LOAD, FLOW))


def test_probes_read_how_busy_ports_are(probed: Ran) -> None:
    received = probed.table("packets_received")
    assert set(received["host"]) == {"h1"}
    assert set(received["cause"]) == {"protocol"}
    # Ethernet, two counts, five records, no way left.
    assert set(received["length_bytes"]) == {14 + 2 + 5 * 18}
    rates = {(switch, port): rate for switch, port, rate in records(received["bytes"][-1])}
    numbers = {name: number for number, name in enumerate(SWITCHES, 1)}
    # From h2 to h3 over the lowest of equal paths: leaf1 (port 3) and spine1 (port 2) to leaf2.
    busy = [rates[numbers["leaf1"], 3], rates[numbers["spine1"], 2]]
    for rate in busy:
        assert abs(rate / (LOAD_BPS / 1e6) - 1) < 0.01, busy
    assert rates[numbers["leaf2"], 3] < 100, "only ACKs and probes come back"


def test_what_was_sent_and_counted_is_told(probed: Ran) -> None:
    sent = {row["class"]: row for row in probed.table("packets_sent").iter_rows(named=True)}
    ended_ns = probed.runs[0]["end_ns"]
    assert sent["probes"]["host"] == "h1"
    assert sent["probes"]["sent_pkts"] == ended_ns // PERIOD_NS
    assert sent["load"]["sent_bytes"] == sent["load"]["sent_pkts"] * 1_000
    hosts = {row["host"]: row for row in probed.table("hosts").iter_rows(named=True)}
    assert hosts["h1"]["refused_malformed_pkts"] == probed.table("packets_received").height
    assert hosts["h4"]["delivered_pkts"] > 0


def test_threads_change_no_byte(tmp_path: Path, probed: Ran) -> None:
    again = run(tmp_path, own(PROBES, LOAD, FLOW), threads=2, use_cache=False)
    assert again.bytes() == probed.bytes()


def test_what_uses_none_of_it_leaves_no_table(tmp_path: Path) -> None:
    files = set(run(tmp_path, scenario()).bytes())
    assert not files & {"packets_sent.parquet", "packets_received.parquet", "hosts.parquet"}


def test_packets_are_sent_in_turn(tmp_path: Path) -> None:
    item = {"kind": "packets", "sources": ["h1", "h4"], "hex": ["aa" * 20, "bb" * 30], "count": 5, "period_ns": 1_000}
    ran = run(tmp_path, own(item, record={"packets_received": {}}))
    sent = ran.table("packets_sent").select("host", "sent_pkts", "sent_bytes").rows()
    assert sent == [("h1", 5, 3 * 20 + 2 * 30), ("h4", 5, 3 * 20 + 2 * 30)]


def capture(folder: Path) -> Path:
    """Three packets of two machines, 100 us and 300 us apart."""
    here, there = {"src": "192.168.1.7", "dst": "192.168.1.9"}, {"src": "192.168.1.9", "dst": "192.168.1.7"}
    packets = [
        Ether() / IP(**here) / UDP(sport=1, dport=2) / Raw(b"first"),
        Ether() / Dot1Q(vlan=3) / IP(**here) / TCP(sport=1, dport=2, flags="S"),
        Ether() / IP(**there) / UDP(sport=2, dport=1, chksum=0) / Raw(b"third"),
    ]
    for packet, at_us in zip(packets, (0, 100, 400), strict=True):
        packet.time = 1_700_000_000 + at_us / 1e6
    path = folder / "capture.pcap"
    wrpcap(str(path), packets, nano=True)
    return path


@pytest.mark.parametrize(("speed", "times_ns"), [(1.0, [0, 400_000]), (4.0, [0, 100_000])])
def test_a_capture_is_sent_with_its_own_timing(tmp_path: Path, speed: float, times_ns: list[int]) -> None:
    item = {
        "kind": "replay",
        "source": "h1",
        "pcap": capture(tmp_path).name,
        "speed": speed,
        "addresses": {"192.168.1.7": "h2", "192.168.1.9": "h3"},
        "start_ns": 10_000,
    }
    ran = run(tmp_path, own(item, record={"packets_received": {}}))
    received = ran.table("packets_received")
    # The packet with a VLAN tag is none that the program routes.
    assert received["host"].to_list() == ["h3", "h2"]
    first, last = received["time_ns"].to_list()
    # h2 is one link from h1, h3 three.
    assert abs((last - first) - (times_ns[1] - times_ns[0])) < 10_000
    assert ran.table("packets_sent")["sent_pkts"].to_list() == [3]
    for data, (src, dst), checksum in zip(
        received["bytes"], (("10.0.0.2", "10.0.0.3"), ("10.0.0.3", "10.0.0.2")), (None, 0), strict=True
    ):
        got = Ether(bytes.fromhex(data))
        assert (got[IP].src, got[IP].dst) == (src, dst)
        wanted = got.copy()
        del wanted[IP].chksum
        if checksum is None:
            del wanted[UDP].chksum
        assert bytes(wanted) == bytes(got), "the checksums are right"


def test_a_run_keeps_its_capture_and_repeats(tmp_path: Path) -> None:
    from p4cc.running.request import RunRequest
    from p4cc.running.rerun import rerun

    item = {"kind": "packets", "sources": "h1", "pcap": capture(tmp_path).name, "rate_bps": 1_000_000_000}
    ran = run(tmp_path, own(item))
    (tmp_path / "capture.pcap").unlink()
    again = rerun(ran.outcome.folder, RunRequest(scenario=Path(), quiet=True, use_cache=False))
    assert again.differing == ()


@pytest.mark.parametrize(
    ("item", "said"),
    [
        ({"hex": "00", "count": 2}, "count: 2 packets from 1 would all be sent at once"),
        ({"hex": "0"}, "hex[0]: non-hexadecimal"),
        ({"hex": "00 " * 65_536}, "hex[0]: a packet has 65536 bytes"),
        ({"hex": "00", "sources": "h9"}, "sources: no host matches 'h9'"),
        ({"scapy": "Ether()/nothing_t()"}, "scapy[0]: unknown layer 'nothing_t'"),
        ({"pcap": "none.pcap"}, "traffic[0].pcap: no capture 'none.pcap'"),
        (
            {"kind": "replay", "source": "h1", "pcap": "capture.pcap", "addresses": {"h2": "h3"}},
            "is not an IPv4 address",
        ),
        (
            {"kind": "replay", "source": "h1", "pcap": "capture.pcap", "addresses": {"10.9.9.9": "x"}},
            "there is no host 'x'",
        ),
        ({"kind": "replay", "source": "s1", "pcap": "capture.pcap"}, "source: no host matches 's1'"),
        ({"kind": "replay", "source": "h1", "pcap": "mine.yaml"}, "is not a pcap or pcapng file"),
    ],
)
def test_a_mistake_has_place_and_remedy(tmp_path: Path, item: dict[str, Any], said: str) -> None:
    capture(tmp_path)
    (tmp_path / "mine.yaml").write_text("a: 1\n", encoding="utf-8")
    plain = item if "kind" in item else {"kind": "packets", "sources": "h1", **item}
    with pytest.raises(UserError) as raised:
        run(tmp_path, own(plain))
    assert said in str(raised.value)
    assert raised.value.remedy


def test_the_description_is_plain(probed: Ran) -> None:
    told = json.loads((probed.outcome.folder / "run.json").read_text(encoding="utf-8"))
    assert [item["kind"] for item in told["scenario"]["traffic"]] == ["packets", "packets", "bulk"]
